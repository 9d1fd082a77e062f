//! Markdown as far as the checks need it: prose without code, and the links in it.

use super::tree::numbered_lines;

/// The text with code blocks and code spans emptied; lines keep their numbers.
pub(crate) fn prose(text: &str) -> String {
    let mut prose = String::new();
    let mut fence: Option<String> = None;
    for (line, text) in numbered_lines(text) {
        if line > 1 {
            prose.push('\n');
        }
        let marker = fence_marker(text);
        match (&fence, marker) {
            (Some(open), Some(marker)) if marker.starts_with(open.as_str()) => fence = None,
            (Some(_), _) => {}
            (None, Some(marker)) => fence = Some(marker),
            (None, None) => prose.push_str(&without_spans(text)),
        }
    }
    prose
}

/// The targets of all links and images, each with its line.
pub(crate) fn links(text: &str) -> Vec<(usize, String)> {
    let prose = prose(text);
    let mut links = Vec::new();
    for (line, text) in numbered_lines(&prose) {
        let inline =
            text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
        let html = ["href=\"", "src=\""].into_iter().flat_map(|attribute| {
            text.split(attribute).skip(1).filter_map(|rest| rest.split_once('"')).map(|(target, _)| target)
        });
        for target in inline.chain(html).chain(reference(text)) {
            links.push((line, without_title(target).to_owned()));
        }
    }
    links
}

/// The target of a definition such as `[name]: target`.
fn reference(line: &str) -> Option<&str> {
    let (name, target) = line.strip_prefix('[')?.split_once("]: ")?;
    // `[^1]: …` is a footnote, whose text is not a target.
    (!name.starts_with('^')).then_some(target)
}

/// Targets may be followed by a title and wrapped in angle brackets.
fn without_title(target: &str) -> &str {
    let target = target.trim();
    if let Some(rest) = target.strip_prefix('<') {
        return rest.split('>').next().unwrap_or_default();
    }
    target.split_whitespace().next().unwrap_or_default()
}

/// The run of backticks or tildes that opens or closes a code block on this line.
fn fence_marker(line: &str) -> Option<String> {
    let line = line.trim_start();
    let sign = line.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
    let run: String = line.chars().take_while(|character| *character == sign).collect();
    (run.len() >= 3 && !line[run.len()..].contains('`')).then_some(run)
}

fn without_spans(line: &str) -> String {
    let mut rest = line;
    let mut kept = String::new();
    while let Some(start) = rest.find('`') {
        let (before, from) = rest.split_at(start);
        kept.push_str(before);
        let ticks = from.len() - from.trim_start_matches('`').len();
        let (run, after) = from.split_at(ticks);
        match closing_run(after, run) {
            Some(end) => rest = &after[end + ticks..],
            None => {
                kept.push_str(run);
                rest = after;
            }
        }
    }
    kept.push_str(rest);
    kept
}

/// Where the run that closes a span starts: exactly as many backticks, no more.
fn closing_run(text: &str, run: &str) -> Option<usize> {
    let is_alone =
        |start: usize| !text[..start].ends_with('`') && !text[start + run.len()..].starts_with('`');
    text.match_indices(run).map(|(start, _)| start).find(|&start| is_alone(start))
}
