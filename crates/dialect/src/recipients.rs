//! Recipients as a document names them, before they are addresses.

use json::Value;

/// To whom a document says that it goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Recipients<'v> {
    /// To one, by whatever name.
    One(&'v str),
    /// To each of a list of strings.
    Each(&'v [Value<'v>]),
    /// To everyone.
    Everyone,
    /// To whoever takes it.
    Anyone,
}
