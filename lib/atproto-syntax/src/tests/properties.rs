//! Properties over many generated texts.

use proptest::prelude::*;

use super::{through_type, touch_accessors};
use crate::{
    AtIdentifier, AtUri, Cid, Datetime, Format, Nsid, Precision, RecordKey, Tid, TidClock, cid, tid,
};

const MICROS_OF_YEAR_0: i64 = -62_167_219_200_000_000;
const MICROS_OF_YEAR_10000: i64 = 253_402_300_800_000_000;

const DID: &str = "did:[a-z]{1,8}:[a-zA-Z0-9._:%-]{0,40}[a-zA-Z0-9._-]";
const HANDLE: &str =
    "([a-zA-Z0-9]([a-zA-Z0-9-]{0,8}[a-zA-Z0-9])?\\.){1,4}[a-zA-Z]([a-zA-Z0-9-]{0,8}[a-zA-Z0-9])?";
const NSID: &str = "[a-zA-Z]([a-zA-Z0-9-]{0,8}[a-zA-Z0-9])?(\\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,8}[a-zA-Z0-9])?){1,4}\\.[a-zA-Z][a-zA-Z0-9]{0,9}";
const RECORD_KEY: &str = "[a-zA-Z0-9_~:-][a-zA-Z0-9_~.:-]{0,40}";
const FRAGMENT: &str = "/([a-zA-Z0-9._~:@!$&')(*+,;=/-]|\\[|\\]|%[2-7][0-9a-fA-F]){0,30}";
/// Valid texts of all formats, which the edits below damage or not.
const SEEDS: [&str; 14] = [
    "did:plc:ewvi7nxzyoun6zhxrhs64oiz",
    "did:web:localhost%3A1234",
    "carol.example.org",
    "org.example.fooBar",
    "at://did:plc:asdf123/com.example.post/self#/a%C3%A9",
    "3jzfcijpj2z2a",
    "self",
    "bafkreiccldh766hwcnuxnf2wh6jgzepf2nlu2lvcllt63eww5p6chi4ity",
    "zb2rhb7GeWWpwZ4DhYypH8KQCNo6N3pmAswsqPmYUqXjrt4ny",
    "1985-04-12T23:20:50.123Z",
    "1985-04-12T23:20:50+07:00",
    "hy-Latn-IT-arevela-a-foo-x-bar",
    "i-default",
    "https://example.com/path?q=1",
];

/// Checks must never panic and must agree with the types, whatever the text.
fn agrees(text: &str) -> Result<(), TestCaseError> {
    for format in Format::ALL {
        let checked = format.check(text);
        prop_assert_eq!(through_type(format, text), checked.map(|()| text.to_owned()));
        if checked.is_ok() {
            prop_assert!(text.bytes().all(|byte| byte.is_ascii_graphic()));
            touch_accessors(format, text);
        }
    }
    Ok(())
}

/// A seed with a few characters replaced, inserted or removed.
fn edited() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        3 => prop::sample::select("-.:/#%%AZaz0129_~+=xTZ".chars().collect::<Vec<_>>()),
        1 => any::<char>(),
    ];
    let edit = (any::<prop::sample::Index>(), 0..3, character);
    (prop::sample::select(SEEDS.as_slice()), prop::collection::vec(edit, 0..4)).prop_map(|(seed, edits)| {
        let mut text: Vec<char> = seed.chars().collect();
        for (at, kind, character) in edits {
            let at = at.index(text.len() + 1);
            match kind {
                0 => text.insert(at, character),
                1 if at < text.len() => text[at] = character,
                _ => text.truncate(at),
            }
        }
        text.into_iter().collect()
    })
}

proptest! {
    #[test]
    fn any_text_is_accepted_or_rejected_in_the_same_way(text in ".*") {
        agrees(&text)?;
    }

    #[test]
    fn any_bytes_are_accepted_or_rejected_in_the_same_way(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        agrees(&String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn edited_texts_are_accepted_or_rejected_in_the_same_way(text in edited()) {
        agrees(&text)?;
    }

    #[test]
    fn the_grammars_are_accepted(did in DID, handle in HANDLE, nsid in NSID, key in RECORD_KEY) {
        prop_assert_eq!(Format::Did.check(&did), Ok(()));
        prop_assert_eq!(Format::Handle.check(&handle), Ok(()));
        prop_assert_eq!(Format::Nsid.check(&nsid), Ok(()));
        prop_assert_eq!(Format::RecordKey.check(&key), Ok(()));
    }

    #[test]
    fn at_uris_keep_their_parts(
        authority in prop_oneof![DID, HANDLE],
        collection in NSID,
        rkey in RECORD_KEY,
        fragment in FRAGMENT,
    ) {
        let (repository, posts, key): (AtIdentifier, Nsid, RecordKey) =
            (authority.parse().unwrap(), collection.parse().unwrap(), rkey.parse().unwrap());
        let made = [
            (AtUri::for_repository(&repository), None, None),
            (AtUri::for_collection(&repository, &posts), Some(collection.as_str()), None),
            (AtUri::for_record(&repository, &posts, &key), Some(collection.as_str()), Some(rkey.as_str())),
        ];
        for (uri, collection, rkey) in made {
            let pointer: AtUri = format!("{uri}#{fragment}").parse().unwrap();
            for (uri, fragment) in [(uri.as_str().parse::<AtUri>().unwrap(), None), (pointer, Some(fragment.as_str()))] {
                prop_assert_eq!(uri.authority(), &authority);
                prop_assert_eq!((uri.collection(), uri.rkey(), uri.fragment()), (collection, rkey, fragment));
            }
        }
    }

    #[test]
    fn tids_round_trip_and_sort_by_time(
        one in (0..=tid::MICROS_MAX, 0..=tid::CLOCK_ID_MAX),
        two in (0..=tid::MICROS_MAX, 0..=tid::CLOCK_ID_MAX),
    ) {
        let [first, second] = [one, two].map(|(micros, clock_id)| Tid::from_parts(micros, clock_id).unwrap());
        prop_assert_eq!((first.micros(), first.clock_id()), one);
        prop_assert_eq!(first.as_str().parse(), Ok(first));
        prop_assert_eq!(first.cmp(&second), one.cmp(&two));
        prop_assert_eq!(first.as_str().cmp(second.as_str()), one.cmp(&two));
    }

    #[test]
    fn a_tid_clock_only_grows(
        clock_id in 0..=tid::CLOCK_ID_MAX,
        times in prop::collection::vec(prop_oneof![0..20_u64, any::<u64>(), tid::MICROS_MAX - 5..=tid::MICROS_MAX], 0..60),
    ) {
        let mut clock = TidClock::new(clock_id).unwrap();
        let mut last = None;
        for now_micros in times {
            let tid = clock.next(now_micros);
            if let Some(tid) = tid {
                prop_assert!(Some(tid) > last);
                prop_assert!(tid.micros() >= now_micros);
                prop_assert_eq!(tid.clock_id(), clock_id);
                last = Some(tid);
            } else {
                let end = last.is_some_and(|last| last.micros() == tid::MICROS_MAX);
                prop_assert!(now_micros > tid::MICROS_MAX || end);
            }
        }
    }

    #[test]
    fn datetimes_round_trip(micros in MICROS_OF_YEAR_0..MICROS_OF_YEAR_10000) {
        let exact = Datetime::from_unix_micros(micros, Precision::Micros).unwrap();
        prop_assert_eq!(exact.moment().unix_micros(), micros);
        prop_assert_eq!(exact.as_str().len(), 27);
        let short = Datetime::from_unix_micros(micros, Precision::Millis).unwrap();
        prop_assert_eq!(short.moment().unix_micros(), micros.div_euclid(1000) * 1000);
        prop_assert_eq!(short.as_str().len(), 24);
    }

    #[test]
    fn an_offset_moves_the_moment(seconds in 0..4_102_444_800_i64, hours in 0..24_i64, minutes in 0..60_i64) {
        let utc = Datetime::from_unix_micros(seconds * 1_000_000, Precision::Millis).unwrap();
        let local = utc.as_str().trim_end_matches('Z');
        let ahead: Datetime = format!("{local}+{hours:02}:{minutes:02}").parse().unwrap();
        prop_assert_eq!(ahead.moment().unix_seconds, seconds - hours * 3600 - minutes * 60);
        prop_assert_eq!(i64::from(ahead.moment().offset_minutes), hours * 60 + minutes);
    }

    #[test]
    fn cids_keep_their_digest(codec in 0..=u64::MAX >> 1, digest in any::<[u8; 32]>()) {
        let made = Cid::new(codec, digest);
        let parts = made.as_str().parse::<Cid>().unwrap().decode().unwrap();
        prop_assert_eq!((parts.version, parts.codec, parts.hash), (1, codec, cid::HASH_SHA2_256));
        prop_assert_eq!(parts.digest.as_slice(), digest.as_slice());
        prop_assert_eq!(Cid::from_bytes(&made.to_bytes().unwrap()), Ok(made));
    }

    #[test]
    fn any_bytes_are_a_cid_or_not(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(cid) = Cid::from_bytes(&bytes) {
            prop_assert_eq!(cid.to_bytes(), Ok(bytes));
        }
    }
}

/// The calendar repeats after 400 years, so these are all the days that can differ.
#[test]
fn every_day_of_a_whole_cycle_round_trips() {
    let mut last = None;
    for day in 0..146_097 {
        let micros = MICROS_OF_YEAR_0 + day * 86_400_000_000;
        let datetime = Datetime::from_unix_micros(micros, Precision::Millis).unwrap();
        assert_eq!(datetime.moment().unix_micros(), micros);
        assert!(
            Some(datetime.as_str()) > last.as_ref().map(Datetime::as_str),
            "texts of one form sort by time"
        );
        last = Some(datetime);
    }
}
