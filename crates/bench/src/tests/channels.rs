//! The area `channels`: every measure runs, and finds what was written.

use std::time::Duration;

use crate::area::{Form, Length, Options, Outcome};
use crate::channels::AREA;

#[test]
fn smoke() {
    for form in [Form::Text, Form::Json] {
        let options = Options { rounds: 2, duration: Duration::ZERO, form, only: None, length: Length::Full };
        assert_eq!((AREA.smoke)(&options).unwrap(), Outcome::Agreed);
    }
    (AREA.work)("poll", 2).unwrap();
    assert!((AREA.work)("nothing", 1).is_err());
}
