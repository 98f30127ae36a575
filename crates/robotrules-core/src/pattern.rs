//! Matching a path pattern against a path: `*` and a final `$` (RFC 9309 §2.2.3).
//!
//! Both are untrusted input. A pattern is a literal prefix and pieces, the literals between its
//! wildcards. Each piece is placed at its leftmost match, which is never worse than a later one, so
//! that there is no backtracking: O(pattern + path) time per piece in the worst case, and no
//! allocation. The compared form of `normalize.rs` makes sure that a wildcard ends between units and
//! never inside an escape (AMB-43). This module does not rank patterns.

use crate::normalize::{push_minimal_form, push_normal_form, Comparison, Part};
use crate::settings::Settings;
use crate::simd;
use crate::url_path::Path;
use memchr::memmem;

/// A piece is searched by its first two octets. After this many false candidates the search falls
/// back to an algorithm that is linear in the worst case.
const MAX_FALSE_STARTS: usize = 8;

/// A span in the arena that holds the octets of all patterns of a rule set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Where it starts.
    pub start: u32,
    /// How many octets it has.
    pub length: u32,
}

impl Span {
    /// The octets.
    #[inline]
    pub fn of(self, arena: &[u8]) -> &[u8] {
        &arena[self.start as usize..self.start as usize + self.length as usize]
    }
}

/// The literal between two wildcards, or after the last one.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// Its normal form, if the wildcard before it ends in the path.
    pub in_path: Span,
    /// Its normal form, if the wildcard before it ends in the query.
    pub in_query: Span,
    /// Its longest run of octets that is the same in both forms, for the n-gram index.
    pub run: Span,
}

/// A path pattern in normal form, split at its wildcards.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    /// The literal that a path must start with.
    pub prefix: Span,
    /// Where its pieces start in [`Arena::pieces`].
    pub pieces_start: u32,
    /// The number of its pieces: one for each run of `*`.
    pub pieces: u32,
    /// Whether a final `$` anchors it to the end of the path.
    pub anchored: bool,
    /// Its specificity: octets of the normal form, including wildcards and `$` (AMB-38, AMB-39).
    pub octets: u32,
}

impl Pattern {
    /// A prefix without wildcards as a pattern.
    #[inline]
    pub fn plain(prefix: Span) -> Pattern {
        Pattern { prefix, pieces_start: 0, pieces: 0, anchored: false, octets: prefix.length }
    }
}

/// The octets and pieces of all patterns of a rule set.
#[derive(Clone, Debug, Default)]
pub struct Arena {
    /// The octets of all patterns.
    pub octets: Vec<u8>,
    /// The pieces of all patterns.
    pub pieces: Vec<Piece>,
}

/// The readable normal form of a pattern (§2.2.2): that of a URL, except for `*` and a final `$`.
pub fn normal_form(value: &[u8], settings: &Settings) -> Vec<u8> {
    let mut form = Vec::with_capacity(value.len());
    let (body, anchored) = anchor(value);
    let mut part = Part::Path;
    for (number, piece) in body.split(|&octet| octet == b'*').enumerate() {
        if number > 0 {
            form.push(b'*');
            part = after_wildcard(part);
        }
        part = push_piece(&mut form, piece, part, Comparison::Octets, settings);
    }
    form.extend(anchored.then_some(b'$'));
    form
}

/// Splits off a final `$`, the end of the match pattern; any other `$` is an octet (AMB-41).
fn anchor(value: &[u8]) -> (&[u8], bool) {
    value.strip_suffix(b"$").map_or((value, false), |body| (body, true))
}

fn after_wildcard(part: Part) -> Part {
    if part == Part::Query {
        Part::Query
    } else {
        Part::Either
    }
}

fn push_piece(
    out: &mut Vec<u8>,
    piece: &[u8],
    part: Part,
    comparison: Comparison,
    settings: &Settings,
) -> Part {
    if settings.switches.minimal_encoding {
        push_minimal_form(out, piece, comparison);
        return part;
    }
    push_normal_form(out, piece, part, comparison)
}

impl Arena {
    /// Removes all patterns and keeps the allocated memory.
    pub fn clear(&mut self) {
        self.octets.clear();
        self.pieces.clear();
    }

    /// Adds a pattern in normal form without wildcards, as most patterns are.
    #[inline]
    pub fn add_plain(&mut self, value: &[u8]) -> Pattern {
        let first = Span { start: self.octets.len() as u32, length: value.len() as u32 };
        self.octets.extend_from_slice(value);
        Pattern::plain(first)
    }

    /// Adds a pattern as written in a file.
    pub fn add(&mut self, value: &[u8], settings: &Settings) -> Pattern {
        let (body, anchored) = anchor(value);
        let pieces_start = self.pieces.len() as u32;
        let mut parts = body.split(|&octet| octet == b'*').peekable();
        let (prefix, mut part) = self.write(parts.next().unwrap_or_default(), Part::Path, settings);
        let mut octets = prefix.length + u32::from(anchored);
        while let Some(piece) = parts.next() {
            if piece.is_empty() && parts.peek().is_some() {
                octets += 1; // a run of `*` matches like one `*`, but each counts (AMB-48)
                part = after_wildcard(part);
                continue;
            }
            let (form, next) = self.write(piece, after_wildcard(part), settings);
            octets += 1 + form.length;
            let piece = match after_wildcard(part) {
                Part::Either => self.piece_in_either_part(piece, form, settings),
                _ => Piece { in_path: form, in_query: form, run: form },
            };
            self.pieces.push(piece);
            part = next;
        }
        let pieces = self.pieces.len() as u32 - pieces_start;
        Pattern { prefix, pieces_start, pieces, anchored, octets }
    }

    fn write(&mut self, piece: &[u8], part: Part, settings: &Settings) -> (Span, Part) {
        let start = self.octets.len();
        let part = push_piece(
            &mut self.octets,
            piece,
            part,
            Comparison::from_settings(settings),
            settings,
        );
        (Span { start: start as u32, length: (self.octets.len() - start) as u32 }, part)
    }

    /// A piece that may match in the path or in the query. If it holds a delimiter it has two
    /// normal forms; the octets between its delimiters are the same in both.
    fn piece_in_either_part(&mut self, piece: &[u8], form: Span, settings: &Settings) -> Piece {
        let delimits = |octet: &u8| matches!(octet, b'/' | b'?' | b'=' | b'&');
        if settings.switches.minimal_encoding || !piece.iter().any(delimits) {
            return Piece { in_path: form, in_query: form, run: form };
        }
        let mut run = Span { start: form.start, length: 0 };
        let mut start = form.start;
        for part in form.of(&self.octets).split(delimits) {
            let length = part.len() as u32;
            if length > run.length {
                run = Span { start, length };
            }
            start += length + 1;
        }
        // In a path `=` and `&` are data, up to a `?` that starts the query.
        let before_query = piece.split(|&octet| octet == b'?').next().unwrap_or_default();
        let in_path = match before_query.iter().any(|octet| matches!(octet, b'=' | b'&')) {
            true => self.write(piece, Part::Path, settings).0,
            false => form,
        };
        let (in_query, _) = self.write(piece, Part::Query, settings);
        Piece { in_path, in_query, run }
    }

    /// The pieces of a pattern.
    #[inline]
    pub fn pieces_of(&self, pattern: &Pattern) -> &[Piece] {
        let from = pattern.pieces_start as usize;
        &self.pieces[from..from + pattern.pieces as usize]
    }

    /// Whether a pattern is a literal: `Some(false)` for a prefix, `Some(true)` for a whole path,
    /// `None` if it needs a search. Wildcards at its end match anything (AMB-48).
    #[inline]
    pub fn literal(&self, pattern: &Pattern) -> Option<bool> {
        let pieces = self.pieces_of(pattern);
        let ends_open = pieces.iter().all(|piece| piece.in_path.length == 0);
        ends_open.then_some(pattern.anchored && pieces.is_empty())
    }

    /// Whether `pattern` matches `path` from its first octet (§2.2.2).
    pub fn matches(&self, pattern: &Pattern, path: Path<'_>) -> bool {
        path.octets().starts_with(pattern.prefix.of(&self.octets))
            && self.matches_after_prefix(pattern, path)
    }

    /// Whether `pattern` matches a path that starts with its prefix.
    pub fn matches_after_prefix(&self, pattern: &Pattern, path: Path<'_>) -> bool {
        // Positions are offsets in `path.text`, which ends with the path.
        let (query, mut at) = (path.query, path.start + pattern.prefix.length as usize);
        let path = path.text;
        let Some((last, others)) = self.pieces_of(pattern).split_last() else {
            return !pattern.anchored || at == path.len();
        };
        for piece in others {
            match self.find(piece, path, at, query) {
                Some(end) => at = end,
                None => return false,
            }
        }
        match pattern.anchored {
            true => self.ends_with(last, path, at, query),
            false => self.find(last, path, at, query).is_some(),
        }
    }

    /// The end of the leftmost match of `piece` at or after `at`.
    ///
    /// A match in the path ends before every match in the query, so it is preferred.
    #[inline]
    fn find(&self, piece: &Piece, path: &[u8], at: usize, query: usize) -> Option<usize> {
        let in_path = piece.in_path.of(&self.octets);
        if piece.in_path == piece.in_query {
            return find(in_path, path, at);
        }
        if at < query {
            // It starts before the query, and extends into it only if it holds the `?`.
            let end = path.len().min(query - 1 + in_path.len());
            if let Some(end) = find(in_path, &path[..end], at) {
                return Some(end);
            }
        }
        match query <= path.len() {
            true => find(piece.in_query.of(&self.octets), path, at.max(query)),
            false => None,
        }
    }

    /// Whether `path` ends with `piece`, at or after `at`.
    fn ends_with(&self, piece: &Piece, path: &[u8], at: usize, query: usize) -> bool {
        let ends = |octets: &[u8], from: usize, to: usize| {
            let start = path.len().checked_sub(octets.len());
            start.is_some_and(|start| start >= from && start < to) && path.ends_with(octets)
        };
        let in_path = piece.in_path.of(&self.octets);
        if piece.in_path == piece.in_query {
            return ends(in_path, at, usize::MAX);
        }
        ends(in_path, at, query) || ends(piece.in_query.of(&self.octets), at.max(query), usize::MAX)
    }
}

/// The end of the leftmost match of `octets` in `path` at or after `at`.
#[inline]
pub fn find(octets: &[u8], path: &[u8], at: usize) -> Option<usize> {
    let &[a, b, ..] = octets else {
        let Some(&octet) = octets.first() else { return (at <= path.len()).then_some(at) };
        let found = simd::find(path, at, |lanes| simd::is(lanes, octet));
        return (found < path.len()).then_some(found + 1);
    };
    let mut from = at;
    for _ in 0..MAX_FALSE_STARTS {
        from = simd::find_pair(path, from, a, b);
        let rest = path.get(from..)?;
        if rest.len() < octets.len() {
            return None;
        }
        if octets.len() == 2 || rest.starts_with(octets) {
            return Some(from + octets.len());
        }
        from += 1;
    }
    let found = memmem::find(path.get(from..)?, octets)?;
    Some(from + found + octets.len())
}
