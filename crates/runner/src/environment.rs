//! What a command finds in its environment: what is named, and nothing else; and what of it must never be printed.

use std::ffi::{OsStr, OsString};

/// Variables that every command gets.
const ALWAYS: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];
/// Words in the names of variables that hold something secret.
const SECRET_WORDS: &[&str] = &["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];
/// Bytes that something secret has at least; less could be any word.
const SECRET_BYTES_MIN: usize = 8;
const MASK: &str = "[hidden]";

/// The environment of a command.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: Vec<(OsString, OsString)>,
}

/// What must not be printed.
#[derive(Clone, Default)]
pub struct Secrets {
    values: Vec<String>,
}

impl Environment {
    /// Takes what every command gets, and the named ones, from the variables of this process.
    pub fn choose(named: &[&str], variables: impl Iterator<Item = (OsString, OsString)>) -> Self {
        let is_chosen = |name: &OsStr| {
            name.to_str().is_some_and(|name| {
                ALWAYS.contains(&name) || name.starts_with("LC_") || named.contains(&name)
            })
        };
        let mut chosen = Environment { variables: variables.filter(|(name, _)| is_chosen(name)).collect() };
        chosen.set("NO_COLOR", "1");
        chosen.set("TERM", "dumb");
        chosen
    }

    /// Adds a variable, in place of one of the same name.
    pub fn set(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) {
        let name = name.into();
        self.variables.retain(|(there, _)| *there != name);
        self.variables.push((name, value.into()));
    }

    /// Returns the variables.
    pub fn variables(&self) -> &[(OsString, OsString)] {
        &self.variables
    }

    /// Returns the values that look secret by the names of their variables.
    pub fn secrets(&self) -> Secrets {
        let is_secret = |name: &OsStr| {
            let name = name.to_string_lossy().to_uppercase();
            SECRET_WORDS.iter().any(|word| name.contains(word))
        };
        let mut secrets = Secrets::default();
        for (name, value) in &self.variables {
            if let Some(value) = value.to_str().filter(|_| is_secret(name)) {
                secrets.add(value);
            }
        }
        secrets
    }
}

impl Secrets {
    /// Adds one. What is too short to be one is left out.
    pub fn add(&mut self, value: &str) {
        let value = value.trim();
        if value.len() >= SECRET_BYTES_MIN {
            self.values.push(value.to_owned());
            // The longest first: one may hold another.
            self.values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        }
    }

    /// Hides them in a text.
    pub fn hide(&self, text: &str) -> String {
        self.values.iter().fold(text.to_owned(), |text, value| text.replace(value, MASK))
    }
}

/// Shows how many there are, never what they are.
impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({})", self.values.len())
    }
}
