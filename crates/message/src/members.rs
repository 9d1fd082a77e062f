//! Writing a document member by member: what is absent is left out, the unknown comes last.

use json::{Number, Object, Value};

/// The members of one object, in the order in which they are put.
pub(crate) struct Members<'m>(Object<'m>);

impl<'m> Members<'m> {
    pub(crate) fn new() -> Self {
        Members(Object::new())
    }

    /// Puts a member.
    pub(crate) fn put(&mut self, key: &'static str, value: impl Into<Value<'m>>) {
        self.0.insert(key, value);
    }

    /// Puts a member if there is something to put.
    pub(crate) fn maybe(&mut self, key: &'static str, value: Option<impl Into<Value<'m>>>) {
        if let Some(value) = value {
            self.put(key, value);
        }
    }

    /// Puts a value of the sender; `null` means absent and is left out.
    pub(crate) fn value(&mut self, key: &'static str, value: Option<&Value<'static>>) {
        self.maybe(key, value.filter(|value| !value.is_null()).cloned());
    }

    /// Puts a number as it was written.
    pub(crate) fn number(&mut self, key: &'static str, number: Option<&Number<'static>>) {
        self.maybe(key, number.cloned().map(Value::Number));
    }

    /// Puts a list unless it is empty.
    pub(crate) fn list<V: Into<Value<'m>>>(
        &mut self,
        key: &'static str,
        items: impl ExactSizeIterator<Item = V>,
    ) {
        if items.len() > 0 {
            self.put(key, items.map(Into::into).collect::<Vec<_>>());
        }
    }

    /// Adds the unknown fields and closes the object. A known name among them would be read as that field, so it
    /// is left out.
    pub(crate) fn with(mut self, extra: &Object<'static>, known: &[&str]) -> Value<'m> {
        for (key, value) in extra.iter().filter(|(key, _)| !known.contains(key)) {
            self.0.insert(key.to_owned(), value.clone());
        }
        self.close()
    }

    pub(crate) fn close(self) -> Value<'m> {
        Value::Object(self.0)
    }
}
