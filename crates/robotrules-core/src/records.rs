//! Line to record (RFC 9309 §2.2, §2.2.4): comment, separator, key, value, and what a value may hold.
//!
//! It does not know groups. A record keeps only positions; nothing is copied.

use crate::lines::Line;
use crate::notes::Code;
use crate::settings::{KnownKey, Role, Settings};
use crate::simd::{self, within};
use memchr::{memchr, memchr2};

/// The key number of a record whose name the table does not know.
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
    /// Which known key it is, or [`UNKNOWN`].
    pub key: u16,
    /// What it does to grouping.
    pub role: Role,
}

impl Record {
    /// The value's octets.
    #[inline]
    pub fn value<'a>(&self, body: &'a [u8]) -> &'a [u8] {
        body.get(self.value_start as usize..self.value_end as usize).unwrap_or_default()
    }
}

/// Hears about every tolerance while a file is read. The parser's own listener ignores them, so
/// that parsing pays nothing for notes nobody asked for.
pub trait Listener {
    /// Whether anything is done with notes; what only a note needs is not even looked at if not.
    const LISTENS: bool = true;

    /// Something was tolerated or not usable on `line`.
    fn note(&mut self, code: Code, line: u32, start: usize, end: usize);
}

/// A listener that does not listen.
pub struct Deaf;

impl Listener for Deaf {
    const LISTENS: bool = false;

    #[inline(always)]
    fn note(&mut self, _: Code, _: u32, _: usize, _: usize) {}
}

#[inline]
fn is_space(octet: u8, settings: &Settings) -> bool {
    // WS = %x20 / %x09 (§2.2); AMB-10 for the other two. No octet past the space is white.
    octet <= b' '
        && (matches!(octet, b' ' | b'\t')
            || (settings.switches.ascii_whitespace && matches!(octet, 0x0B | 0x0C)))
}

/// `start..end` without whitespace at either side.
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

/// Reads one line. `None` for a line that is no record: empty, comment only, or not parseable.
#[inline]
pub fn record<L: Listener>(
    body: &[u8],
    line: Line,
    settings: &Settings,
    listener: &mut L,
) -> Option<Record> {
    let end = content_end(body, line, settings, listener);
    let name = match settings.name_at(body, line.start) {
        Some((known, length)) if line.start + length < end => Name {
            start: line.start,
            end: line.start + length,
            after: line.start + length + 1,
            known: Some(known),
        },
        _ => name(body, line, end, settings, listener)?,
    };
    let (mut value_start, mut value_end) = trim(body, name.after, end, settings);
    if value_start == value_end {
        (value_start, value_end) = (name.after, name.after); // an empty value is behind its colon
    }
    if settings.switches.ascii_whitespace && L::LISTENS {
        let gaps = [(line.start, name.start), (name.end, value_start), (value_end, end)];
        let odd = |&(from, to): &(usize, usize)| {
            body.get(from..to).is_some_and(|gap| memchr2(0x0B, 0x0C, gap).is_some())
        };
        if gaps.iter().any(odd) {
            listener.note(Code::OddWhitespace, line.number, line.start, end);
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

/// Where the content of a line ends: before its comment (§2.2.3: `#` starts one wherever it stands,
/// AMB-16), and where a profile cuts it.
#[inline]
fn content_end(
    body: &[u8],
    line: Line,
    settings: &Settings,
    listener: &mut impl Listener,
) -> usize {
    let mut end = line.end;
    if end - line.start > settings.max_line {
        end = line.start + settings.max_line;
        listener.note(Code::LongLine, line.number, end, line.end);
    }
    if settings.switches.cut_at_nul {
        if let Some(length) = memchr(0, body.get(line.start..end).unwrap_or_default()) {
            end = line.start + length;
            listener.note(Code::Nul, line.number, end, line.end);
        }
    }
    end.min(line.comment)
}

/// The name of a record: `start..end`, the text of the value from `after` on.
struct Name {
    start: usize,
    end: usize,
    after: usize,
    known: Option<KnownKey>,
}

/// Reads the name of a record, with all that people write for it.
fn name(
    body: &[u8],
    line: Line,
    end: usize,
    settings: &Settings,
    listener: &mut impl Listener,
) -> Option<Name> {
    let (line_start, number) = (line.start, line.number);
    let (start, end) = trim(body, line_start, end, settings);
    if start == end {
        return None;
    }
    let content = body.get(start..end)?;
    let colon = separator(content);
    let Some(gap) = colon.or_else(|| missing_colon(content, settings)) else {
        listener.note(Code::NoSeparator, number, start, end);
        return None;
    };
    let (key_start, key_end) = trim(body, start, start + gap, settings);
    if key_start == key_end {
        listener.note(Code::EmptyKey, number, start, end);
        return None;
    }
    if colon.is_none() {
        listener.note(Code::MissingColon, number, key_start, end);
    }
    let found = find_key(body, key_start, key_end, settings);
    match found {
        Some((_, true)) => listener.note(Code::PrefixKey, number, key_start, key_end),
        Some((known, _)) if !known.canonical => {
            listener.note(Code::Typo, number, key_start, key_end);
        }
        _ => {}
    }
    let known = found.map(|(known, _)| known);
    Some(Name { start: key_start, end: key_end, after: start + gap + 1, known })
}

/// Where the first colon stands.
#[inline]
fn separator(content: &[u8]) -> Option<usize> {
    // Names are short: a plain loop finds their colon before a vector search has warmed up.
    let near = content.len().min(16);
    let found = content[..near].iter().position(|&octet| octet == b':');
    found.or_else(|| memchr(b':', &content[near..]).map(|length| near + length))
}

/// Where the blank stands that is read as a colon (AMB-13).
#[cold]
fn missing_colon(content: &[u8], settings: &Settings) -> Option<usize> {
    let gap = two_words(content).filter(|_| settings.switches.missing_colon)?;
    find_key(content, 0, gap, settings).filter(|(known, _)| known.bare).map(|_| gap)
}

/// Where the first of exactly two words ends (AMB-13).
fn two_words(content: &[u8]) -> Option<usize> {
    let blank = |octet: &u8| matches!(octet, b' ' | b'\t');
    let first = content.iter().position(blank)?;
    let second = first + content[first..].iter().position(|octet| !blank(octet))?;
    (!content[second..].iter().any(blank)).then_some(first)
}

/// A known key, and whether only its beginning is known.
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

/// What is wrong with a value, if anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// A C0 control other than HTAB (§3, AMB-05).
    pub control: bool,
    /// SP or HTAB inside (AMB-11).
    pub space: bool,
    /// Not UTF-8 (§2.2, AMB-06).
    pub not_utf8: bool,
}

/// Looks at every octet of a value once.
pub fn faults(value: &[u8]) -> Faults {
    let odd = |octets| within(octets, 0, b' ') | within(octets, 0x80, 0xFF);
    if simd::find(value, 0, odd) == value.len() {
        return Faults::default();
    }
    Faults {
        control: value.iter().any(|&octet| octet < b' ' && octet != b'\t'),
        space: value.iter().any(|&octet| octet == b' ' || octet == b'\t'),
        not_utf8: std::str::from_utf8(value).is_err(),
    }
}

impl Faults {
    /// What to say of control characters, if there are any; only if kept is the value usable.
    pub fn control_code(self, settings: &Settings) -> Option<Code> {
        let kept = settings.switches.keep_controls;
        self.control.then_some(if kept { Code::ControlKept } else { Code::ControlCharacter })
    }

    /// Whether a user-agent value with these faults still names anybody.
    pub fn usable_token(self, settings: &Settings) -> bool {
        self.control_code(settings) != Some(Code::ControlCharacter)
            && (!self.not_utf8 || settings.switches.keep_invalid_utf8)
    }

    /// Whether a path pattern with these faults is still a pattern.
    pub fn usable_pattern(self, settings: &Settings) -> bool {
        self.usable_token(settings) && (!self.space || settings.switches.keep_spaces)
    }
}
