//! The area `fanout`: every measure runs, and both sides give the same documents.

use std::time::Duration;

use crate::area::{Form, Length, Options, Outcome};
use crate::fanout::AREA;

#[test]
fn smoke() {
    for form in [Form::Text, Form::Json] {
        let options = Options { rounds: 2, duration: Duration::ZERO, form, only: None, length: Length::Full };
        assert_eq!((AREA.smoke)(&options).unwrap(), Outcome::Agreed);
    }
    (AREA.work)("kept-100", 2).unwrap();
    assert!((AREA.work)("kept-2", 1).is_err());
}
