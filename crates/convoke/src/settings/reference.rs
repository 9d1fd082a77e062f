//! The reference of all settings, as `docs/settings.md` has it.

use std::fmt::Write as _;

use super::kind::Kind;
use super::table::{SECTIONS, Setting, TABLE};

const HEAD: &str = "# Settings

<!-- Generated from the table of settings; a test compares it. UPDATE_VECTORS=1 writes it anew. -->

A bus needs no settings.
Those that differ from the default stand in one TOML file: the one that `convoke up --config FILE` names, else `convoke.toml` in the data folder.
Each can also be given in the environment, under the name in the second column; lists are separated by commas there.
The environment wins over the file, and flags of `convoke up` win over both.

A name that does not exist, a value of another kind and a value out of bounds are refused at start, with the line of the file.
`convoke doctor` lists everything that is wrong with a file without starting anything.

Sizes are a number of bytes, or a number and one of `KiB`, `MiB`, `GiB`; durations are a number and one of `ms`, `s`, `m`, `h`, `d`.
Paths in the file are relative to its folder.
Secrets are never in the file: it names the files that hold them.

```toml
listen = \"127.0.0.1:7700\"

[limits]
body_bytes = \"16MiB\"
connections = 8192

[delivery]
lease = \"5m\"

[logs]
format = \"json\"
```
";

/// Writes the reference.
pub(super) fn write() -> String {
    let mut page = HEAD.to_owned();
    for (section, about) in SECTIONS {
        let title =
            if section.is_empty() { "At the top of the file".to_owned() } else { format!("`[{section}]`") };
        let rows = TABLE.iter().filter(|setting| setting.section() == *section);
        writeln!(page, "\n## {title}\n\n{about}\n\n| setting | environment | default | takes | meaning |\n|---|---|---|---|---|")
            .expect("writing to a string does not fail");
        for setting in rows {
            let Setting { key, doc, .. } = setting;
            let (variable, default, form) = (setting.variable(), shown_default(setting), setting.kind.form());
            writeln!(page, "| `{key}` | `{variable}` | {default} | {form} | {doc} |")
                .expect("writing to a string does not fail");
        }
    }
    page
}

fn shown_default(setting: &Setting) -> String {
    match &setting.kind {
        _ if setting.default.is_empty() => "none".to_owned(),
        Kind::Flag(_) | Kind::Count { .. } => format!("`{}`", setting.default),
        Kind::Bytes { .. }
        | Kind::Span { .. }
        | Kind::Text { .. }
        | Kind::Texts { .. }
        | Kind::Paths { .. }
        | Kind::Path(_) => {
            format!("`\"{}\"`", setting.default)
        }
    }
}
