//! Closed lists of words: the macro that declares their enums, and what the reader needs of them.

/// An enum whose values are words in a document.
pub(crate) trait Word: Copy + 'static {
    /// Every value, in order.
    const ALL: &'static [Self];

    /// Returns the word of the value.
    fn word(self) -> &'static str;
}

/// Declares an enum of words, with `ALL`, `name`, `from_name` and `Display`.
///
/// A dozen enums have this and nothing else; written once, the word and its value cannot drift apart.
macro_rules! words {
    ($(#[$doc:meta])* pub enum $name:ident {
        $($(#[$value_doc:meta])* $value:ident = $word:literal,)+
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$value_doc])* $value,)+
        }

        impl $name {
            /// Every value, in order.
            pub const ALL: &'static [$name] = &[$($name::$value),+];

            /// Returns the word as it stands in documents.
            pub fn name(self) -> &'static str {
                match self {
                    $($name::$value => $word,)+
                }
            }

            /// Finds the value of a word.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($word => Some($name::$value),)+
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl crate::words::Word for $name {
            const ALL: &'static [$name] = $name::ALL;

            fn word(self) -> &'static str {
                self.name()
            }
        }
    };
}
