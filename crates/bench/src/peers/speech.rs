//! What a client says and hears, apart from how it is carried: every side is driven by the same loops.

use super::input::Input;

/// A client that publishes.
pub(crate) trait Publish: Send {
    /// Writes the publication of a document.
    fn publish(&mut self, document: &[u8], out: &mut Vec<u8>);

    /// Takes whole answers off the front; returns how many documents they acknowledge. A refusal is an error.
    fn answers(&mut self, input: &mut Input, out: &mut Vec<u8>) -> anyhow::Result<u64>;
}

/// A client that takes documents and acknowledges each of them.
pub(crate) trait Consume: Send {
    /// Asks for the first documents.
    fn begin(&mut self, out: &mut Vec<u8>);

    /// Takes whatever came off the front, shows each document, acknowledges it and asks for more; returns how many
    /// documents are settled now.
    fn receive(
        &mut self,
        input: &mut Input,
        out: &mut Vec<u8>,
        seen: &mut dyn FnMut(&[u8]),
    ) -> anyhow::Result<u64>;
}
