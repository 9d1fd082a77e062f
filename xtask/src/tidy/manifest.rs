//! The few lines of a `Cargo.toml` that the checks need, read by hand.
//!
//! This is no TOML parser: it knows tables, dotted keys, inline tables and values over several lines.

use super::tree::Tree;

/// The crates of the workspace with their manifests.
pub(crate) struct Workspace {
    pub(crate) members: Vec<Member>,
    /// The shared dependencies that the root manifest declares.
    shared: Vec<Dependency>,
}

/// A crate on disk.
pub(crate) struct Member {
    /// Its folder from the root, such as `lib/json`; this is how the crate table names it.
    pub(crate) folder: String,
    pub(crate) manifest: Manifest,
}

#[derive(Default)]
pub(crate) struct Manifest {
    pub(crate) package: String,
    pub(crate) inherits_lints: bool,
    pub(crate) dependencies: Vec<Dependency>,
}

#[derive(Debug)]
pub(crate) struct Dependency {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    /// The package behind the name, if the manifest renames it.
    package: Option<String>,
    pub(crate) from_workspace: bool,
    pub(crate) by_path: bool,
    pub(crate) line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Normal,
    Build,
    Dev,
    /// Declared in the root for others to inherit.
    Shared,
}

impl Workspace {
    pub(crate) fn read(tree: &Tree) -> Self {
        let shared = tree.text("Cargo.toml").map(|file| Manifest::parse(&file.text).dependencies);
        let members = tree.paths().filter_map(|path| {
            let folder = member_folder(path)?;
            let manifest = Manifest::parse(&tree.text(path)?.text);
            Some(Member { folder: folder.to_owned(), manifest })
        });
        Self { members: members.collect(), shared: shared.unwrap_or_default() }
    }

    /// The crate of ours behind a dependency, if it is one.
    pub(crate) fn member_behind(&self, dependency: &Dependency) -> Option<&Member> {
        let package = self.package_behind(dependency);
        self.members.iter().find(|member| member.manifest.package == package)
    }

    /// The package behind a dependency, whatever it is renamed to here or in the root.
    pub(crate) fn package_behind<'a>(&'a self, dependency: &'a Dependency) -> &'a str {
        let shared = self.shared.iter().find(|shared| shared.name == dependency.name);
        let inherited =
            shared.filter(|_| dependency.from_workspace).and_then(|shared| shared.package.as_deref());
        dependency.package.as_deref().or(inherited).unwrap_or(&dependency.name)
    }
}

impl Member {
    pub(crate) fn manifest_path(&self) -> String {
        format!("{}/Cargo.toml", self.folder)
    }

    /// What the crate needs to be built or to run, not what only its tests need.
    pub(crate) fn hard_dependencies(&self) -> impl Iterator<Item = &Dependency> {
        self.manifest.dependencies.iter().filter(|dependency| match dependency.kind {
            Kind::Normal | Kind::Build => true,
            Kind::Dev | Kind::Shared => false,
        })
    }
}

impl Manifest {
    pub(crate) fn parse(text: &str) -> Self {
        let mut manifest = Self::default();
        for entry in entries(text) {
            let path: Vec<&str> = entry.path.iter().map(String::as_str).collect();
            match path.as_slice() {
                ["package", "name"] => manifest.package = unquoted(&entry.value).to_owned(),
                ["lints", "workspace"] => manifest.inherits_lints = entry.value == "true",
                ["workspace", "dependencies", name, field @ ..] => {
                    manifest.add(Kind::Shared, name, field, &entry);
                }
                ["target", _, table, name, field @ ..] | [table, name, field @ ..] => {
                    if let Some(kind) = Kind::of_table(table) {
                        manifest.add(kind, name, field, &entry);
                    }
                }
                _ => {}
            }
        }
        manifest
    }

    /// Notes one fact about a dependency; several lines may speak of the same one.
    fn add(&mut self, kind: Kind, name: &str, field: &[&str], entry: &Entry) {
        let known = self.dependencies.iter().position(|known| known.kind == kind && known.name == name);
        let index = known.unwrap_or_else(|| {
            self.dependencies.push(Dependency::new(kind, name, entry.line));
            self.dependencies.len() - 1
        });
        let dependency = &mut self.dependencies[index];
        match field {
            [field] => dependency.set(field, &entry.value),
            _ => {
                let table = entry.value.strip_prefix('{').and_then(|value| value.strip_suffix('}'));
                for part in split_outside(table.unwrap_or_default(), ',') {
                    if let Some((key, value)) = part.split_once('=') {
                        dependency.set(key.trim(), value.trim());
                    }
                }
            }
        }
    }
}

impl Dependency {
    fn new(kind: Kind, name: &str, line: usize) -> Self {
        Self { kind, name: name.to_owned(), package: None, from_workspace: false, by_path: false, line }
    }

    fn set(&mut self, field: &str, value: &str) {
        match field {
            "workspace" => self.from_workspace = value == "true",
            "path" => self.by_path = true,
            "package" => self.package = Some(unquoted(value).to_owned()),
            _ => {}
        }
    }
}

impl Kind {
    fn of_table(table: &str) -> Option<Self> {
        match table {
            "dependencies" => Some(Self::Normal),
            "build-dependencies" => Some(Self::Build),
            "dev-dependencies" => Some(Self::Dev),
            _ => None,
        }
    }
}

/// One `key = value` with the table that it stands in.
struct Entry {
    path: Vec<String>,
    value: String,
    line: usize,
}

fn entries(text: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut table: Vec<String> = Vec::new();
    let mut open = false;
    for (index, line) in text.lines().enumerate() {
        let line = without_comment(line).trim();
        if open && let Some(entry) = entries.last_mut() {
            entry.value.push_str(line);
            open = is_open(&entry.value);
        } else if let Some(header) = line.strip_prefix('[') {
            table = key_parts(header.trim_matches(['[', ']']));
        } else if let Some((key, value)) = line.split_once('=') {
            let mut path = table.clone();
            path.extend(key_parts(key));
            let value = value.trim().to_owned();
            open = is_open(&value);
            entries.push(Entry { path, value, line: index + 1 });
        }
    }
    entries
}

/// The folder of a member, if the path is its manifest.
fn member_folder(path: &str) -> Option<&str> {
    let folder = path.strip_suffix("/Cargo.toml")?;
    let name = folder.strip_prefix("lib/").or_else(|| folder.strip_prefix("crates/"));
    (folder == "xtask" || name.is_some_and(|name| !name.contains('/'))).then_some(folder)
}

fn key_parts(key: &str) -> Vec<String> {
    split_outside(key, '.').into_iter().map(|part| unquoted(part.trim()).to_owned()).collect()
}

/// Whether the brackets of a value are still to be closed on a later line.
fn is_open(value: &str) -> bool {
    let mut depth = 0_i32;
    for (character, quoted) in with_quoting(value) {
        match character {
            '[' | '{' if !quoted => depth += 1,
            ']' | '}' if !quoted => depth -= 1,
            _ => {}
        }
    }
    depth > 0
}

fn without_comment(line: &str) -> &str {
    split_outside(line, '#').first().copied().unwrap_or_default()
}

/// Splits at a separator that stands in no string and in no brackets.
fn split_outside(text: &str, separator: char) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut depth = 0_i32;
    let mut index = 0;
    for (character, quoted) in with_quoting(text) {
        match character {
            '[' | '{' | '(' if !quoted => depth += 1,
            ']' | '}' | ')' if !quoted => depth -= 1,
            _ if character == separator && !quoted && depth <= 0 => {
                parts.push(&text[start..index]);
                start = index + character.len_utf8();
            }
            _ => {}
        }
        index += character.len_utf8();
    }
    parts.push(&text[start..]);
    parts
}

/// The characters, each with whether it stands in a string.
fn with_quoting(text: &str) -> impl Iterator<Item = (char, bool)> {
    let mut quote: Option<char> = None;
    let mut escaped = false;
    text.chars().map(move |character| {
        let inside = quote.is_some();
        match quote {
            Some(_) if escaped => escaped = false,
            Some('"') if character == '\\' => escaped = true,
            Some(open) if character == open => quote = None,
            Some(_) => {}
            None if character == '"' || character == '\'' => quote = Some(character),
            None => {}
        }
        (character, inside)
    })
}

fn unquoted(text: &str) -> &str {
    text.trim_matches(['"', '\''])
}
