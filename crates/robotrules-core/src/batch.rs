//! The paths of many URLs in one text, one URL per line.
//!
//! The URLs of a batch are mostly of one origin and in normal form. The origin is therefore compared
//! with that of an earlier line instead of parsed, and a path is checked 32 octets at a time, across
//! the end of its line. All other lines are parsed as single URLs.
//!
//! Linear in the text, no allocation for paths in normal form. This module does not match rules.

use crate::normalize::Comparison;
use crate::simd::{self, is, Lanes};
use crate::url_path::{self, not_common_in_path, not_in_query, Path};

/// Calls `take` with the path of every line of `lines`, in order. Newlines separate the lines: there
/// is one line more than newlines.
#[inline(always)]
pub fn each_path(lines: &[u8], comparison: Comparison, mut take: impl FnMut(Path<'_>)) {
    let mut scratch = Vec::new();
    // The origin of the last line that was parsed as a URL.
    let (mut origin, mut at) = (&lines[..0], 0);
    loop {
        let start = at + origin.len();
        // Without an origin, two slashes would start an authority (RFC 3986 §4.2).
        let no_origin = origin.is_empty() && lines.get(start + 1) == Some(&b'/');
        let known = comparison != Comparison::AsGiven
            && starts_with_origin(&lines[at..], origin)
            && lines.get(start) == Some(&b'/')
            && !no_origin;
        let plain = if known { plain_path(lines, start) } else { Err(0) };
        let (path, end) = match plain {
            Ok(path) => (path, path.text.len()),
            Err(plain) if known => {
                let end = line_end(lines, start + plain);
                (url_path::normalize_path(&lines[start..end], plain, comparison, &mut scratch), end)
            }
            Err(_) => {
                let end = line_end(lines, at);
                let line = &lines[at..end];
                let (path, before) = url_path::path_and_origin(line, comparison, &mut scratch);
                origin = before.map_or(origin, |before| &line[..before]);
                (path, end)
            }
        };
        take(path);
        if end == lines.len() {
            return;
        }
        at = end + 1;
    }
}

#[cold]
#[inline(never)]
fn line_end(lines: &[u8], from: usize) -> usize {
    simd::find(lines, from, |octets| is(octets, b'\n'))
}

/// The path at `start`, if path and query are in normal form up to the end of the line. Otherwise
/// the error holds how many octets of the path are in that form.
#[inline(always)]
fn plain_path(lines: &[u8], start: usize) -> Result<Path<'_>, usize> {
    let (mut from, mut dots, mut slash_before) = (start, 0, 0);
    let path_end = loop {
        let block = load_block(lines, from).ok_or(0_usize)?;
        let stops = bitmask(block, not_common_in_path);
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
    if lines[path_end] == b'?' {
        from = path_end + 1;
        end = loop {
            let stops = bitmask(load_block(lines, from).ok_or(0_usize)?, not_in_query);
            if stops != 0 {
                break from + stops.trailing_zeros() as usize;
            }
            from += 32;
        };
    }
    if dots != 0 || lines[end] != b'\n' {
        return Err(if dots == 0 { path_end - start } else { 0 });
    }
    let first = u64::from_le_bytes(*lines[start..].first_chunk().ok_or(0_usize)?);
    let last = u64::from_le_bytes(*lines[..end].last_chunk().ok_or(0_usize)?);
    Ok(Path { text: &lines[..end], start, query: path_end + 1, first, last })
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
