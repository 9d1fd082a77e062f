//! `convoke service`: a unit for systemd, so that the bus of a user is there whenever he is.

use std::path::Path;

use crate::cli::server::ServiceArgs;
use crate::data;
use crate::failure::{Answer, Failure};
use crate::output::Output;

pub(crate) fn run(args: &ServiceArgs) -> Result<Answer, Failure> {
    let program = std::env::current_exe().map_err(|error| {
        Failure::wrong_use(format!("where is this program? {}", crate::failure::reason(&error)))
    })?;
    let absolute = |path: &Path| {
        std::path::absolute(path).map_err(|error| Failure::unreadable(&path.display().to_string(), &error))
    };
    let data = absolute(&data::folder(args.data.clone())?)?;
    let config = args.config.as_deref().map(absolute).transpose()?;
    let mut output = Output::new();
    output.text(&unit(&program, &data, config.as_deref())?)?;
    output.flush()?;
    eprintln!(
        "hint: put this into ~/.config/systemd/user/convoke.service, then\n\
         hint:   systemctl --user daemon-reload && systemctl --user enable --now convoke\n\
         hint:   loginctl enable-linger    (to keep it running when you are logged out)"
    );
    Ok(Answer::Yes)
}

fn unit(program: &Path, data: &Path, config: Option<&Path>) -> Result<String, Failure> {
    let mut command = format!("{} up --data {}", word(program)?, word(data)?);
    if let Some(config) = config {
        command = format!("{command} --config {}", word(config)?);
    }
    Ok(format!(
        "[Unit]
Description=Convoke, one bus for AI agents

[Service]
ExecStart={command}
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
RestartSec=1
TimeoutStopSec=90
LimitNOFILE=65536
UMask=0077
NoNewPrivileges=yes
RestrictSUIDSGID=yes
LockPersonality=yes

[Install]
WantedBy=default.target
"
    ))
}

/// Writes a path as one word of a unit: quoted, and without what systemd would replace.
fn word(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().filter(|text| !text.chars().any(char::is_control));
    let text =
        text.ok_or_else(|| Failure::wrong_use(format!("{} cannot stand in a unit", path.display())))?;
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    Ok(if escaped.contains([' ', '"', '\'', '\\']) { format!("\"{escaped}\"") } else { escaped })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_paths_are_one_word() {
        let cases = [
            ("/usr/bin/convoke", "/usr/bin/convoke"),
            ("/my folder/50%", "\"/my folder/50%%\""),
            ("/a\"b\\c$d", "\"/a\\\"b\\\\c$$d\""),
        ];
        for (path, wanted) in cases {
            assert_eq!(word(Path::new(path)).unwrap(), wanted);
        }
        assert!(word(Path::new("/a\nExecStart=/bin/evil")).is_err());
    }
}
