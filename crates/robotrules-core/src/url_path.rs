//! URL to path, in the percent-encoding normal form of `normalize.rs` (RFC 9309 §2.2.2; RFC 3986
//! §5.2.4, §6.2.2).
//!
//! Only path and query of a URL are matched (REP-2.2.2-26). Linear in the URL; nothing is copied if
//! the path is already in normal form, which sixteen SIMD lanes check. This module does not match.

use crate::normalize::{Comparison, FormWriter, Part};
use crate::settings::Settings;
use crate::simd::{self, first_word, in_range, is, last_word, Lanes};
use memchr::{memchr, memchr3, memmem};

/// ALPHA / DIGIT / "-" / "." / "_", and "/", which is between "." and "0".
#[inline(always)]
fn common(octets: Lanes) -> Lanes {
    in_range(octets | Lanes::splat(0x20), b'a', b'z')
        | in_range(octets, b'-', b'9')
        | is(octets, b'_')
}

/// The same and "~".
#[inline(always)]
fn unreserved_or_slash(octets: Lanes) -> Lanes {
    common(octets) | is(octets, b'~')
}

/// The octets to escape in a path, and "~", which is rare: one comparison less.
#[inline(always)]
pub fn not_common_in_path(octets: Lanes) -> Lanes {
    !common(octets)
}

/// The octets to escape in a path.
#[inline(always)]
pub fn not_in_path(octets: Lanes) -> Lanes {
    !unreserved_or_slash(octets)
}

/// The octets to escape in a query.
#[inline(always)]
pub fn not_in_query(octets: Lanes) -> Lanes {
    let delimits = is(octets, b'=') | is(octets, b'&');
    !(unreserved_or_slash(octets) | delimits) | is(octets, b'/')
}

/// Path and query of a URL in the form in which patterns are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path<'a> {
    /// A text that ends with path and query: the URL without its fragment, or only these two.
    pub text: &'a [u8],
    /// Where the path starts in the text, with a `/`.
    pub start: usize,
    /// Where the query starts in the text, after its `?`; past the end without a query. In the
    /// normal form the only raw `?` is the delimiter.
    pub query: usize,
    /// The first eight octets as a number, the first lowest; zeros after the end. In a batch the
    /// octets after the end are arbitrary, so that comparisons also check the length.
    pub first: u64,
    /// The last eight octets as a number, the last highest; padded in the same way.
    pub last: u64,
}

impl<'a> Path<'a> {
    /// A path that is already in the compared form.
    pub fn new(text: &'a [u8]) -> Path<'a> {
        let query = simd::find(text, 0, |octets| is(octets, b'?')) + 1;
        Path { text, start: 0, query, first: first_word(text), last: last_word(text) }
    }

    /// The path in that form at the end of a text; `None` if the text has less than eight octets.
    #[inline(always)]
    pub fn at_end_of(text: &'a [u8], start: usize, query: usize) -> Option<Path<'a>> {
        // A path of less than eight octets is the upper end of the last word of the text.
        let last = u64::from_le_bytes(*text.last_chunk()?);
        let missing = 8 * 8_u32.saturating_sub((text.len() - start) as u32);
        let first = text[start..].first_chunk();
        let first = first.map_or(last >> missing, |first| u64::from_le_bytes(*first));
        Some(Path { text, start, query, first, last: last >> missing << missing })
    }

    /// The octets in the compared form.
    #[inline]
    pub fn octets(&self) -> &'a [u8] {
        &self.text[self.start..]
    }

    /// Whether the URL has a query.
    #[inline]
    pub fn has_query(&self) -> bool {
        self.query <= self.text.len()
    }
}

/// Path and query of `url` in normal form, or as given, without marks of escape digits.
pub fn normal_form(url: &[u8], settings: &Settings) -> Vec<u8> {
    let (comparison, mut scratch) = (Comparison::from_settings(settings), Vec::new());
    comparison.to_readable(path(url, comparison, &mut scratch).octets())
}

/// The path of `url`. It borrows `url` if that is in normal form, else `scratch`. A URL in normal
/// form needs no allocation.
#[inline(always)]
pub fn path<'a>(url: &'a [u8], comparison: Comparison, scratch: &'a mut Vec<u8>) -> Path<'a> {
    path_and_origin(url, comparison, scratch).0
}

/// The path of `url`, and the length of its origin, if every URL that starts with this origin and a
/// `/` has its path at the same position.
#[inline(always)]
pub fn path_and_origin<'a>(
    url: &'a [u8],
    comparison: Comparison,
    scratch: &'a mut Vec<u8>,
) -> (Path<'a>, Option<usize>) {
    if comparison == Comparison::AsGiven {
        scratch.clear();
        return (Path::new(path_as_given(url, scratch)), None);
    }
    match path_in_normal_form(url) {
        Ok(path) => (path, Some(path.start)),
        Err((start, plain)) => (normalize_path(&url[start..], plain, comparison, scratch), None),
    }
}

/// Normalizes the path and query at the start of `given`, up to the fragment. The first `plain`
/// octets are part of the path, in normal form, and without dot segments.
#[cold]
#[inline(never)]
pub fn normalize_path<'a>(
    given: &[u8],
    plain: usize,
    comparison: Comparison,
    scratch: &'a mut Vec<u8>,
) -> Path<'a> {
    let mut writer = FormWriter::new(scratch, given.len(), comparison);
    if given.first() != Some(&b'/') {
        writer.push_literal(b"/"); // RFC 3986 §6.2.3: an empty path is "/"
    }
    writer.push_literal(&given[..plain]);
    writer.write(&given[plain..], Part::Path, |octet| octet == b'#');
    let (mut end, mut query) = (writer.end(), writer.query());
    let path_end = query.map_or(end, |query| query - 1);
    // The last of the plain octets may be the slash before a dot.
    let from = plain.saturating_sub(1);
    if simd::find_pair(&scratch[..path_end], from, b'/', b'.') < path_end {
        let shorter = remove_dot_segments(&mut scratch[..path_end]);
        scratch.copy_within(path_end..end, shorter);
        let removed = path_end - shorter;
        (end, query) = (end - removed, query.map(|query| query - removed));
    }
    let form = &scratch[..end];
    let query = query.unwrap_or(end + 1);
    Path::at_end_of(form, 0, query).unwrap_or_else(|| Path::new(form))
}

/// Where path or query start; the end of the URL if it has neither.
fn path_start(url: &[u8]) -> usize {
    let delimiter =
        |from: usize| simd::find(url, from, |o| is(o, b'/') | is(o, b'?') | is(o, b'#'));
    let first = delimiter(0);
    match url[first..].starts_with(b"//") && (first == 0 || url[first - 1] == b':') {
        true => delimiter(first + 2),
        false => first,
    }
}

/// The path of a URL in the common form: scheme http, https or none; a path in normal form without
/// possible dot segments; optionally a query in normal form. For other URLs the error holds where
/// the path starts, and how many octets of it are in that form.
#[inline(always)]
fn path_in_normal_form(url: &[u8]) -> Result<Path<'_>, (usize, usize)> {
    // A scheme as a number is compared in one step.
    const HTTPS: u64 = u64::from_le_bytes(*b"https://");
    const HTTP: u64 = u64::from_le_bytes(*b"\0http://");
    let mut from = match (url.first_chunk().map(|first| u64::from_le_bytes(*first)), url) {
        (Some(HTTPS), _) => 8,
        (Some(first), _) if first << 8 == HTTP => 7,
        (_, [b'/', second, ..]) if *second != b'/' => 0,
        _ => return Err((path_start(url), 0)),
    };
    let (mut start, mut dots, mut slash_before) = (None, 0, 0);
    let path_end = loop {
        if from >= url.len() {
            break url.len();
        }
        let (octets, at) = simd::load(url, from);
        let slash = is(octets, b'/');
        let mut inside = u32::MAX << (from - at);
        from = at + 16;
        if start.is_none() {
            let delimits = slash | is(octets, b'?') | is(octets, b'#');
            let found = delimits.to_bitmask() & inside;
            if found == 0 {
                continue;
            }
            start = Some(at + found.trailing_zeros() as usize);
            inside = u32::MAX << found.trailing_zeros();
        }
        let stops = not_in_path(octets).to_bitmask() & inside;
        // A segment that starts with a dot may be a dot segment.
        let slashes = slash.to_bitmask();
        let before_stop = stops.wrapping_sub(1) & !stops;
        let segment = slashes << 1 | slash_before;
        dots |= segment & is(octets, b'.').to_bitmask() & inside & before_stop;
        if stops != 0 {
            break at + stops.trailing_zeros() as usize;
        }
        slash_before = slashes >> 15 & 1;
    };
    let path_end = path_end.min(url.len());
    let start = start.unwrap_or(url.len());
    if dots != 0 || url.get(start) != Some(&b'/') {
        return Err((start, 0));
    }
    let end = match url.get(path_end) {
        Some(b'?') => simd::find(url, path_end + 1, not_in_query),
        _ => path_end,
    };
    if !matches!(url.get(end), None | Some(b'#')) {
        return Err((start, path_end - start));
    }
    let text = &url[..end];
    let path = Path::at_end_of(text, start, path_end + 1);
    Ok(path.unwrap_or_else(|| Path::new(&text[start..])))
}

/// Whether a pattern is in normal form and has no wildcards.
#[inline]
pub fn is_plain(pattern: &[u8]) -> bool {
    simd::find(pattern, 0, not_in_path) == pattern.len()
}

/// Removes `.` and `..` segments from a path in normal form, in place (RFC 3986 §5.2.4), and returns
/// its new length.
fn remove_dot_segments(path: &mut [u8]) -> usize {
    let (mut read, mut write) = (0, 0);
    while read < path.len() {
        let end = memchr(b'/', &path[read + 1..]).map_or(path.len(), |length| read + 1 + length);
        let dots = match &path[read..end] {
            b"/." => 1,
            b"/.." => 2,
            _ => 0,
        };
        if dots == 2 {
            write = path[..write].iter().rposition(|&octet| octet == b'/').unwrap_or(0);
        }
        if dots == 0 {
            path.copy_within(read..end, write);
            write += end - read;
        } else if end == path.len() {
            path[write] = b'/'; // a dot segment at the end keeps its slash
            write += 1;
        }
        read = end;
    }
    write
}

/// The path as google/robotstxt extracts it: `;` starts a path too, and nothing is encoded.
fn path_as_given<'a>(url: &'a [u8], scratch: &'a mut Vec<u8>) -> &'a [u8] {
    let first = if url.starts_with(b"//") { 2 } else { 0 };
    let delimiter = |from: usize| memchr3(b'/', b'?', b';', &url[from..]).map(|at| from + at);
    let scheme = memmem::find(&url[first..], b"://").map(|at| first + at);
    let authority = match (delimiter(first), scheme) {
        (Some(early), Some(scheme)) if early < scheme => first,
        (_, Some(scheme)) => scheme + 3,
        (_, None) => first,
    };
    let hash = memchr(b'#', &url[first..]).map_or(url.len(), |at| first + at);
    let given = match delimiter(authority) {
        Some(start) if start <= hash => &url[start..hash],
        _ => b"/",
    };
    let given = &given[..memchr(0, given).unwrap_or(given.len())];
    if given.first() == Some(&b'/') {
        return given;
    }
    scratch.push(b'/');
    scratch.extend(given);
    scratch
}
