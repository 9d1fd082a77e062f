//! Frames: what stands around a document.

use dialect::Name;
use gateway::{Answer, Code, Problem, Token};
use json::{Limits, Scan, Shallow};
use message::{DeliveryId, Skimmed};
use smol_str::SmolStr;

/// Bytes of a reference at most.
const REFERENCE_BYTES_MAX: usize = 256;

/// A frame that was looked at; its document was not read.
#[derive(Debug, Default)]
pub(super) struct Frame<'a> {
    text: &'a str,
    op: &'a str,
    /// What the peer calls the frame, as it wrote it.
    reference: Option<&'a str>,
    dialect: Option<&'a str>,
    document: Option<&'a str>,
    delivery: Option<&'a str>,
    has_wishes: bool,
}

/// A frame of the kinds that come in great numbers and that says nothing unusual, read in one pass.
#[derive(Debug)]
pub(super) struct Ordinary<'a> {
    /// What the peer calls the frame, as it wrote it.
    pub(super) reference: Option<&'a str>,
    pub(super) what: What<'a>,
}

/// What an ordinary frame is for.
#[derive(Debug)]
pub(super) enum What<'a> {
    /// It sends an ordinary document.
    Send(Skimmed<'a>),
    /// It says that a delivery arrived.
    Ack(DeliveryId),
}

impl<'a> Ordinary<'a> {
    /// Reads a frame; nothing if it must be looked at.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let mut scan = Scan::of(text, Limits::DOCUMENT)?;
        let (mut op, mut reference, mut dialect) = ("", None, None);
        let (mut document, mut delivery) = (None, None);
        scan.object(|scan, key| {
            match key.as_bytes() {
                b"op" => op = scan.string()?,
                b"ref" => {
                    let ((), written) = scan.with_text(|scan| match scan.is_string() {
                        true => scan.skip_string(),
                        false => scan.number().map(drop),
                    })?;
                    reference = Some(written.text);
                }
                b"dialect" => dialect = Some(scan.string()?),
                b"document" => document = Some(message::skim_value(scan)?),
                b"delivery" => delivery = Some(scan.string()?),
                _ => return None,
            }
            Some(())
        })?;
        scan.end()?;
        if reference.is_some_and(|reference| reference.len() > REFERENCE_BYTES_MAX) {
            return None;
        }
        let is_ours = dialect.is_none_or(|dialect| dialect == Name::Convoke.name());
        let what = match (op, document, delivery) {
            ("send", Some(document), None) if is_ours => What::Send(document),
            ("ack", None, Some(delivery)) if dialect.is_none() => What::Ack(delivery.parse().ok()?),
            _ => return None,
        };
        Some(Ordinary { reference, what })
    }
}

impl<'a> Frame<'a> {
    /// Looks at a frame.
    pub(super) fn read(text: &'a str) -> Result<Self, Problem> {
        let wrong = |_| Problem::new(Code::NotJson, "a frame is a JSON object");
        let mut frame = Frame { text, ..Frame::default() };
        let mut members = Shallow::of(text).map_err(wrong)?;
        while let Some((key, value)) = members.next_member().map_err(wrong)? {
            let field = match key {
                "op" => {
                    frame.op = plain(value).unwrap_or_default();
                    continue;
                }
                "ref" => &mut frame.reference,
                "dialect" => &mut frame.dialect,
                "document" => &mut frame.document,
                "delivery" => &mut frame.delivery,
                _ => {
                    frame.has_wishes = true;
                    continue;
                }
            };
            *field = Some(value);
        }
        let is_scalar =
            |text: &str| text.starts_with(['"', '-']) || text.starts_with(|c: char| c.is_ascii_digit());
        let is_good = |text: &&str| {
            text.len() <= REFERENCE_BYTES_MAX
                && is_scalar(text)
                && json::parse_str(text, Limits::DOCUMENT).is_ok()
        };
        if frame.reference.is_some_and(|text| !is_good(&text)) {
            let detail = format!("`ref` is a string or a number of at most {REFERENCE_BYTES_MAX} bytes");
            return Err(Problem::bad_request(detail));
        }
        Ok(frame)
    }

    /// Returns what the frame is for.
    pub(super) fn op(&self) -> &'a str {
        self.op
    }

    /// Returns what the peer calls it, as it wrote it.
    pub(super) fn reference(&self) -> Option<&'a str> {
        self.reference
    }

    /// Returns the document, as it was written.
    pub(super) fn document(&self) -> Result<&'a str, Problem> {
        self.document.ok_or_else(|| Problem::bad_request("`send` wants a `document`"))
    }

    /// Returns the dialect that is named.
    pub(super) fn dialect(&self) -> Result<Option<Name>, Problem> {
        match self.dialect {
            None => Ok(Some(Name::Convoke)),
            Some(value) => gateway::dialect_of(plain(value).unwrap_or_default()),
        }
    }

    /// Returns the delivery that it is about.
    pub(super) fn delivery(&self) -> Result<&'a str, Problem> {
        let delivery = self.delivery.and_then(plain);
        delivery.ok_or_else(|| Problem::bad_request(format!("`{}` wants a `delivery`", self.op)))
    }

    /// Returns everything else that it says.
    pub(super) fn fields(&self) -> Result<gateway::Fields<'a>, Problem> {
        gateway::fields(self.text.as_bytes())
    }

    /// Returns the token of a frame that shows one.
    pub(super) fn token(&self) -> Result<Option<Token>, Problem> {
        if self.op != "auth" {
            return Ok(None);
        }
        Ok(self.fields()?.text("token")?.and_then(|token| token.parse().ok()))
    }

    /// Tells whether it says more than its reference, its dialect and its document.
    pub(super) fn has_wishes(&self) -> bool {
        self.has_wishes
    }
}

/// Returns a string that has no escapes.
fn plain(value: &str) -> Option<&str> {
    let inner = value.strip_prefix('"')?.strip_suffix('"')?;
    (!inner.contains('\\')).then_some(inner)
}

/// Begins an answer to a frame.
pub(super) fn begin(op: &str, reference: Option<&str>) -> Answer {
    let answer = Answer::with_capacity(256).text("op", op);
    match reference {
        Some(reference) => answer.raw("ref", reference),
        None => answer,
    }
}

/// Writes what went wrong with a frame or a delivery.
pub(super) fn error(reference: Option<&str>, delivery: Option<&str>, problem: &Problem) -> String {
    begin("error", reference).maybe("delivery", delivery).members(&problem.to_value()).end()
}

/// Writes a receipt.
pub(super) fn receipt(reference: Option<&str>, receipt: &message::Receipt) -> String {
    begin("receipt", reference).members_of(&receipt.to_json()).end()
}

/// Writes the short form of a receipt. There is one for every message, so no formatter is asked.
pub(super) fn brief(reference: Option<&str>, id: message::MessageId, stage: &str, duplicate: bool) -> String {
    let mut text = String::with_capacity(128 + reference.map_or(0, str::len));
    text.push_str("{\"op\":\"receipt\",");
    if let Some(reference) = reference {
        text.push_str("\"ref\":");
        text.push_str(reference);
        text.push(',');
    }
    text.push_str("\"id\":\"");
    id.push_to(&mut text);
    text.push_str("\",\"stage\":\"");
    text.push_str(stage);
    text.push_str(if duplicate { "\",\"duplicate\":true}" } else { "\",\"duplicate\":false}" });
    text
}

/// Writes one receipt for several messages: all that were sent up to a frame and are not told of by themselves.
pub(super) fn together(upto: Option<&str>, count: u64, id: message::MessageId) -> String {
    let mut text = String::with_capacity(128 + upto.map_or(0, str::len));
    text.push_str("{\"op\":\"receipts\",");
    if let Some(upto) = upto {
        text.push_str("\"upto\":");
        text.push_str(upto);
        text.push(',');
    }
    text.push_str("\"count\":");
    text.push_str(&count.to_string());
    text.push_str(",\"stage\":\"stored\",\"id\":\"");
    id.push_to(&mut text);
    text.push_str("\"}");
    text
}

/// Returns an owned copy of what a peer calls a frame.
pub(super) fn owned(reference: Option<&str>) -> Option<SmolStr> {
    reference.map(SmolStr::new)
}
