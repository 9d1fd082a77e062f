//! Names that somebody may have meant.

/// How many are suggested.
const SUGGESTIONS_MAX: usize = 3;
/// How many names are looked at; a bus with more has a search.
const NAMES_MAX: usize = 10_000;

/// Returns the names nearest to one, the nearest first; none if nothing is near.
pub(crate) fn names<'n>(wanted: &str, names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let far = 1 + wanted.chars().count() / 3;
    let mut near: Vec<(usize, &str)> = names
        .take(NAMES_MAX)
        .map(|name| (distance(wanted, name), name))
        .filter(|(distance, name)| *distance <= far || starts_alike(wanted, name))
        .collect();
    near.sort_unstable();
    near.into_iter().take(SUGGESTIONS_MAX).map(|(_, name)| name.to_owned()).collect()
}

fn starts_alike(wanted: &str, name: &str) -> bool {
    wanted.len() >= 3 && name.len() >= 3 && (name.starts_with(wanted) || wanted.starts_with(name))
}

/// Counts the letters to add, leave out or change to make one text of the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, left) in one.chars().take(64).enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], line + 1);
        for (column, right) in other.iter().enumerate() {
            let change = diagonal + usize::from(left != *right);
            diagonal = row[column + 1];
            row[column + 1] = change.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}
