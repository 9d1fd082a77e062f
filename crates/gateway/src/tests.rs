//! Tests of what the doors share.

mod directories;
mod documents;
mod principals;
mod rates;
mod tokens;
mod translations;
mod words;
