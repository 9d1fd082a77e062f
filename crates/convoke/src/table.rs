//! Tables for people: aligned columns, the last one cut to the width of the terminal.

use std::io;

use crate::output::Output;
use crate::screen::{self, Screen, Tone};

/// Rows under headings. Cells are made safe for the terminal when they are added.
pub(crate) struct Table {
    headings: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(headings: &[&'static str]) -> Self {
        Table { headings: headings.to_vec(), rows: Vec::new() }
    }

    /// Adds a row, which has a cell for each heading.
    pub(crate) fn row<C: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.rows.push(cells.into_iter().map(|cell| screen::line(cell.as_ref())).collect());
    }

    /// Prints the table.
    pub(crate) fn print(&self, output: &mut Output) -> io::Result<()> {
        let screen = Screen::of_stdout();
        for line in self.lines(&screen) {
            output.line(line)?;
        }
        Ok(())
    }

    pub(crate) fn lines(&self, screen: &Screen) -> Vec<String> {
        let widths = self.widths();
        let headings: Vec<String> = self.headings.iter().map(|heading| (*heading).to_owned()).collect();
        let mut lines = vec![screen.paint(Tone::Faint, &aligned(&headings, &widths, screen))];
        lines.extend(self.rows.iter().map(|row| aligned(row, &widths, screen)));
        lines
    }

    fn widths(&self) -> Vec<usize> {
        let widest = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| screen::width(cell)).max().unwrap_or(0)
        };
        self.headings.iter().enumerate().map(|(column, heading)| heading.len().max(widest(column))).collect()
    }
}

fn aligned(cells: &[String], widths: &[usize], screen: &Screen) -> String {
    let mut line = String::new();
    for (cell, width) in cells.iter().zip(widths) {
        line.push_str(cell);
        line.push_str(&" ".repeat(width.saturating_sub(screen::width(cell)) + 2));
    }
    let line = line.trim_end();
    match screen.width {
        Some(width) => screen::cut(line, width),
        None => line.to_owned(),
    }
}
