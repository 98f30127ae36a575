//! Bytes to lines (RFC 9309 §2.2, §2.5): encoding, byte order mark, CR / LF / CRLF, size limit.
//!
//! Linear in the body; lines are spans of the body, not copies. This module does not parse records.

use crate::notes::Code;
use crate::settings::Settings;
use memchr::memchr;

/// How many octets after the size limit a line that starts before it may end (AMB-18).
pub const SLACK: usize = 16 * 1024;

const BOM: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// The body to parse: a received file after decoding, truncation and byte order mark.
#[derive(Clone, Debug)]
pub struct Preparation {
    /// The octets to parse, if they differ from the received ones.
    pub octets: Option<Vec<u8>>,
    /// Where the first line starts: after the byte order mark, if any.
    pub first: usize,
    /// The note on the encoding, if any.
    pub encoding: Option<Code>,
    /// Whether octets after the limit were dropped.
    pub cut: bool,
}

/// Handles encoding, byte order mark and size limit.
pub fn prepare(received: &[u8], settings: &Settings) -> Preparation {
    let window = settings.max_bytes + SLACK;
    if settings.switches.decode_utf16 {
        if let Some(big_endian) = utf16_mark(received) {
            // A 16-bit code unit becomes at least one octet, so this many always fill the window.
            let units = &received[2..received.len().min(2 + 2 * window)];
            let mut octets = from_utf16(units, big_endian);
            let cut = octets.len() > window || received.len() > 2 + 2 * window;
            octets.truncate(window);
            let (octets, encoding) = (Some(octets), Some(Code::NotUtf8));
            return Preparation { octets, first: 0, encoding, cut };
        }
    }
    let cut = received.len() > window;
    // §2.3 requires UTF-8 as defined by RFC 3629, whose §6 allows the mark as a signature (AMB-07).
    let mark = BOM.iter().zip(received).take_while(|(bom, octet)| bom == octet).count();
    let (first, encoding) = match mark {
        3 => (3, Some(Code::Bom)),
        1 | 2 if settings.switches.cut_bom => (mark, Some(Code::CutBom)),
        _ => (0, None),
    };
    Preparation { octets: cut.then(|| received[..window].to_vec()), first, encoding, cut }
}

/// `Some(true)` for a big-endian mark, `Some(false)` for a little-endian mark, `None` for UTF-32.
fn utf16_mark(received: &[u8]) -> Option<bool> {
    match received {
        [0xFF, 0xFE, 0, 0, ..] => None,
        [0xFE, 0xFF, ..] => Some(true),
        [0xFF, 0xFE, ..] => Some(false),
        _ => None,
    }
}

fn from_utf16(units: &[u8], big_endian: bool) -> Vec<u8> {
    let units = units.chunks_exact(2).map(|pair| match big_endian {
        true => u16::from_be_bytes([pair[0], pair[1]]),
        false => u16::from_le_bytes([pair[0], pair[1]]),
    });
    let text: String = char::decode_utf16(units).map(|c| c.unwrap_or('\u{FFFD}')).collect();
    text.into_bytes()
}

/// A physical line: octets `start..end`, without its terminator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number, counted from 1.
    pub number: u32,
    /// Where it starts.
    pub start: usize,
    /// Where it ends, before CR, LF or CRLF.
    pub end: usize,
    /// Where its comment starts; `end` if it has none.
    pub comment: usize,
}

/// Why iteration over lines ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The end of the file.
    Whole,
    /// The size limit: lines from this offset on were not read.
    Limit(usize),
    /// An incomplete last line, which is not used: its offset and its number.
    Cut(usize, u32),
}

/// An iterator over the lines of a body.
pub struct Lines<'a> {
    octets: &'a [u8],
    next: usize,
    number: u32,
    limit: usize,
    complete: bool,
    lf: NextOctet,
    cr: NextOctet,
    hash: NextOctet,
    /// Why iteration ended; valid after the last line.
    pub ending: Ending,
}

/// The next position of an octet, cached: a line without the octet costs no search, and a file of
/// lone CRs is not searched for LF at every CR.
struct NextOctet {
    octet: u8,
    at: Option<usize>,
}

impl NextOctet {
    #[inline]
    fn at_or_after(&mut self, octets: &[u8], start: usize) -> usize {
        match self.at {
            Some(at) if at >= start => at,
            _ => self.search(octets, start),
        }
    }

    fn search(&mut self, octets: &[u8], start: usize) -> usize {
        let found = memchr(self.octet, octets.get(start..).unwrap_or_default());
        let at = found.map_or(usize::MAX, |length| start + length);
        self.at = Some(at);
        at
    }
}

impl<'a> Lines<'a> {
    /// The lines of `octets` from `first` on. `complete`: the last octet is the last of the file.
    pub fn new(octets: &'a [u8], first: usize, limit: usize, complete: bool) -> Lines<'a> {
        let next = |octet| NextOctet { octet, at: None };
        let (lf, cr, hash) = (next(b'\n'), next(b'\r'), next(b'#'));
        let ending = Ending::Whole;
        Lines { octets, next: first, number: 0, limit, complete, lf, cr, hash, ending }
    }
}

impl Iterator for Lines<'_> {
    type Item = Line;

    #[inline]
    fn next(&mut self) -> Option<Line> {
        let start = self.next;
        let rest = self.octets.get(start..)?;
        if start >= self.limit {
            if !rest.is_empty() || !self.complete {
                self.ending = Ending::Limit(start);
            }
            self.next = usize::MAX;
            return None;
        }
        let lf = self.lf.at_or_after(self.octets, start);
        let cr = self.cr.at_or_after(self.octets, start);
        let mut end = lf.min(cr);
        self.next = match end {
            usize::MAX => usize::MAX,
            _ if cr.wrapping_add(1) == lf => lf + 1,
            _ => end + 1,
        };
        if end == usize::MAX {
            if rest.is_empty() {
                return None;
            }
            if !self.complete {
                // A truncated rule can mean the opposite of the complete rule (AMB-12, AMB-18).
                self.ending = Ending::Cut(start, self.number + 1);
                return None;
            }
            end = self.octets.len();
        }
        self.number += 1;
        let comment = self.hash.at_or_after(self.octets, start).min(end);
        Some(Line { number: self.number, start, end, comment })
    }
}
