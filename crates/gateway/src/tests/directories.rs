//! The directory never goes back: what was read before something that is noted already is left out.

use broker::AgentKey;
use message::{AgentName, Dialect, Seq};

use crate::{Directory, Listed, Profile};

#[test]
fn an_older_look_does_not_replace_a_newer_one() {
    let ann: AgentName = "ann".parse().unwrap();
    let listed = |dialect| Some(Listed { key: AgentKey(7), dialect, profile: Profile::default() });
    let dialect_of = |directory: &Directory| directory.find("ann").map(|(_, listed)| listed.dialect);
    let mut directory = Directory::default();
    directory.refresh(&ann, listed(Dialect::Wire), Seq(5));
    directory.refresh(&ann, listed(Dialect::Bus), Seq(4));
    assert_eq!(dialect_of(&directory), Some(Dialect::Wire));
    directory.refresh(&ann, None, Seq(6));
    directory.refresh(&ann, listed(Dialect::Bus), Seq(5));
    assert_eq!(dialect_of(&directory), None, "it was removed after that");
    assert_eq!(directory.name_of(AgentKey(7)), Some(&ann), "and keeps its name");
    directory.refresh(&ann, listed(Dialect::Bus), Seq(7));
    assert_eq!(dialect_of(&directory), Some(Dialect::Bus));
}
