//! The `use` declarations of a source file, written out as full paths.

use crate::tidy::rust_text::find_word;

/// One imported path, such as `std::io::Read`, and the line where its declaration starts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Import {
    pub(crate) path: String,
    pub(crate) line: usize,
}

/// Splits code without comments into its imports and the rest, which keeps its lines.
pub(crate) fn take_imports(code: &str) -> (Vec<Import>, String) {
    let mut imports = Vec::new();
    let mut rest = String::new();
    let mut end_before = 0;
    for start in find_word(code, "use") {
        let after = start + "use".len();
        // `use<'a>` is a capture list of a return type.
        let is_declaration = code[after..].starts_with(char::is_whitespace);
        let Some(length) = code[after..].find(';').filter(|_| is_declaration && start >= end_before) else {
            continue;
        };
        let line = code[..start].matches('\n').count() + 1;
        let declaration = &code[after..after + length];
        expand("", declaration.trim().trim_start_matches("::"), &mut |path| {
            imports.push(Import { path, line });
        });
        rest.push_str(&code[end_before..start]);
        rest.extend(declaration.chars().filter(|&character| character == '\n'));
        end_before = after + length;
    }
    rest.push_str(&code[end_before..]);
    (imports, rest)
}

fn expand(prefix: &str, tree: &str, found: &mut impl FnMut(String)) {
    let tree = tree.trim();
    let braces = tree.find('{').zip(tree.rfind('}')).filter(|(open, close)| open < close);
    let Some((open, close)) = braces else {
        let name = tree.split_whitespace().next().unwrap_or_default();
        match name {
            "" => {}
            "self" => found(prefix.trim_end_matches("::").to_owned()),
            _ => found(format!("{prefix}{name}")),
        }
        return;
    };
    let prefix = format!("{prefix}{}", tree[..open].trim());
    for branch in split_branches(&tree[open + 1..close]) {
        expand(&prefix, branch, found);
    }
}

/// Splits a group at the commas that belong to no inner group.
fn split_branches(group: &str) -> Vec<&str> {
    let mut branches = Vec::new();
    let mut start = 0;
    let mut depth = 0_i32;
    for (index, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                branches.push(&group[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    branches.push(&group[start..]);
    branches
}
