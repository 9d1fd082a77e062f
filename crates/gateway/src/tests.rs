//! Tests of what the doors share.

mod documents;
mod principals;
mod rates;
mod tokens;
mod words;
