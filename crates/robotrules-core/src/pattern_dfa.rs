//! Path patterns as deterministic finite automata (DFA) over octets (RFC 9309 §2.2.3).
//!
//! A pattern is a literal prefix and pieces. Each piece is placed at its leftmost match, which is
//! never worse than a later one, so that one position is the whole state; the KMP failure function
//! gives the next position after a mismatch. A piece with different normal forms in the path and in
//! the query (AMB-33) is searched in the form of the part it starts in; a piece that holds the `?`
//! starts in the path and ends in the query.
//!
//! States are numbers. 0 to the length of the prefix: the octets of the prefix that were read. Then
//! the states of each piece, relative to its base: 0 to m matched octets of the form in the path,
//! which serves both parts if the forms are equal; then 0 to n matched octets of the form in the
//! query; then the states after its `?`, each of which implies how many octets of the query form
//! are matched.
//!
//! A step costs the logarithm of a piece in the worst case. This module does not restrict octet
//! strings to paths and does not order patterns: `path_dfa.rs` and `languages.rs` do.

use crate::kmp::{insert, push_failure_function, Needle, OctetSet};
use crate::pattern::{Arena, Pattern, Span};
use crate::url_path::Path;

/// The dead state: the pattern cannot match, whatever follows.
pub const DEAD: u32 = u32::MAX;
/// The accepting state: the pattern matches, whatever follows.
pub const MATCHED: u32 = u32::MAX - 1;
/// The octet that starts the query.
pub const QUERY_MARK: u8 = b'?';

/// The DFAs of several patterns, by number.
#[derive(Debug, Default)]
pub struct PatternDfas {
    arena: Arena,
    dfas: Vec<PatternDfa>,
    pieces: Vec<Piece>,
    // Failure functions, and the matched octets of query forms after a `?`.
    failures: Vec<u32>,
    // The piece of each state after a prefix.
    piece_of: Vec<u32>,
}

#[derive(Debug)]
struct PatternDfa {
    pattern: Pattern,
    // Whether the last piece must end at the end of the path.
    anchored: bool,
    pieces_start: u32,
    pieces_end: u32,
    // The first state after the prefix, and its position in `piece_of`.
    first_state: u32,
    piece_of: u32,
    // The least number of octets of the pieces.
    pieces_length: u32,
}

/// A literal between two wildcards, with the layout of its states.
#[derive(Clone, Copy, Debug)]
struct Piece {
    in_path: Span,
    in_query: Span,
    base: u32,
    // Where in `failures` these start: the failure functions of both forms, and the matched octets
    // of the query form after a `?`.
    failure: u32,
    query_failure: u32,
    query_matched: u32,
    // Where the states of the query form start, and those after the `?`; equal if the forms are.
    query: u32,
    cross: u32,
    // The position of its `?`, if any.
    mark: Option<u32>,
    // The least number of octets of the following pieces.
    rest: u32,
}

impl PatternDfas {
    /// The DFAs of patterns whose octets are in `arena`.
    pub fn new(arena: Arena, patterns: impl Iterator<Item = Pattern>) -> PatternDfas {
        let mut dfas = PatternDfas { arena, ..PatternDfas::default() };
        patterns.for_each(|pattern| dfas.add(pattern));
        dfas
    }

    fn add(&mut self, pattern: Pattern) {
        let found = self.arena.pieces_of(&pattern);
        // `*$` at the end, or an empty piece, matches anything.
        let open = found.last().is_some_and(|last| last.in_path.length == 0);
        let forms = found.iter().map(|piece| (piece.in_path, piece.in_query));
        let forms: Vec<_> = forms.filter(|(in_path, _)| in_path.length > 0).collect();
        let first_state = pattern.prefix.length + 1;
        let pieces_start = self.pieces.len() as u32;
        let piece_of = self.piece_of.len() as u32;
        let mut base = first_state;
        for (in_path, in_query) in forms {
            let size = self.add_piece(in_path, in_query, base);
            self.piece_of.resize(self.piece_of.len() + size as usize, self.pieces.len() as u32 - 1);
            base += size;
        }
        let mut rest = 0;
        for piece in self.pieces[pieces_start as usize..].iter_mut().rev() {
            piece.rest = rest;
            rest += piece.in_path.length.min(piece.in_query.length);
        }
        self.dfas.push(PatternDfa {
            pattern,
            anchored: pattern.anchored && !open,
            pieces_start,
            pieces_end: self.pieces.len() as u32,
            first_state,
            piece_of,
            pieces_length: rest,
        });
    }

    /// Adds a piece and returns the number of its states.
    fn add_piece(&mut self, in_path: Span, in_query: Span, base: u32) -> u32 {
        let octets = &self.arena.octets;
        let failure = push_failure_function(&mut self.failures, in_path.of(octets));
        let mut size = in_path.length + 1;
        let mut piece = Piece {
            in_path,
            in_query,
            base,
            failure,
            query_failure: failure,
            query_matched: 0,
            query: size,
            cross: size,
            mark: None,
            rest: 0,
        };
        if in_path != in_query {
            piece.query_failure = push_failure_function(&mut self.failures, in_query.of(octets));
            piece.cross = size + in_query.length + 1;
            size = piece.cross;
            let mark = in_path.of(octets).iter().position(|&octet| octet == QUERY_MARK);
            if let Some(mark) = mark {
                piece.mark = Some(mark as u32);
                piece.query_matched = self.failures.len() as u32;
                // For each state after the `?`: how many octets of the query form are matched.
                let mut at = 0;
                self.failures.push(0);
                for number in mark + 1..in_path.length as usize {
                    let octet = in_path.of(octets)[number];
                    let failure = &self.failures[piece.query_failure as usize..];
                    at = Needle { octets: in_query.of(octets), failure }.advance(at, octet);
                    self.failures.push(at as u32);
                }
                size += in_path.length - mark as u32;
            }
        }
        self.pieces.push(piece);
        size
    }

    #[inline]
    fn in_path(&self, piece: &Piece) -> Needle<'_> {
        let octets = piece.in_path.of(&self.arena.octets);
        Needle { octets, failure: &self.failures[piece.failure as usize..] }
    }

    #[inline]
    fn in_query(&self, piece: &Piece) -> Needle<'_> {
        let octets = piece.in_query.of(&self.arena.octets);
        Needle { octets, failure: &self.failures[piece.query_failure as usize..] }
    }

    /// The prefix of a pattern.
    pub fn prefix(&self, number: usize) -> &[u8] {
        self.dfas[number].pattern.prefix.of(&self.arena.octets)
    }

    /// Whether a pattern matches a path, without running its DFA.
    pub fn matches(&self, number: usize, path: Path<'_>) -> bool {
        self.arena.matches(&self.dfas[number].pattern, path)
    }

    /// The state after the first `/`, with which every path starts.
    pub fn start(&self, number: usize) -> u32 {
        let dfa = &self.dfas[number];
        if dfa.pattern.prefix.length > 0 || dfa.is_whole_path() {
            return self.step(number, 0, b'/', false);
        }
        match self.piece_entry(dfa, dfa.pieces_start, false) {
            MATCHED => MATCHED,
            piece_entry => self.step(number, piece_entry, b'/', false),
        }
    }

    /// The first state of a piece; [`MATCHED`] after the last piece.
    #[inline]
    fn piece_entry(&self, dfa: &PatternDfa, number: u32, in_query: bool) -> u32 {
        if number == dfa.pieces_end {
            return MATCHED;
        }
        let piece = &self.pieces[number as usize];
        piece.base + if in_query && piece.has_two_forms() { piece.query } else { 0 }
    }

    /// The piece of a state after the prefix.
    #[inline]
    fn piece(&self, dfa: &PatternDfa, state: u32) -> (u32, &Piece) {
        let number = self.piece_of[(dfa.piece_of + state - dfa.first_state) as usize];
        (number, &self.pieces[number as usize])
    }

    /// The next state; `in_query` says whether a `?` was read before this octet.
    #[inline]
    pub fn step(&self, number: usize, state: u32, octet: u8, in_query: bool) -> u32 {
        let dfa = &self.dfas[number];
        if state < dfa.first_state {
            let first = dfa.pattern.prefix.of(&self.arena.octets);
            if first.get(state as usize) != Some(&octet) {
                return DEAD;
            }
            if state + 1 < first.len() as u32 || dfa.is_whole_path() {
                return state + 1;
            }
            // After a prefix that holds a `?` every piece has one form.
            return self.piece_entry(dfa, dfa.pieces_start, false);
        }
        let (number, piece) = self.piece(dfa, state);
        let at = self.step_in(piece, state - piece.base, octet, in_query);
        let is_last = number + 1 == dfa.pieces_end;
        if piece.is_complete(at) && !(dfa.anchored && is_last) {
            return self.piece_entry(dfa, number + 1, in_query || octet == QUERY_MARK);
        }
        piece.base + at
    }

    #[inline]
    fn step_in(&self, piece: &Piece, at: u32, octet: u8, in_query: bool) -> u32 {
        if at < piece.query {
            let in_path = self.in_path(piece);
            let at = in_path.advance(at as usize, octet) as u32;
            if octet != QUERY_MARK || in_query || !piece.has_two_forms() {
                return at;
            }
            // The query starts: with the `?` of the piece, or with another one.
            return if at > 0 { piece.cross } else { piece.query };
        }
        if at < piece.cross {
            let at = (at - piece.query) as usize;
            return piece.query + self.in_query(piece).advance(at, octet) as u32;
        }
        let after_mark = at - piece.cross;
        if self.octet_after_mark(piece, after_mark) == Some(octet) {
            return at + 1;
        }
        let query_matched = self.failures[(piece.query_matched + after_mark) as usize] as usize;
        piece.query + self.in_query(piece).advance(query_matched, octet) as u32
    }

    /// The octet of a piece that follows `after_mark` octets after its `?`.
    #[inline]
    fn octet_after_mark(&self, piece: &Piece, after_mark: u32) -> Option<u8> {
        let at = piece.mark? + 1 + after_mark;
        piece.in_path.of(&self.arena.octets).get(at as usize).copied()
    }

    /// Whether a path that ends in this state matches. The state is neither [`DEAD`] nor [`MATCHED`].
    #[inline]
    pub fn accepts(&self, number: usize, state: u32) -> bool {
        let dfa = &self.dfas[number];
        if !dfa.anchored {
            return false;
        }
        if state < dfa.first_state {
            return dfa.is_whole_path() && state + 1 == dfa.first_state;
        }
        let (number, piece) = self.piece(dfa, state);
        number + 1 == dfa.pieces_end && piece.is_complete(state - piece.base)
    }

    /// A lower bound for the number of octets up to a match.
    #[inline]
    pub fn min_remaining(&self, number: usize, state: u32) -> u32 {
        let dfa = &self.dfas[number];
        if state < dfa.first_state {
            return dfa.first_state - 1 - state + dfa.pieces_length;
        }
        let (_, piece) = self.piece(dfa, state);
        let (at, path, query) = (state - piece.base, piece.in_path.length, piece.in_query.length);
        let here = if at < piece.query {
            let around = if piece.has_two_forms() { 1 + query } else { path };
            (path - at).min(around)
        } else if at < piece.cross {
            query - (at - piece.query)
        } else {
            // The query form holds the same octets and an escaped `?`, so that it is longer.
            piece.after_mark() - (at - piece.cross)
        };
        here + piece.rest
    }

    /// Adds the octets whose next state differs from that of an octet in no pattern.
    #[inline]
    pub fn add_distinguished(&self, number: usize, state: u32, found: &mut OctetSet) {
        let dfa = &self.dfas[number];
        if state < dfa.first_state {
            let first = dfa.pattern.prefix.of(&self.arena.octets);
            if let Some(&octet) = first.get(state as usize) {
                insert(found, octet);
            }
            return;
        }
        let (_, piece) = self.piece(dfa, state);
        let at = state - piece.base;
        if at < piece.query {
            if piece.has_two_forms() {
                insert(found, QUERY_MARK);
            }
            self.in_path(piece).add_matching(at as usize, found);
        } else if at < piece.cross {
            self.in_query(piece).add_matching((at - piece.query) as usize, found);
        } else {
            let after_mark = at - piece.cross;
            if let Some(octet) = self.octet_after_mark(piece, after_mark) {
                insert(found, octet);
            }
            let query_matched = self.failures[(piece.query_matched + after_mark) as usize] as usize;
            self.in_query(piece).add_matching(query_matched, found);
        }
    }
}

impl PatternDfa {
    /// Whether the pattern is a literal for a whole path.
    #[inline]
    fn is_whole_path(&self) -> bool {
        self.anchored && self.pieces_start == self.pieces_end
    }
}

impl Piece {
    #[inline]
    fn has_two_forms(&self) -> bool {
        self.cross > self.query
    }

    /// The number of octets after the `?`.
    #[inline]
    fn after_mark(&self) -> u32 {
        self.mark.map_or(0, |mark| self.in_path.length - mark - 1)
    }

    /// Whether the piece is completely matched.
    #[inline]
    fn is_complete(&self, at: u32) -> bool {
        if at < self.query {
            return at == self.in_path.length;
        }
        at + 1 == self.cross || self.mark.is_some() && at == self.cross + self.after_mark()
    }
}
