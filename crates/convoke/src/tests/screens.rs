//! What is shown on a terminal: nothing of it controls it, and columns are where they should be.

use proptest::prelude::*;

use crate::screen::{self, Screen};
use crate::table::Table;

#[test]
fn what_controls_a_terminal_is_shown_by_its_number() {
    let cases = [
        ("plain text, ünïcödé, 漢字, 🎉", "plain text, ünïcödé, 漢字, 🎉"),
        ("\u{1b}[31mred", "\\u{1b}[31mred"),
        ("bell\u{7} back\u{8} del\u{7f} csi\u{9b}", "bell\\u{7} back\\u{8} del\\u{7f} csi\\u{9b}"),
        ("left\u{202e}right\u{2066}", "left\\u{202e}right\\u{2066}"),
        ("zero\u{200b}width\u{feff}", "zero\\u{200b}width\\u{feff}"),
        ("two\nlines\tand\rmore", "two lines and more"),
    ];
    for (text, shown) in cases {
        assert_eq!(screen::line(text), shown);
    }
    let lines: Vec<String> = screen::lines("one\r\n\ttwo\n\u{1b}three").collect();
    assert_eq!(lines, ["one", "    two", "\\u{1b}three"]);
}

#[test]
fn text_is_cut_by_columns() {
    for (text, width_max, shown) in [
        ("short", 5, "short"),
        ("longer", 5, "long…"),
        ("漢字漢字", 5, "漢字…"),
        ("漢字漢字", 8, "漢字漢字"),
        ("é\u{301}a", 2, "é\u{301}a"),
    ] {
        assert_eq!(screen::cut(text, width_max), shown, "{text} {width_max}");
    }
}

#[test]
fn tables_are_aligned_and_cut() {
    let mut table = Table::new(&["agent", "says"]);
    table.row(["ann", "hello"]);
    table.row(["漢字漢字", "a longer \u{1b}line"]);
    let wide = Screen::plain(None);
    assert_eq!(table.lines(&wide), ["agent     says", "ann       hello", "漢字漢字  a longer \\u{1b}line"]);
    let narrow = Screen::plain(Some(14));
    assert_eq!(table.lines(&narrow), ["agent     says", "ann       hel…", "漢字漢字  a l…"]);
}

proptest! {
    #[test]
    fn nothing_that_is_shown_controls_anything(text in any::<String>()) {
        prop_assert!(!screen::line(&text).contains(char::is_control));
        for line in screen::lines(&text) {
            prop_assert!(!line.contains(char::is_control));
        }
    }

    #[test]
    fn what_is_cut_fits(text in "[a-zé漢🎉]{0,30}", width_max in 1_usize..20) {
        prop_assert!(screen::width(&screen::cut(&text, width_max)) <= width_max);
    }
}
