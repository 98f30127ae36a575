//! The percent-encoding normal form in which paths and patterns are compared (RFC 9309 §2.2.2; RFC
//! 3986 §2, §6.2.2).
//!
//! A unit of the normal form is an octet or an escape: `%` and two hexadecimal digits (AMB-43). In
//! the compared form the digits of an escape have their highest bit set; no other octet has. Equal
//! octets are therefore equal units, and a search over octets never starts or ends inside an escape.
//! [`Comparison::to_readable`] clears the bits.
//!
//! Linear in the text. The encoding of an octet is a table lookup instead of a branch: whether an
//! octet is escaped is unpredictable, and a mispredicted branch costs more than the lookup. This
//! module does not parse URLs or patterns.

use crate::settings::Settings;
use memchr::memchr_iter;
use std::borrow::Cow;

/// The bit that marks an octet of the compared form as a digit of an escape.
pub const DIGIT_BIT: u8 = 0x80;

/// The form in which paths and patterns are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Comparison {
    /// Units of the normal form: no match starts or ends inside an escape.
    #[default]
    Units,
    /// Octets of the normal form (AMB-43).
    Octets,
    /// Octets of the path as it is written in the URL (AMB-46), without normal form and units.
    AsGiven,
}

impl Comparison {
    /// The form that the switches select.
    pub fn from_settings(settings: &Settings) -> Comparison {
        match (settings.switches.url_as_given, settings.switches.split_escapes) {
            (true, _) => Comparison::AsGiven,
            (false, true) => Comparison::Octets,
            (false, false) => Comparison::Units,
        }
    }

    /// A compared form without the marks of escape digits.
    pub fn to_readable(self, form: &[u8]) -> Vec<u8> {
        match self {
            Comparison::Units => form.iter().map(|octet| octet & !DIGIT_BIT).collect(),
            Comparison::Octets | Comparison::AsGiven => form.to_vec(),
        }
    }

    /// A path in normal form as it is compared: the inverse of [`Comparison::to_readable`].
    pub fn to_compared(self, path: &[u8]) -> Cow<'_, [u8]> {
        if self != Comparison::Units || !path.contains(&b'%') {
            return Cow::Borrowed(path);
        }
        let mut form = path.to_vec();
        for at in memchr_iter(b'%', path) {
            form.iter_mut().skip(at + 1).take(2).for_each(|digit| *digit |= DIGIT_BIT);
        }
        Cow::Owned(form)
    }

    /// The bits of a [`PackedUnit`] that are written.
    fn mask(self) -> PackedUnit {
        match self {
            Comparison::Units => PackedUnit::MAX,
            Comparison::Octets | Comparison::AsGiven => {
                u32::from_le_bytes([0xFF, !DIGIT_BIT, !DIGIT_BIT, 0xFF])
            }
        }
    }
}

const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// The part of a URL that an octet is in: it decides which of `/ ? = &` are delimiters (AMB-33).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Before the first `?`: `/` delimits; `=` and `&` are data.
    Path,
    /// After it: `=` and `&` delimit; `/` and `?` are data.
    Query,
    /// In a pattern after `*`: unknown, because the wildcard may have matched the `?`.
    Either,
}

/// The normal form of an octet: up to three octets, the first in the lowest byte, and their number
/// in the highest byte. Zero if the form depends on more than the octet and its part. Digits of an
/// escape have the [`DIGIT_BIT`].
type PackedUnit = u32;

// The form of a raw octet, by part; and of an octet that was escaped.
static RAW: [[PackedUnit; 256]; 3] =
    [unit_table(Some(Part::Path)), unit_table(Some(Part::Query)), unit_table(Some(Part::Either))];
static ESCAPED: [PackedUnit; 256] = unit_table(None);

/// The normal form of each raw octet of a part; with `None`, of each octet that was escaped.
const fn unit_table(part: Option<Part>) -> [PackedUnit; 256] {
    let mut table = [0; 256];
    let mut octet = 0;
    while octet < 256 {
        table[octet] = match (octet as u8, part) {
            (b'%' | b'#', Some(_)) | (b'?', Some(Part::Path | Part::Either)) => 0,
            (octet, _) if is_unreserved(octet) => literal_unit(octet),
            (b'/', Some(Part::Path | Part::Either)) => literal_unit(b'/'),
            (octet @ (b'=' | b'&'), Some(Part::Query | Part::Either)) => literal_unit(octet),
            (octet, _) => escaped_unit(octet),
        };
        octet += 1;
    }
    table
}

const fn literal_unit(octet: u8) -> PackedUnit {
    u32::from_le_bytes([octet, 0, 0, 1])
}

const fn escaped_unit(octet: u8) -> PackedUnit {
    let (high, low) = (HEX[octet as usize >> 4], HEX[octet as usize & 15]);
    u32::from_le_bytes([b'%', high | DIGIT_BIT, low | DIGIT_BIT, 3])
}

/// ALPHA / DIGIT / "-" / "." / "_" / "~" (RFC 3986 §2.3): equivalent to its escape in every part.
#[inline]
pub const fn is_unreserved(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'.' | b'_' | b'~')
}

// The value of each hexadecimal digit; above fifteen for all other octets.
static HEX_VALUES: [u8; 256] = hex_values();

const fn hex_values() -> [u8; 256] {
    let mut table = [u8::MAX; 256];
    let mut value = 0;
    while value < 16 {
        let digit = HEX[value as usize];
        table[digit as usize] = value;
        table[digit.to_ascii_lowercase() as usize] = value;
        value += 1;
    }
    table
}

/// Decodes the two hexadecimal digits at the start of `octets`.
#[inline]
fn decode_escape(octets: &[u8]) -> Option<u8> {
    let &[high, low, ..] = octets else { return None };
    let (high, low) = (HEX_VALUES[usize::from(high)], HEX_VALUES[usize::from(low)]);
    (high | low < 16).then_some(high << 4 | low & 15)
}

/// Writes the normal form into a buffer that is large enough for the longest form.
pub struct FormWriter<'a> {
    buffer: &'a mut [u8],
    at: usize,
    query: Option<usize>,
    mask: PackedUnit,
}

impl<'a> FormWriter<'a> {
    /// A writer for the form of `length` octets and a leading slash. It writes to the start of
    /// `scratch` and may leave other octets after [`FormWriter::end`].
    #[inline]
    pub fn new(scratch: &'a mut Vec<u8>, length: usize, comparison: Comparison) -> FormWriter<'a> {
        // An octet becomes at most three octets, and four octets are written at a time.
        let size = 3 * length + 4;
        if scratch.len() < size {
            scratch.resize(size, 0);
        }
        FormWriter { buffer: scratch, at: 0, query: None, mask: comparison.mask() }
    }

    /// The end of the form.
    pub fn end(&self) -> usize {
        self.at
    }

    /// The start of the query, after its `?`.
    pub fn query(&self) -> Option<usize> {
        self.query
    }

    /// Writes octets that are already in normal form.
    #[inline]
    pub fn push_literal(&mut self, octets: &[u8]) {
        let end = self.at + octets.len();
        self.buffer[self.at..end].copy_from_slice(octets);
        self.at = end;
    }

    #[inline(always)]
    fn push_unit(&mut self, unit: PackedUnit) {
        if let Some(four) = self.buffer[self.at..].first_chunk_mut() {
            *four = (unit & self.mask).to_le_bytes();
        }
        self.at += (unit >> 24) as usize;
    }

    /// Writes the form of `octets`, up to the first `#` if `ends` is true for it; returns the part at
    /// the end.
    #[inline]
    pub fn write(&mut self, octets: &[u8], mut part: Part, ends: impl Fn(u8) -> bool) -> Part {
        let mut rest = octets.iter();
        while let Some(&octet) = rest.next() {
            let unit = RAW[part as usize][usize::from(octet)];
            self.push_unit(unit);
            if unit != 0 {
                continue;
            }
            match octet {
                b'?' => {
                    self.push_unit(literal_unit(octet));
                    (part, self.query) = (Part::Query, Some(self.at));
                }
                octet if ends(octet) => return part,
                b'%' => match decode_escape(rest.as_slice()) {
                    // Escapes of unreserved octets are decoded; others are kept, in upper case.
                    Some(decoded) => {
                        self.push_unit(ESCAPED[usize::from(decoded)]);
                        rest = rest.as_slice()[2..].iter();
                    }
                    None => self.push_unit(escaped_unit(octet)),
                },
                octet => self.push_unit(escaped_unit(octet)),
            }
        }
        part
    }
}

/// Appends the normal form of `octets`; returns the part at the end.
pub fn push_normal_form(
    out: &mut Vec<u8>,
    octets: &[u8],
    part: Part,
    comparison: Comparison,
) -> Part {
    let start = out.len();
    out.resize(start + 3 * octets.len() + 4, 0);
    let mut writer =
        FormWriter { buffer: &mut out[start..], at: 0, query: None, mask: comparison.mask() };
    let part = writer.write(octets, part, |_| false);
    let end = start + writer.at;
    out.truncate(end);
    part
}

/// Appends a pattern in the form of profile google: hexadecimal digits in upper case, octets above
/// ASCII escaped.
///
/// An incomplete escape at the end of `octets` is kept as written; it matches the beginning of any
/// escape.
pub fn push_minimal_form(out: &mut Vec<u8>, octets: &[u8], comparison: Comparison) {
    let digit = if comparison == Comparison::Units { DIGIT_BIT } else { 0 };
    let mut at = 0;
    while let Some(&octet) = octets.get(at) {
        at += 1;
        if octet == b'%' {
            out.push(octet);
            match (octets.get(at), decode_escape(&octets[at..])) {
                (_, Some(_)) => {
                    let digits = octets[at..at + 2].iter();
                    out.extend(digits.map(|octet| octet.to_ascii_uppercase() | digit));
                    at += 2;
                }
                (Some(&first), None) if at + 1 == octets.len() && first.is_ascii_hexdigit() => {
                    out.push(first | digit);
                    at += 1;
                }
                _ => {}
            }
            continue;
        }
        match octet {
            0x80.. => {
                let unit = escaped_unit(octet) & comparison.mask();
                out.extend_from_slice(&unit.to_le_bytes()[..3]);
            }
            _ => out.push(octet),
        }
    }
}
