//! Ids: their form, their order, and what is refused.

use proptest::prelude::*;

use crate::limits::{ID_BYTES_MAX, URI_BYTES_MAX};
use crate::{DeliveryId, DigestError, MessageId, NativeId, Sha256, TextError, Uri, UuidError};

#[test]
fn an_id_has_its_bits_where_the_standard_puts_them() {
    let id = MessageId::new(0x0123_4567_89ab, [0xff; 10]);
    assert_eq!(id.to_string(), "01234567-89ab-7fff-bfff-ffffffffffff");
    assert_eq!(id.unix_millis(), Some(0x0123_4567_89ab));
    let id = MessageId::new(0, [0; 10]);
    assert_eq!(id.to_string(), "00000000-0000-7000-8000-000000000000");
    assert_eq!(MessageId::new(u64::MAX, [0; 10]).unix_millis(), Some((1 << 48) - 1));
}

#[test]
fn any_uuid_is_read_and_other_versions_are_told() {
    let v4: MessageId = "3D5A56F0-400B-4FBB-A89A-56F74F97F8AF".parse().unwrap();
    assert_eq!(v4.to_string(), "3d5a56f0-400b-4fbb-a89a-56f74f97f8af");
    assert!(!v4.is_v7());
    assert_eq!(v4.unix_millis(), None);
    let other_variant: DeliveryId = "01932e3a-7c1e-7000-c000-0123456789ab".parse().unwrap();
    assert!(!other_variant.is_v7());
}

#[test]
fn what_is_no_uuid_is_refused() {
    let cases = [
        "",
        "01932e3a",
        "01932e3a7c1e700080000123456789ab",
        "01932e3a-7c1e-7000-8000-0123456789a",
        "01932e3a-7c1e-7000-8000-0123456789abc",
        "01932e3a-7c1e-7000-80000-123456789ab",
        "01932e3g-7c1e-7000-8000-0123456789ab",
        "{01932e3a-7c1e-7000-8000-0123456789}",
        "01932e3a-7c1e-7000-8000-01234567é9a",
    ];
    for text in cases {
        assert_eq!(text.parse::<MessageId>(), Err(UuidError), "{text}");
    }
}

#[test]
fn opaque_ids_are_short_and_on_one_line() {
    assert!("x".repeat(ID_BYTES_MAX).parse::<NativeId>().is_ok());
    assert!(" é😀 at://did/x ".parse::<NativeId>().is_ok());
    assert_eq!("".parse::<NativeId>(), Err(TextError::Empty));
    let error = "x".repeat(ID_BYTES_MAX + 1).parse::<NativeId>().unwrap_err();
    assert_eq!(error, TextError::TooLong { bytes: 513, bytes_max: 512 });
    for found in ['\n', '\0', '\u{7f}', '\u{85}'] {
        assert_eq!(format!("a{found}").parse::<NativeId>(), Err(TextError::Control { found }));
    }
    assert!("x".repeat(URI_BYTES_MAX).parse::<Uri>().is_ok());
    assert!("x".repeat(URI_BYTES_MAX + 1).parse::<Uri>().is_err());
}

#[test]
fn digests_are_lower_case_hexadecimal() {
    let digest = Sha256::of(b"abc");
    let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(digest.to_string(), text);
    assert_eq!(text.parse(), Ok(digest));
    assert_eq!(Sha256::from_bytes(digest.to_bytes()), digest);
    for bad in ["", &text[1..], &format!("{text}0"), &text.to_uppercase(), &text.replace('b', "g")] {
        assert_eq!(bad.parse::<Sha256>(), Err(DigestError), "{bad}");
    }
}

proptest! {
    #[test]
    fn the_order_of_ids_follows_time(
        early in 0..(1_u64 << 48), late in 0..(1_u64 << 48), bits: [u8; 10], other_bits: [u8; 10],
    ) {
        let (first, second) = (MessageId::new(early, bits), MessageId::new(late, other_bits));
        prop_assert!(early == late || (first < second) == (early < late));
        prop_assert_eq!(first.to_string() < second.to_string(), first < second);
        prop_assert!(first.is_v7());
        prop_assert_eq!(first.unix_millis(), Some(early));
    }

    #[test]
    fn ids_survive_text_and_bytes(bytes: [u8; 16]) {
        let id = MessageId::from_bytes(bytes);
        prop_assert_eq!(id.to_bytes(), bytes);
        prop_assert_eq!(id.to_string().parse::<MessageId>().unwrap(), id);
        prop_assert_eq!(id.to_string().to_uppercase().parse::<MessageId>().unwrap(), id);
        let delivery = DeliveryId::from_bytes(bytes);
        prop_assert_eq!(delivery.to_string(), id.to_string());
    }
}
