//! The first URL of a rule set, decided from uncompiled patterns.
//!
//! Compiling a rule set costs more than deciding one URL, and many crawlers check one URL. This
//! module compares the octets of a pattern in the file with the path; most patterns differ early.
//! Only octets with the same meaning in every part exclude a pattern; otherwise the pattern is
//! normalized, by the code that compiles it.
//!
//! Linear in the patterns. It does not support profiles with other comparisons: see
//! [`Switches::compare_as_written`].
//!
//! [`Switches::compare_as_written`]: crate::settings::Switches::compare_as_written

use crate::normalize::is_unreserved;
use crate::pattern::{find, Arena};
use crate::records::faults;
use crate::ruleset::{rank, Kind, Rank};
use crate::settings::Settings;
use crate::simd::first_word;
use crate::url_path::Path;

/// The result of comparing the octets of a pattern with a path.
enum RawMatch {
    Matches,
    Differs,
    /// Unknown: the normal form of the pattern decides.
    Unclear,
}

/// The greatest rank of a pattern that matches `path`; zero if none matches.
pub fn winner<'a>(
    patterns: impl Iterator<Item = (&'a [u8], Kind)>,
    path: Path<'_>,
    settings: &Settings,
) -> Rank {
    let (mut best, mut arena) = (0, Arena::default());
    let has_escapes = path.octets().contains(&b'%');
    for (rule, (value, kind)) in patterns.enumerate() {
        let octets = match match_raw(value, path, has_escapes) {
            RawMatch::Differs => continue,
            RawMatch::Matches => value.len() as u32,
            RawMatch::Unclear => {
                arena.clear();
                if !faults(value).usable_pattern(settings) {
                    continue;
                }
                let pattern = arena.add(value, settings);
                if !arena.matches(&pattern, path) {
                    continue;
                }
                pattern.octets
            }
        };
        best = best.max(rank(octets, kind, rule as u32));
    }
    best
}

/// The number of patterns that can match: the length of the compiled set.
pub fn count_usable<'a>(
    patterns: impl Iterator<Item = (&'a [u8], Kind)>,
    settings: &Settings,
) -> usize {
    let starts = |value: &[u8]| matches!(value.first(), Some(b'/' | b'*'));
    patterns.filter(|(value, _)| starts(value) && faults(value).usable_pattern(settings)).count()
}

#[inline]
fn match_raw(value: &[u8], path: Path<'_>, has_escapes: bool) -> RawMatch {
    let octets = path.octets();
    let shared = common_prefix(value, path);
    match value.get(shared) {
        // The path marks the digits of escapes, and this `%` may not start an escape.
        _ if has_escapes && value[..shared].contains(&b'%') => RawMatch::Unclear,
        None if value.is_empty() => RawMatch::Differs,
        None if shared <= octets.len() => RawMatch::Matches,
        // Wildcards at the end match anything, and count as octets (AMB-48).
        Some(b'*') if value.len() == shared + 1 && shared <= octets.len() => RawMatch::Matches,
        Some(b'*') => match_after_wildcard(&value[shared + 1..], path, shared),
        // Every path starts with a slash, so that other patterns never match (AMB-03).
        Some(_) if shared == 0 => RawMatch::Differs,
        // In a query a slash is data.
        Some(b'/') if octets.get(shared) != Some(&b'%') => RawMatch::Differs,
        Some(&octet) if is_unreserved(octet) => RawMatch::Differs,
        _ => RawMatch::Unclear,
    }
}

/// The length of the common prefix of a pattern and a path.
#[inline]
fn common_prefix(value: &[u8], path: Path<'_>) -> usize {
    let differs = first_word(value) ^ path.first;
    let near = (differs.trailing_zeros() / 8) as usize;
    if near < 8 || value.len() <= 8 {
        return near.min(value.len());
    }
    let pairs = value.iter().zip(path.octets()).skip(8);
    8 + pairs.take_while(|(a, b)| a == b).count()
}

/// Compares the literal after a wildcard: the path must contain it, at `from` or later.
fn match_after_wildcard(rest: &[u8], path: Path<'_>, from: usize) -> RawMatch {
    let start = rest.iter().position(|&octet| is_unreserved(octet)).unwrap_or(rest.len());
    let (before, rest) = rest.split_at(start);
    if before.contains(&b'%') {
        return RawMatch::Unclear;
    }
    // A `?` is the delimiter, or data in a query: both require a query.
    if before.contains(&b'?') && !path.has_query() {
        return RawMatch::Differs;
    }
    let end = rest.iter().position(|&octet| !is_unreserved(octet)).unwrap_or(rest.len());
    match find(&rest[..end], path.octets(), from) {
        Some(_) => RawMatch::Unclear,
        None => RawMatch::Differs,
    }
}
