//! Code and comments are told apart.

use crate::tidy::rust_text::RustText;

fn check(source: &str, code: &str, comments: &str) {
    let text = RustText::split(source);
    let squeezed = |layer: &str| layer.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(squeezed(&text.code), code, "code of {source}");
    assert_eq!(squeezed(&text.comments), comments, "comments of {source}");
    assert_eq!(text.code.matches('\n').count(), source.matches('\n').count());
    assert_eq!(text.comments.matches('\n').count(), source.matches('\n').count());
}

#[test]
fn layers() {
    check("a // b\nc", "a c", "// b");
    check("a /* b /* c */\n d */ e", "a e", "/* b /* c */ d */");
    check("/* open", "", "/* open");
    check(r#"f("// \" x", y)"#, r#"f(" ", y)"#, "");
    check("r#\"a \" // b\"# c", "r#\" \"# c", "");
    check("br\"\\\" // c", "br\" \"", "// c");
    check("for\"x\" r#type // c", "for\" \" r#type", "// c");
    check("'\"' '\\'' '\\u{1F600}' // c", "' ' ' ' ' '", "// c");
    check("fn f<'a>(x: &'a str) {} // c", "fn f<'a>(x: &'a str) {}", "// c");
    check("\"open\n// x", "\"", "");
}

#[test]
fn broken_source_does_not_break_the_splitter() {
    for source in [
        "'",
        "'\\",
        "\"\\",
        "r#",
        "r\"",
        "/*",
        "/* /*",
        "#[cfg(test)",
        "#[cfg(test)]",
        "#[cfg(test)] }",
        "*/",
    ] {
        let text = RustText::split(source);
        assert_eq!(text.code_without_tests().matches('\n').count(), 0);
    }
}
