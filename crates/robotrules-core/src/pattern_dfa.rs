//! Path patterns as deterministic finite automata (DFA) over octets (RFC 9309 §2.2.3).
//!
//! A pattern is a literal beginning and pieces that float behind it, each found as early as it can
//! be: that is never worse than later, so one position is enough to know, and a failure function
//! says where to go on after an octet that does not fit. A piece that is spelled one way in the path
//! and another way in the query (AMB-33) is looked for in the spelling of the part it starts in; one
//! that holds the `?` itself crosses over.
//!
//! States are numbers: up to the octets of the beginning so much of it has been read; then those of
//! each piece, counted from its base: 0 to m octets of the spelling in the path, which serves for
//! both parts where there is one spelling only; then 0 to n of the one in the query; then those
//! behind a `?` of its own, each of which also knows how much of the other spelling is matched.
//!
//! A step costs the logarithm of a piece at worst. It does not know which octet strings are paths,
//! nor in what order patterns count: `product_search.rs` and `languages.rs` do.

use crate::kmp::{insert, push_failure, Octets, Spelling};
use crate::pattern::{Arena, Pattern, Span};
use crate::url_path::Path;

/// A pattern can never match any more.
pub const DEAD: u32 = u32::MAX;
/// A pattern has matched, whatever follows.
pub const MATCHED: u32 = u32::MAX - 1;
/// What begins the query.
pub const MARK: u8 = b'?';

/// The automata of some patterns, by number.
#[derive(Debug, Default)]
pub struct Machines {
    arena: Arena,
    machines: Vec<Machine>,
    pieces: Vec<Piece>,
    // Failure functions, and what is matched beside.
    falls: Vec<u32>,
    // Of each state behind a beginning: its piece.
    piece_of: Vec<u32>,
}

#[derive(Debug)]
struct Machine {
    pattern: Pattern,
    // Whether the end of the path has to be where the last piece ends.
    anchored: bool,
    pieces_start: u32,
    pieces_end: u32,
    // What to take from a state to find its piece.
    first_state: u32,
    piece_of: u32,
    // Octets that the pieces have at least.
    after_first: u32,
}

/// What stands between two wildcards, as it is looked for.
#[derive(Clone, Copy, Debug)]
struct Piece {
    in_path: Span,
    in_query: Span,
    base: u32,
    // Where in the failure functions its own start; of the spelling in the query; what is beside.
    fall: u32,
    query_fall: u32,
    beside: u32,
    // The states of the spelling in the query, and those behind a `?`; none if there is one only.
    query: u32,
    cross: u32,
    // Octets before the `?`, if there is one.
    mark: Option<u32>,
    // Octets that the pieces behind it have at least.
    rest: u32,
}

impl Machines {
    /// Automata of patterns that stand in `arena`.
    pub fn new(arena: Arena, patterns: impl Iterator<Item = Pattern>) -> Machines {
        let mut made = Machines { arena, ..Machines::default() };
        patterns.for_each(|pattern| made.add(pattern));
        made
    }

    fn add(&mut self, pattern: Pattern) {
        let found = self.arena.pieces_of(&pattern);
        // `*$` at the end, or a piece of nothing, asks for nothing.
        let open = found.last().is_some_and(|last| last.in_path.length == 0);
        let spellings = found.iter().map(|piece| (piece.in_path, piece.in_query));
        let spellings: Vec<_> = spellings.filter(|(in_path, _)| in_path.length > 0).collect();
        let first_state = pattern.first.length + 1;
        let pieces_start = self.pieces.len() as u32;
        let piece_of = self.piece_of.len() as u32;
        let mut base = first_state;
        for (in_path, in_query) in spellings {
            let size = self.add_piece(in_path, in_query, base);
            self.piece_of.resize(self.piece_of.len() + size as usize, self.pieces.len() as u32 - 1);
            base += size;
        }
        let mut rest = 0;
        for piece in self.pieces[pieces_start as usize..].iter_mut().rev() {
            piece.rest = rest;
            rest += piece.in_path.length.min(piece.in_query.length);
        }
        self.machines.push(Machine {
            pattern,
            anchored: pattern.anchored && !open,
            pieces_start,
            pieces_end: self.pieces.len() as u32,
            first_state,
            piece_of,
            after_first: rest,
        });
    }

    /// Adds a piece, and returns how many states it has.
    fn add_piece(&mut self, in_path: Span, in_query: Span, base: u32) -> u32 {
        let octets = &self.arena.octets;
        let fall = push_failure(&mut self.falls, in_path.of(octets));
        let mut size = in_path.length + 1;
        let mut piece = Piece {
            in_path,
            in_query,
            base,
            fall,
            query_fall: fall,
            beside: 0,
            query: size,
            cross: size,
            mark: None,
            rest: 0,
        };
        if in_path != in_query {
            piece.query_fall = push_failure(&mut self.falls, in_query.of(octets));
            piece.cross = size + in_query.length + 1;
            size = piece.cross;
            let mark = in_path.of(octets).iter().position(|&octet| octet == MARK);
            if let Some(mark) = mark {
                piece.mark = Some(mark as u32);
                piece.beside = self.falls.len() as u32;
                // At the same place: how much of the query's spelling what was read ends with.
                let mut at = 0;
                self.falls.push(0);
                for number in mark + 1..in_path.length as usize {
                    let octet = in_path.of(octets)[number];
                    let fall = &self.falls[piece.query_fall as usize..];
                    at = Spelling { octets: in_query.of(octets), fall }.advance(at, octet);
                    self.falls.push(at as u32);
                }
                size += in_path.length - mark as u32;
            }
        }
        self.pieces.push(piece);
        size
    }

    #[inline]
    fn in_path(&self, piece: &Piece) -> Spelling<'_> {
        let octets = piece.in_path.of(&self.arena.octets);
        Spelling { octets, fall: &self.falls[piece.fall as usize..] }
    }

    #[inline]
    fn in_query(&self, piece: &Piece) -> Spelling<'_> {
        let octets = piece.in_query.of(&self.arena.octets);
        Spelling { octets, fall: &self.falls[piece.query_fall as usize..] }
    }

    /// What a path must start with.
    pub fn first(&self, number: usize) -> &[u8] {
        self.machines[number].pattern.first.of(&self.arena.octets)
    }

    /// Whether a pattern matches a path, found without its automaton.
    pub fn matches(&self, number: usize, path: Path<'_>) -> bool {
        self.arena.matches(&self.machines[number].pattern, path)
    }

    /// The state behind the first `/`, with which every path starts.
    pub fn start(&self, number: usize) -> u32 {
        let machine = &self.machines[number];
        if machine.pattern.first.length > 0 || machine.is_whole_path() {
            return self.step(number, 0, b'/', false);
        }
        match self.entered(machine, machine.pieces_start, false) {
            MATCHED => MATCHED,
            entered => self.step(number, entered, b'/', false),
        }
    }

    /// The state before a piece, or behind the last.
    #[inline]
    fn entered(&self, machine: &Machine, number: u32, queried: bool) -> u32 {
        if number == machine.pieces_end {
            return MATCHED;
        }
        let piece = &self.pieces[number as usize];
        piece.base + if queried && piece.is_two() { piece.query } else { 0 }
    }

    /// The piece that a state behind the beginning belongs to.
    #[inline]
    fn piece(&self, machine: &Machine, state: u32) -> (u32, &Piece) {
        let number = self.piece_of[(machine.piece_of + state - machine.first_state) as usize];
        (number, &self.pieces[number as usize])
    }

    /// The next state; `queried` tells whether a `?` was read before this octet.
    #[inline]
    pub fn step(&self, number: usize, state: u32, octet: u8, queried: bool) -> u32 {
        let machine = &self.machines[number];
        if state < machine.first_state {
            let first = machine.pattern.first.of(&self.arena.octets);
            if first.get(state as usize) != Some(&octet) {
                return DEAD;
            }
            if state + 1 < first.len() as u32 || machine.is_whole_path() {
                return state + 1;
            }
            // Behind a beginning that has a `?` no piece has two spellings.
            return self.entered(machine, machine.pieces_start, false);
        }
        let (number, piece) = self.piece(machine, state);
        let at = self.step_in(piece, state - piece.base, octet, queried);
        let is_last = number + 1 == machine.pieces_end;
        if piece.is_full(at) && !(machine.anchored && is_last) {
            return self.entered(machine, number + 1, queried || octet == MARK);
        }
        piece.base + at
    }

    #[inline]
    fn step_in(&self, piece: &Piece, at: u32, octet: u8, queried: bool) -> u32 {
        if at < piece.query {
            let in_path = self.in_path(piece);
            let at = in_path.advance(at as usize, octet) as u32;
            if octet != MARK || queried || !piece.is_two() {
                return at;
            }
            // The query begins: with the piece's own `?`, or not.
            return if at > 0 { piece.cross } else { piece.query };
        }
        if at < piece.cross {
            let at = (at - piece.query) as usize;
            return piece.query + self.in_query(piece).advance(at, octet) as u32;
        }
        let behind = at - piece.cross;
        if self.follows(piece, behind) == Some(octet) {
            return at + 1;
        }
        let beside = self.falls[(piece.beside + behind) as usize] as usize;
        piece.query + self.in_query(piece).advance(beside, octet) as u32
    }

    /// The octet of a piece that comes after so many behind its `?`.
    #[inline]
    fn follows(&self, piece: &Piece, behind: u32) -> Option<u8> {
        let at = piece.mark? + 1 + behind;
        piece.in_path.of(&self.arena.octets).get(at as usize).copied()
    }

    /// Whether a path that ends here matches, of a state that is neither [`DEAD`] nor [`MATCHED`].
    #[inline]
    pub fn accepts(&self, number: usize, state: u32) -> bool {
        let machine = &self.machines[number];
        if !machine.anchored {
            return false;
        }
        if state < machine.first_state {
            return machine.is_whole_path() && state + 1 == machine.first_state;
        }
        let (number, piece) = self.piece(machine, state);
        number + 1 == machine.pieces_end && piece.is_full(state - piece.base)
    }

    /// A number of octets that a match is at least away.
    #[inline]
    pub fn to_go(&self, number: usize, state: u32) -> u32 {
        let machine = &self.machines[number];
        if state < machine.first_state {
            return machine.first_state - 1 - state + machine.after_first;
        }
        let (_, piece) = self.piece(machine, state);
        let (at, path, query) = (state - piece.base, piece.in_path.length, piece.in_query.length);
        let here = if at < piece.query {
            let around = if piece.is_two() { 1 + query } else { path };
            (path - at).min(around)
        } else if at < piece.cross {
            query - (at - piece.query)
        } else {
            // The spelling in the query holds the same and an escaped `?`, so it is farther away.
            piece.behind_mark() - (at - piece.cross)
        };
        here + piece.rest
    }

    /// Adds the octets that lead elsewhere than an octet no pattern has.
    #[inline]
    pub fn symbols(&self, number: usize, state: u32, found: &mut Octets) {
        let machine = &self.machines[number];
        if state < machine.first_state {
            let first = machine.pattern.first.of(&self.arena.octets);
            if let Some(&octet) = first.get(state as usize) {
                insert(found, octet);
            }
            return;
        }
        let (_, piece) = self.piece(machine, state);
        let at = state - piece.base;
        if at < piece.query {
            if piece.is_two() {
                insert(found, MARK);
            }
            self.in_path(piece).chain(at as usize, found);
        } else if at < piece.cross {
            self.in_query(piece).chain((at - piece.query) as usize, found);
        } else {
            let behind = at - piece.cross;
            if let Some(octet) = self.follows(piece, behind) {
                insert(found, octet);
            }
            let beside = self.falls[(piece.beside + behind) as usize] as usize;
            self.in_query(piece).chain(beside, found);
        }
    }
}

impl Machine {
    /// Whether it is a literal that a path has to be, to its end.
    #[inline]
    fn is_whole_path(&self) -> bool {
        self.anchored && self.pieces_start == self.pieces_end
    }
}

impl Piece {
    #[inline]
    fn is_two(&self) -> bool {
        self.cross > self.query
    }

    /// Octets behind the `?`.
    #[inline]
    fn behind_mark(&self) -> u32 {
        self.mark.map_or(0, |mark| self.in_path.length - mark - 1)
    }

    /// Whether the piece has just been found.
    #[inline]
    fn is_full(&self, at: u32) -> bool {
        if at < self.query {
            return at == self.in_path.length;
        }
        at + 1 == self.cross || self.mark.is_some() && at == self.cross + self.behind_mark()
    }
}
