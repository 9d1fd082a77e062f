//! Exact values that the types must read and write.

use crate::{
    AtIdentifier, AtUri, Cid, Datetime, Format, Handle, Language, Nsid, Precision, SyntaxError, Tid,
    TidClock, cid, datetime, handle, tid,
};

#[test]
fn tids_stand_for_known_times() {
    let cases = [
        ("2222222222222", 0, 0),
        ("3jzfcijpj2z2a", 1_688_137_381_887_007, 6),
        ("3kznmn7xqxl22", 1_723_607_526_857_649, 0),
        ("3lh4awieu2222", 1_738_404_000_000_000, 0),
        ("3lh4awieu22zz", 1_738_404_000_000_000, 1023),
        ("3mc5xceyuds22", 1_768_149_195_123_000, 0),
        ("3mkjbosyc2222", 1_777_334_400_000_000, 0),
        ("bzzzzzzzzzzzz", tid::MICROS_MAX, tid::CLOCK_ID_MAX),
    ];
    for (text, micros, clock_id) in cases {
        let tid: Tid = text.parse().unwrap();
        assert_eq!((tid.micros(), tid.clock_id()), (micros, clock_id), "{text}");
        assert_eq!(Tid::from_parts(micros, clock_id).unwrap().as_str(), text);
    }
    assert_eq!("jzzzzzzzzzzzz".parse::<Tid>().unwrap().micros(), (1 << 54) - 1);
    assert!("3l2c2n2r6i4".parse::<Tid>().is_err());
    assert!(Tid::from_parts(tid::MICROS_MAX + 1, 0).is_err());
    assert!(Tid::from_parts(0, tid::CLOCK_ID_MAX + 1).is_err());
    assert_eq!(format!("{:?}", Tid::from_parts(0, 1).unwrap()), r#"Tid("2222222222223")"#);
}

#[test]
fn a_tid_clock_never_repeats_and_ends_at_its_last_microsecond() {
    let mut clock = TidClock::new(5).unwrap();
    let micros: Vec<u64> = [0, 0, 10, 3, 11].map(|now| clock.next(now).unwrap().micros()).into();
    assert_eq!(micros, [0, 1, 10, 11, 12]);
    assert_eq!(clock.next(u64::MAX), None);
    assert_eq!(clock.next(0).unwrap().micros(), 13, "a mad time must not stop the clock");
    assert!(clock.next(tid::MICROS_MAX).is_some());
    assert_eq!(clock.next(0), None);

    let last: Tid = "3lh4awieu22zz".parse().unwrap();
    let next = TidClock::after(last, 0).unwrap().next(0).unwrap();
    assert!(next > last && next.micros() == last.micros() + 1);
    let high: Tid = "jzzzzzzzzzzzz".parse().unwrap();
    assert_eq!(TidClock::after(high, 0).unwrap().next(0), None);
    assert!(TidClock::new(1024).is_err());
    assert!(TidClock::after(last, 1024).is_err());
}

#[test]
fn datetimes_stand_for_known_moments() {
    let cases = [
        ("1970-01-01T00:00:00Z", 0, 0, 0),
        ("1985-04-12T23:20:50.123Z", 482_196_050, 123_000_000, 0),
        ("1985-04-12T23:20:50.1235678912345Z", 482_196_050, 123_567_891, 0),
        ("1985-04-12T23:20:50.123-07:00", 482_221_250, 123_000_000, -420),
        ("1985-04-12T23:20:50.123+01:45", 482_189_750, 123_000_000, 105),
        ("1969-12-31T23:59:59.000000001Z", -1, 1, 0),
        ("2000-03-01T00:00:00Z", 951_868_800, 0, 0),
        ("2023-06-30T15:03:01.887007Z", 1_688_137_381, 887_007_000, 0),
        ("0000-01-01T00:00:00Z", -62_167_219_200, 0, 0),
        ("9999-12-31T23:59:59.999999999Z", 253_402_300_799, 999_999_999, 0),
    ];
    for (text, unix_seconds, nanos, offset_minutes) in cases {
        let moment = datetime::parse(text).unwrap();
        assert_eq!(
            (moment.unix_seconds, moment.nanos, moment.offset_minutes),
            (unix_seconds, nanos, offset_minutes)
        );
        assert_eq!(text.parse::<Datetime>().unwrap().moment(), moment);
    }
}

#[test]
fn datetimes_are_written_in_the_preferred_form() {
    let cases = [
        (0, "1970-01-01T00:00:00.000Z", "1970-01-01T00:00:00.000000Z"),
        (-1, "1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999999Z"),
        (1_709_251_199_999_999, "2024-02-29T23:59:59.999Z", "2024-02-29T23:59:59.999999Z"),
        (-62_167_219_200_000_000, "0000-01-01T00:00:00.000Z", "0000-01-01T00:00:00.000000Z"),
        (253_402_300_799_999_999, "9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999999Z"),
    ];
    for (micros, millis_text, micros_text) in cases {
        assert_eq!(Datetime::from_unix_micros(micros, Precision::Millis).unwrap().as_str(), millis_text);
        let exact = Datetime::from_unix_micros(micros, Precision::Micros).unwrap();
        assert_eq!((exact.as_str(), exact.moment().unix_micros()), (micros_text, micros));
    }
    for micros in [i64::MIN, -62_167_219_200_000_001, 253_402_300_800_000_000, i64::MAX] {
        assert!(Datetime::from_unix_micros(micros, Precision::Millis).is_err());
    }
}

#[test]
fn datetimes_sort_by_moment() {
    let sorted = [
        "2023-12-31T23:59:59+23:59",
        "2023-12-31T00:30:00Z",
        "2023-12-31T00:30:00.1Z",
        "2023-12-31T00:30:00-00:01",
    ];
    let datetimes = sorted.map(|text| text.parse::<Datetime>().unwrap());
    assert!(datetimes.is_sorted());
    assert_ne!("2023-12-31T00:30:00Z".parse::<Datetime>(), "2023-12-31T00:30:00.0Z".parse());
}

#[test]
fn every_base_spells_the_same_cid() {
    let texts = [
        "bafkreiccldh766hwcnuxnf2wh6jgzepf2nlu2lvcllt63eww5p6chi4ity",
        "BAFKREICCLDH766HWCNUXNF2WH6JGZEPF2NLU2LVCLLT63EWW5P6CHI4ITY",
        "cafkreiccldh766hwcnuxnf2wh6jgzepf2nlu2lvcllt63eww5p6chi4ity======",
        "v05ah4822b37vuu7m2dknd5qm7u96p4f5qdbkqbl2bbjur4mmtfu278s8jo",
        "hyfktrennmd89668snpwzpf4s86jg3rxf4pmw4minmmu65rss7x6n8eheua",
        "f015512204258cfff78f613697697563f926c91e5d3574d2ea25ae7ed92d6ebfc23a3889e",
        "zb2rhb7GeWWpwZ4DhYypH8KQCNo6N3pmAswsqPmYUqXjrt4ny",
        "ZA2RGA7gDvvPWy4dGxYPh8jpcnN6n3PLaSWSQoLxtQwJRT4MY",
        "k2cwueaaxngju2jrlmxun075toc4juatpuh2y4dm1oowwvz11k1l8ota",
        "92588232978151180420859924810532313606587738153649468825498971339007288740547517450398",
        "mAVUSIEJYz/949hNpdpdWP5JskeXTV00uolrn7ZLW6/wjo4ie",
        "uAVUSIEJYz_949hNpdpdWP5JskeXTV00uolrn7ZLW6_wjo4ie",
        "7002524221004113063777570754115513551352617711154443627232564645650455347733113267277604350704236",
    ];
    let first: Cid = texts[0].parse().unwrap();
    let parts = first.decode().unwrap();
    assert_eq!((parts.version, parts.codec, parts.hash), (1, cid::CODEC_RAW, cid::HASH_SHA2_256));
    assert_eq!(Cid::new(parts.codec, parts.digest.clone().try_into().unwrap()), first);
    for text in texts {
        let cid: Cid = text.parse().unwrap();
        assert_eq!(cid.decode().as_ref(), Ok(&parts), "{text}");
        assert_eq!(Cid::from_bytes(&cid.to_bytes().unwrap()), Ok(first.clone()));
        assert_eq!(cid.is_blessed(), text.starts_with('b'));
    }
}

#[test]
fn cids_that_only_look_right_do_not_decode() {
    let cases = [
        ("f0055120142", "its version must be 1"),
        ("f1220424242", "its version must be 1"),
        ("f0155120242", "its digest must be as long as it says"),
        ("f01551200aa", "its digest must be as long as it says"),
        ("z7x3CtScH765HvShXT", "its digest must be as long as it says"),
        ("f01d500120142", "its numbers must not be longer than needed"),
        ("f01551280", "it ends inside a number, or the number is too big"),
        ("f0155ffffffffffffffffff011200", "it ends inside a number, or the number is too big"),
        ("f01551201424", "it does not spell whole bytes"),
        // A digit more than the bytes need, and bits that do not belong to any byte.
        ("bafkreakca", "it does not spell whole bytes"),
        ("bafkreab", "it does not spell whole bytes"),
    ];
    for (text, reason) in cases {
        let decoded = text.parse::<Cid>().unwrap().decode();
        assert_eq!(decoded.map_err(|error| error.reason()), Err(reason), "{text}");
    }
    for text in ["f0155120142", "bafkreakc", "bafkreaa"] {
        assert!(text.parse::<Cid>().unwrap().decode().is_ok(), "{text}");
    }
    assert!(Cid::from_bytes(&[]).is_err());
    assert!(Cid::from_bytes(&[1, 0x55, 0x12]).is_err());
    assert!(Cid::new(u64::MAX, [0; 32]).decode().is_ok());
    assert!(!Cid::new(0x70, [0; 32]).is_blessed());
}

#[test]
fn parts_of_names() {
    let nsid: Nsid = "COM.Example.fooBar".parse().unwrap();
    assert_eq!((nsid.authority().as_str(), nsid.name()), ("example.com", "fooBar"));
    assert_eq!(nsid.segments().collect::<Vec<_>>(), ["COM", "Example", "fooBar"]);

    for tld in handle::DISALLOWED_TLDS {
        let handle: Handle = format!("a.{}", tld.to_uppercase()).parse().unwrap();
        assert_eq!(handle.disallowed_tld(), Some(tld));
    }
    let allowed: Handle = "local.test".parse().unwrap();
    assert_eq!((allowed.tld(), allowed.disallowed_tld()), ("test", None));
    assert_eq!("a.xlocal".parse::<Handle>().unwrap().disallowed_tld(), None);
    assert!(handle::INVALID_HANDLE.parse::<Handle>().unwrap().disallowed_tld().is_some());

    let whole: AtUri = "at://alice.test".parse().unwrap();
    assert_eq!((whole.collection(), whole.rkey(), whole.fragment()), (None, None, None));
    let pointer: AtUri = "at://alice.test#/a/b".parse().unwrap();
    assert_eq!(
        (pointer.authority(), pointer.collection(), pointer.fragment()),
        ("alice.test", None, Some("/a/b"))
    );

    let private: Language = "x-Latn-DE".parse().unwrap();
    assert_eq!((private.primary(), private.script(), private.region()), ("x", None, None));
    let extended: Language = "zh-cmn-Hans-CN-x-Latn".parse().unwrap();
    assert_eq!((extended.script(), extended.region()), (Some("Hans"), Some("CN")));
    let irregular: Language = "sgn-BE-FR".parse().unwrap();
    assert_eq!((irregular.primary(), irregular.region()), ("sgn", None));
}

#[test]
fn an_error_names_the_whole_and_the_part() {
    let error = "at://did:plc:/x".parse::<AtUri>().unwrap_err();
    assert_eq!((error.format(), error.part()), (Format::AtUri, Some(Format::Did)));
    assert_eq!(error.reason(), "its identifier must not be empty");
    let error = "nobody".parse::<AtIdentifier>().unwrap_err();
    assert_eq!((error.format(), error.part()), (Format::AtIdentifier, Some(Format::Handle)));
    assert!(size_of::<Result<(), SyntaxError>>() <= 24);
}
