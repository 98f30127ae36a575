//! The paths of many URLs: in one text with a URL per line, or in the rows of a column.
//!
//! The URLs of a batch are mostly of one origin and in normal form. The origin is therefore compared
//! with that of an earlier URL instead of parsed, and a path is checked 32 octets at a time, across
//! the end of its URL. All other URLs are parsed as single URLs.
//!
//! Linear in the text, no allocation for paths in normal form. This module does not match rules.

use crate::normalize::Comparison;
use crate::origin;
use crate::simd::{self, is, Lanes};
use crate::url_path::{self, not_common_in_path, not_in_query, Path};

/// A URL of a column: a text that contains it, and where it starts and ends. What is around it in the
/// text does not matter; a long text is faster, because whole blocks can be loaded.
pub type Row<'a> = (&'a [u8], usize, usize);

/// Many URLs.
pub trait Batch {
    /// Calls `take` with the path of every URL, in order.
    fn each_path(self, comparison: Comparison, take: impl FnMut(Path<'_>));
}

/// URLs in one text. Newlines separate the lines: there is one line more than newlines.
pub struct Lines<'a>(pub &'a [u8]);

/// URLs as the rows of a column, mostly of one origin.
pub struct Rows<I>(pub I);

/// The origin of a URL, if every URL that starts with it and a `/` has its path after it.
fn common_origin((text, start, end): Row<'_>) -> &[u8] {
    let url = &text[start..end];
    match origin::scheme_and_authority(url) {
        Some((origin, _)) if !origin[..4].iter().any(u8::is_ascii_uppercase) => origin,
        _ => &[],
    }
}

impl Batch for Lines<'_> {
    #[inline(always)]
    fn each_path(self, comparison: Comparison, mut take: impl FnMut(Path<'_>)) {
        let Lines(lines) = self;
        let mut paths = Paths { comparison, scratch: Vec::new(), origin: &lines[..0] };
        let mut at = 0;
        loop {
            let (path, end) = paths.parse::<NewlineEnds>((lines, at, lines.len()));
            take(path);
            if end == lines.len() {
                return;
            }
            at = end + 1;
        }
    }
}

impl<'a, I: Iterator<Item = Row<'a>>> Batch for Rows<I> {
    #[inline(always)]
    fn each_path(self, comparison: Comparison, mut take: impl FnMut(Path<'_>)) {
        let mut rows = self.0.peekable();
        let origin = rows.peek().map_or(&[][..], |&row| common_origin(row));
        let mut paths = Paths { comparison, scratch: Vec::new(), origin };
        for row in rows {
            take(paths.parse::<KnownEnds>(row).0);
        }
    }
}

/// How the end of a URL is found.
trait Ends {
    /// Whether the end of a row is the end of the URL; otherwise a newline ends it.
    const KNOWN: bool;
}

struct NewlineEnds;

impl Ends for NewlineEnds {
    const KNOWN: bool = false;
}

struct KnownEnds;

impl Ends for KnownEnds {
    const KNOWN: bool = true;
}

/// The state of a batch.
struct Paths<'a> {
    comparison: Comparison,
    scratch: Vec<u8>,
    // The origin of the last URL that was parsed as a single URL.
    origin: &'a [u8],
}

impl<'a> Paths<'a> {
    /// The path of a URL, and where the URL ends.
    #[inline(always)]
    fn parse<E: Ends>(&mut self, (text, at, limit): Row<'a>) -> (Path<'_>, usize) {
        let (origin, comparison) = (self.origin, self.comparison);
        let start = at + origin.len();
        // Without an origin, two slashes would start an authority (RFC 3986 §4.2).
        let no_origin = origin.is_empty() && text.get(start + 1) == Some(&b'/');
        let known = comparison != Comparison::AsGiven
            && start < limit
            && starts_with_origin(&text[at..limit], origin)
            && text.get(start) == Some(&b'/')
            && !no_origin;
        let plain = if known { plain_path::<E>(text, start, limit) } else { Err(0) };
        match plain {
            Ok(path) => (path, path.text.len()),
            Err(plain) if known => {
                let end = url_end::<E>(text, start + plain, limit);
                let given = &text[start..end];
                (url_path::normalize_path(given, plain, comparison, &mut self.scratch), end)
            }
            Err(_) => {
                let end = url_end::<E>(text, at, limit);
                let url = &text[at..end];
                let (path, before) = url_path::path_and_origin(url, comparison, &mut self.scratch);
                self.origin = before.map_or(origin, |before| &url[..before]);
                (path, end)
            }
        }
    }
}

#[cold]
#[inline(never)]
fn url_end<E: Ends>(text: &[u8], from: usize, limit: usize) -> usize {
    match E::KNOWN {
        true => limit,
        false => simd::find(text, from, |octets| is(octets, b'\n')),
    }
}

/// The bits of a block of 32 octets at and after the end of the URL.
#[inline(always)]
fn bits_after<E: Ends>(from: usize, limit: usize) -> u32 {
    match E::KNOWN && limit - from < 32 {
        true => u32::MAX << (limit - from),
        false => 0,
    }
}

/// The path at `start`, if path and query are in normal form up to the end of the URL. Otherwise
/// the error holds how many octets of the path are in that form.
#[inline(always)]
fn plain_path<E: Ends>(text: &[u8], start: usize, limit: usize) -> Result<Path<'_>, usize> {
    let (mut from, mut dots, mut slash_before) = (start, 0, 0);
    let path_end = loop {
        let block = load_block(text, from).ok_or(0_usize)?;
        let stops = bitmask(block, not_common_in_path) | bits_after::<E>(from, limit);
        let slashes = bitmask(block, |octets| is(octets, b'/'));
        // A segment that starts with a dot may be a dot segment.
        let before_stop = stops.wrapping_sub(1) & !stops;
        let segments = slashes << 1 | slash_before;
        dots |= segments & bitmask(block, |octets| is(octets, b'.')) & before_stop;
        if stops != 0 {
            break from + stops.trailing_zeros() as usize;
        }
        slash_before = slashes >> 31;
        from += 32;
    };
    let mut end = path_end;
    let has_query = !(E::KNOWN && path_end == limit) && text[path_end] == b'?';
    if has_query {
        from = path_end + 1;
        end = loop {
            let block = load_block(text, from).ok_or(0_usize)?;
            let stops = bitmask(block, not_in_query) | bits_after::<E>(from, limit);
            if stops != 0 {
                break from + stops.trailing_zeros() as usize;
            }
            from += 32;
        };
    }
    let ends_here = if E::KNOWN { end == limit } else { text[end] == b'\n' };
    if dots != 0 || !ends_here {
        return Err(if dots == 0 { path_end - start } else { 0 });
    }
    let first = u64::from_le_bytes(*text[start..].first_chunk().ok_or(0_usize)?);
    let last = u64::from_le_bytes(*text[..end].last_chunk().ok_or(0_usize)?);
    // Without a query, this is past the end of the text.
    let query = path_end + 1;
    Ok(Path { text: &text[..end], start, query, first, last })
}

/// Loads 32 octets, if there are that many.
#[inline(always)]
fn load_block(octets: &[u8], from: usize) -> Option<[Lanes; 2]> {
    let (halves, _) = octets[from..].first_chunk::<32>()?.as_chunks::<16>();
    let &[low, high] = halves else { return None };
    Some([Lanes::new(low), Lanes::new(high)])
}

/// The bit mask of the octets of a block of the class `class`, the first in the lowest bit.
#[inline(always)]
fn bitmask([low, high]: [Lanes; 2], class: impl Fn(Lanes) -> Lanes) -> u32 {
    class(low).to_bitmask() | class(high).to_bitmask() << 16
}

/// Whether `octets` starts with `origin`, which usually has 16 to 32 octets.
#[inline(always)]
fn starts_with_origin(octets: &[u8], origin: &[u8]) -> bool {
    let Some(octets) = octets.get(..origin.len()) else { return false };
    let ends =
        |octets: &[u8]| octets.first_chunk::<16>().copied().zip(octets.last_chunk::<16>().copied());
    match (ends(octets), ends(origin)) {
        (Some(one), Some(other)) if origin.len() <= 32 => one == other,
        _ => octets == origin,
    }
}
