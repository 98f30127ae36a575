//! Line to record (RFC 9309 §2.2, §2.2.4): comment, separator, key, value, and octets that make a
//! value unusable.
//!
//! Linear in the line; a record holds positions, not copies. This module does not build groups.

use crate::lines::Line;
use crate::notes::Code;
use crate::settings::{KnownKey, Role, Settings};
use crate::simd::{self, in_range};
use memchr::{memchr, memchr2};

/// The key number of a record whose name is not in the table.
pub const UNKNOWN: u16 = u16::MAX;

/// A line with a key and a value. Spans point into the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The line, counted from 1.
    pub line: u32,
    /// Where the line starts.
    pub line_start: u32,
    /// Where the key starts.
    pub key_start: u32,
    /// Where the key ends.
    pub key_end: u32,
    /// Where the value starts.
    pub value_start: u32,
    /// Where the value ends.
    pub value_end: u32,
    /// The number of its key, or [`UNKNOWN`].
    pub key: u16,
    /// Its effect on grouping.
    pub role: Role,
}

impl Record {
    /// The octets of the value.
    #[inline]
    pub fn value<'a>(&self, body: &'a [u8]) -> &'a [u8] {
        body.get(self.value_start as usize..self.value_end as usize).unwrap_or_default()
    }
}

/// Receives the notes of a parser run. [`Document::parse`] uses [`DiscardNotes`], so that parsing
/// does not pay for notes.
///
/// [`Document::parse`]: crate::Document::parse
pub trait NoteSink {
    /// Whether notes are used. If not, checks that only produce notes are skipped.
    const ENABLED: bool = true;

    /// Receives the note `code` on `line`.
    fn note(&mut self, code: Code, line: u32, start: usize, end: usize);
}

/// A sink that ignores all notes.
pub struct DiscardNotes;

impl NoteSink for DiscardNotes {
    const ENABLED: bool = false;

    #[inline(always)]
    fn note(&mut self, _: Code, _: u32, _: usize, _: usize) {}
}

#[inline]
fn is_space(octet: u8, settings: &Settings) -> bool {
    // WS = %x20 / %x09 (§2.2); AMB-10 for VT and FF. No octet above the space is whitespace.
    octet <= b' '
        && (matches!(octet, b' ' | b'\t')
            || (settings.switches.ascii_whitespace && matches!(octet, 0x0B | 0x0C)))
}

/// `start..end` without leading and trailing whitespace.
#[inline]
fn trim(body: &[u8], start: usize, end: usize, settings: &Settings) -> (usize, usize) {
    let mut content = body.get(start..end).unwrap_or_default();
    let before = content.len();
    while let [first, rest @ ..] = content {
        if !is_space(*first, settings) {
            break;
        }
        content = rest;
    }
    let start = start + before - content.len();
    while let [rest @ .., last] = content {
        if !is_space(*last, settings) {
            break;
        }
        content = rest;
    }
    (start, start + content.len())
}

/// Parses a line. `None` if it is not a record: empty, comment only, or not parseable.
#[inline]
pub fn record<L: NoteSink>(
    body: &[u8],
    line: Line,
    settings: &Settings,
    sink: &mut L,
) -> Option<Record> {
    let end = content_end(body, line, settings, sink);
    let name = match settings.name_at(body, line.start) {
        Some((known, length)) if line.start + length < end => Name {
            start: line.start,
            end: line.start + length,
            after: line.start + length + 1,
            known: Some(known),
        },
        _ => name(body, line, end, settings, sink)?,
    };
    let (mut value_start, mut value_end) = trim(body, name.after, end, settings);
    if value_start == value_end {
        (value_start, value_end) = (name.after, name.after); // an empty value is after its colon
    }
    if settings.switches.ascii_whitespace && L::ENABLED {
        let gaps = [(line.start, name.start), (name.end, value_start), (value_end, end)];
        let unusual = |&(from, to): &(usize, usize)| {
            body.get(from..to).is_some_and(|gap| memchr2(0x0B, 0x0C, gap).is_some())
        };
        if gaps.iter().any(unusual) {
            sink.note(Code::OddWhitespace, line.number, line.start, end);
        }
    }
    Some(Record {
        line: line.number,
        line_start: line.start as u32,
        key_start: name.start as u32,
        key_end: name.end as u32,
        value_start: value_start as u32,
        value_end: value_end as u32,
        key: name.known.map_or(UNKNOWN, |known| known.key),
        role: name.known.map_or(Role::Other, |known| known.role),
    })
}

/// Where the content of a line ends: before its comment (§2.2.3: `#` starts a comment at any
/// position, AMB-16), and where the profile truncates it.
#[inline]
fn content_end(body: &[u8], line: Line, settings: &Settings, sink: &mut impl NoteSink) -> usize {
    let mut end = line.end;
    if end - line.start > settings.max_line {
        end = line.start + settings.max_line;
        sink.note(Code::LongLine, line.number, end, line.end);
    }
    if settings.switches.cut_at_nul {
        if let Some(length) = memchr(0, body.get(line.start..end).unwrap_or_default()) {
            end = line.start + length;
            sink.note(Code::Nul, line.number, end, line.end);
        }
    }
    end.min(line.comment)
}

/// The name of a record at `start..end`; the value follows from `after` on.
struct Name {
    start: usize,
    end: usize,
    after: usize,
    known: Option<KnownKey>,
}

/// Parses the name of a record, with all tolerances.
fn name(
    body: &[u8],
    line: Line,
    end: usize,
    settings: &Settings,
    sink: &mut impl NoteSink,
) -> Option<Name> {
    let (line_start, number) = (line.start, line.number);
    let (start, end) = trim(body, line_start, end, settings);
    if start == end {
        return None;
    }
    let content = body.get(start..end)?;
    let colon = separator(content);
    let Some(gap) = colon.or_else(|| missing_colon(content, settings)) else {
        sink.note(Code::NoSeparator, number, start, end);
        return None;
    };
    let (key_start, key_end) = trim(body, start, start + gap, settings);
    if key_start == key_end {
        sink.note(Code::EmptyKey, number, start, end);
        return None;
    }
    if colon.is_none() {
        sink.note(Code::MissingColon, number, key_start, end);
    }
    let found = find_key(body, key_start, key_end, settings);
    match found {
        Some((_, true)) => sink.note(Code::PrefixKey, number, key_start, key_end),
        Some((known, _)) if !known.canonical => {
            sink.note(Code::Typo, number, key_start, key_end);
        }
        _ => {}
    }
    let known = found.map(|(known, _)| known);
    Some(Name { start: key_start, end: key_end, after: start + gap + 1, known })
}

/// The position of the first colon.
#[inline]
fn separator(content: &[u8]) -> Option<usize> {
    // Names are short: a scalar loop finds the colon faster than a vector search.
    let near = content.len().min(16);
    let found = content[..near].iter().position(|&octet| octet == b':');
    found.or_else(|| memchr(b':', &content[near..]).map(|length| near + length))
}

/// The position of the whitespace that is read as a colon (AMB-13).
#[cold]
fn missing_colon(content: &[u8], settings: &Settings) -> Option<usize> {
    let gap = two_words(content).filter(|_| settings.switches.missing_colon)?;
    find_key(content, 0, gap, settings).filter(|(known, _)| known.bare).map(|_| gap)
}

/// The end of the first of exactly two words (AMB-13).
fn two_words(content: &[u8]) -> Option<usize> {
    let blank = |octet: &u8| matches!(octet, b' ' | b'\t');
    let first = content.iter().position(blank)?;
    let second = first + content[first..].iter().position(|octet| !blank(octet))?;
    (!content[second..].iter().any(blank)).then_some(first)
}

/// Finds a known key. The flag says that it is only a prefix of the name.
#[inline]
fn find_key(
    body: &[u8],
    start: usize,
    end: usize,
    settings: &Settings,
) -> Option<(KnownKey, bool)> {
    if let Some(known) = settings.key(body, start, end) {
        return Some((known, false));
    }
    if !settings.switches.prefix_keys {
        return None;
    }
    settings.key_by_prefix(body.get(start..end)?).map(|known| (known, true))
}

/// The faults of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// A C0 control other than HTAB (§3, AMB-05).
    pub control: bool,
    /// SP or HTAB in the value (AMB-11).
    pub space: bool,
    /// Not UTF-8 (§2.2, AMB-06).
    pub not_utf8: bool,
}

/// Finds the faults of a value: one SIMD pass, and a second pass if it has unusual octets.
pub fn faults(value: &[u8]) -> Faults {
    let unusual = |octets| in_range(octets, 0, b' ') | in_range(octets, 0x80, 0xFF);
    if simd::find(value, 0, unusual) == value.len() {
        return Faults::default();
    }
    Faults {
        control: value.iter().any(|&octet| octet < b' ' && octet != b'\t'),
        space: value.iter().any(|&octet| octet == b' ' || octet == b'\t'),
        not_utf8: std::str::from_utf8(value).is_err(),
    }
}

impl Faults {
    /// The note for control characters, if there are any. The value is usable only if they are kept.
    pub fn control_code(self, settings: &Settings) -> Option<Code> {
        let kept = settings.switches.keep_controls;
        self.control.then_some(if kept { Code::ControlKept } else { Code::ControlCharacter })
    }

    /// Whether a user-agent value with these faults can name a crawler.
    pub fn usable_token(self, settings: &Settings) -> bool {
        self.control_code(settings) != Some(Code::ControlCharacter)
            && (!self.not_utf8 || settings.switches.keep_invalid_utf8)
    }

    /// Whether a path pattern with these faults is usable.
    pub fn usable_pattern(self, settings: &Settings) -> bool {
        self.usable_token(settings) && (!self.space || settings.switches.keep_spaces)
    }
}
