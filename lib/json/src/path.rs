//! Places inside a document, built on the stack while walking it and written as JSON Pointers.

use std::fmt;

/// A place inside a document: the way from its root, one step linked to the one before.
///
/// Walking costs no allocation; only a finding turns a path into text. `Display` writes a JSON Pointer
/// (RFC 6901): the root is the empty string.
///
/// ```
/// use json::Path;
/// let root = Path::ROOT;
/// let content = root.key("content");
/// assert_eq!(content.key("a/b").index(3).to_string(), "/content/a~1b/3");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    step: Step<'p>,
}

#[derive(Clone, Copy, Debug)]
enum Step<'p> {
    Root,
    Key(&'p str),
    Index(usize),
}

impl<'p> Path<'p> {
    /// The document itself.
    pub const ROOT: Path<'static> = Path { parent: None, step: Step::Root };

    /// Steps to the member of that name.
    pub fn key(&'p self, key: &'p str) -> Path<'p> {
        Path { parent: Some(self), step: Step::Key(key) }
    }

    /// Steps to the item of that number.
    pub fn index(&'p self, index: usize) -> Path<'p> {
        Path { parent: Some(self), step: Step::Index(index) }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
        }
        match self.step {
            Step::Root => Ok(()),
            Step::Index(index) => write!(f, "/{index}"),
            Step::Key(key) if !key.contains(['~', '/']) => write!(f, "/{key}"),
            Step::Key(key) => write!(f, "/{}", key.replace('~', "~0").replace('/', "~1")),
        }
    }
}
