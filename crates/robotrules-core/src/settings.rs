//! The settings of a profile: named switches, limits and the table of record names.
//!
//! Looking up a name costs one comparison of sixteen octets per known name. This module does not
//! define profiles: `profile.py` in the Python package says which profile turns which switch on,
//! and why. Each switch is read in one module, named in its comment.

// The number of a key that is not in the table. No record has this key.
const ABSENT: u16 = u16::MAX - 1;

/// The effect of a record on grouping (RFC 9309 §2.1). Grouping depends only on roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A `startgroupline`: opens a group, or extends the user-agent lines of the open group.
    Start,
    /// A rule: ends the user-agent lines of its group.
    Rule,
    /// Any other record (§2.2.4): kept with its group, without effect on grouping.
    Other,
}

macro_rules! switches {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        /// The departures of a profile from the RFC, by name. All are off in the strict profile.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Switches { $($(#[$doc])* pub $name: bool,)* }

        impl Switches {
            /// Turns the switch `name` on. Returns false for an unknown name.
            pub fn turn_on(&mut self, name: &str) -> bool {
                match name {
                    $(stringify!($name) => { self.$name = true; true })*
                    _ => false,
                }
            }
        }
    };
}

switches! {
    /// Decode a file that starts with a UTF-16 byte order mark (AMB-08). `lines.rs`
    decode_utf16,
    /// Skip an incomplete byte order mark (AMB-07). `lines.rs`
    cut_bom,
    /// A NUL ends the line's content (AMB-05). `records.rs`
    cut_at_nul,
    /// VT and FF are whitespace too (AMB-10). `records.rs`
    ascii_whitespace,
    /// `disallow /x`: two words without a colon are a record (AMB-13). `records.rs`
    missing_colon,
    /// A name that starts with a known name is read as that name (AMB-15). `records.rs`
    prefix_keys,
    /// Control characters are data and do not make a value unusable (AMB-05). `records.rs`
    keep_controls,
    /// Octets that are not UTF-8 are data (AMB-06). `records.rs`
    keep_invalid_utf8,
    /// Spaces inside a path pattern are data (AMB-11). `records.rs`
    keep_spaces,
    /// `User-agent: * text` is the star group (AMB-23). `groups.rs`
    star_with_text,
    /// A product token outside the grammar may equal the whole value (AMB-22). `groups.rs`
    literal_tokens,
    /// `User-agent: a, b` names both (AMB-25). `groups.rs`
    comma_user_agents,
    /// Compare with minimal percent-encoding: reading 3 of AMB-33. `pattern.rs`
    minimal_encoding,
    /// Compare the path as it is written in the URL (AMB-46). `normalize.rs`
    url_as_given,
    /// `*`, `$` and the end of a prefix may match inside an escape (AMB-43). `normalize.rs`
    split_escapes,
    /// `Allow: /d/index.html` also allows `/d/` (AMB-47). `ruleset.rs`
    index_page,
    /// `/robots.txt` is matched like any other path (AMB-45). `ruleset.rs`
    match_robots_txt,
    /// An empty rule matches every path, with a specificity of zero octets (AMB-42). `ruleset.rs`
    empty_rules_match,
}

impl Switches {
    /// Whether patterns match as RFC 9309 says: in normal form, and each rule has one pattern. The
    /// first URL of a rule set can then be decided without compiling it (`uncompiled.rs`).
    pub fn compare_as_written(&self) -> bool {
        let otherwise = self.minimal_encoding || self.url_as_given || self.split_escapes;
        !(otherwise || self.index_page || self.match_robots_txt || self.empty_rules_match)
    }
}

/// A spelling of a record name.
#[derive(Clone, Debug)]
struct Spelling {
    text: Vec<u8>,
    known: KnownKey,
}

/// The first sixteen octets of a name, in lower case, and its length, for comparison in one step.
type NameWord = (u128, usize);

#[inline]
fn lowercase_word(octets: [u8; 16], length: usize) -> NameWord {
    const ONES: u128 = u128::from_le_bytes([1; 16]);
    let all = u128::from_le_bytes(octets);
    // SIMD within a register: bit 7 of a sum says whether an octet is above a bound; an octet from
    // "A" to "Z" gets bit 5. Octets above ASCII have bit 7 set and are not changed.
    let low = all & (ONES * 0x7F);
    let from_a = low + ONES * (0x80 - b'A' as u128);
    let past_z = low + ONES * (0x7F - b'Z' as u128);
    let upper = (from_a ^ past_z) & !all & (ONES * 0x80);
    ((all | upper >> 2) & MASKS[length.min(16)], length)
}

// Masks for the lowest 0 to 16 octets.
static MASKS: [u128; 17] = {
    let mut masks = [u128::MAX; 17];
    let mut length = 0;
    while length < 16 {
        masks[length] = (1 << (8 * length)) - 1;
        length += 1;
    }
    masks
};

/// An entry of the table of record names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownKey {
    /// Its position in [`Settings::keys`].
    pub key: u16,
    /// Its effect on grouping.
    pub role: Role,
    /// Whether this is the canonical spelling.
    pub canonical: bool,
    /// Whether the name may appear without a colon (AMB-13).
    pub bare: bool,
}

/// A profile in the form that the engine uses.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The departures that are on.
    pub switches: Switches,
    /// Lines that start at or after this offset are ignored (§2.5, AMB-18).
    pub max_bytes: usize,
    /// The number of octets that are read of each line (AMB-17).
    pub max_line: usize,
    /// The number of the key `user-agent`.
    pub user_agent: u16,
    /// The number of the key `allow`.
    pub allow: u16,
    /// The number of the key `disallow`.
    pub disallow: u16,
    keys: Vec<Vec<u8>>,
    // Sorted by length, shortest first. `words` holds those of up to sixteen octets.
    spellings: Vec<Spelling>,
    words: Vec<(NameWord, KnownKey)>,
    // Canonical names followed by a colon, as most lines start: octets, length of the name.
    names_with_colon: Vec<(u128, usize, KnownKey)>,
}

impl Settings {
    /// Settings without any known record name.
    pub fn new(switches: Switches, max_bytes: usize, max_line: usize) -> Settings {
        // Spans are 32 bits wide, so that a file may have at most this many octets.
        let max_bytes = max_bytes.min(1 << 30);
        let (keys, spellings, words, names_with_colon) = (vec![], vec![], vec![], vec![]);
        let (user_agent, allow, disallow) = (ABSENT, ABSENT, ABSENT);
        Settings {
            switches,
            max_bytes,
            max_line,
            user_agent,
            allow,
            disallow,
            keys,
            spellings,
            words,
            names_with_colon,
        }
    }

    /// Adds `spelling` as a spelling of the record name `canonical`. Names ignore ASCII case.
    ///
    /// A spelling that is already in the table is ignored. `bare` names may appear without a colon.
    pub fn add_key(&mut self, spelling: &[u8], canonical: &[u8], role: Role, bare: bool) {
        let canonical = canonical.to_ascii_lowercase();
        let text = spelling.to_ascii_lowercase();
        let key = match self.keys.iter().position(|known| *known == canonical) {
            Some(at) => at,
            None => {
                self.keys.push(canonical.clone());
                self.keys.len() - 1
            }
        };
        if key >= usize::from(ABSENT) || self.spellings.iter().any(|known| known.text == text) {
            return;
        }
        let canonical = text == canonical;
        let known = KnownKey { key: key as u16, role, canonical, bare };
        if text.len() <= 16 {
            let mut octets = [0; 16];
            octets[..text.len()].copy_from_slice(&text);
            self.words.push((lowercase_word(octets, text.len()), known));
            if canonical && text.len() < 16 {
                octets[text.len()] = b':';
                self.names_with_colon.push((
                    lowercase_word(octets, text.len() + 1).0,
                    text.len(),
                    known,
                ));
            }
        }
        self.spellings.push(Spelling { text, known });
        self.spellings.sort_by_key(|spelling| spelling.text.len()); // stable: order is precedence
        let number = |name: &[u8]| self.keys.iter().position(|key| key == name);
        let number = |name| number(name).map_or(ABSENT, |at| at as u16);
        (self.user_agent, self.allow, self.disallow) =
            (number(b"user-agent"), number(b"allow"), number(b"disallow"));
    }

    /// The canonical names, by number.
    pub fn keys(&self) -> &[Vec<u8>] {
        &self.keys
    }

    /// Finds the known name at `start` that is directly followed by a colon, and its length.
    #[inline]
    pub fn name_at(&self, body: &[u8], start: usize) -> Option<(KnownKey, usize)> {
        let octets = body.get(start..)?.first_chunk::<16>()?;
        let (all, _) = lowercase_word(*octets, 16);
        let starts = |&&(name, length, _): &&(u128, usize, KnownKey)| {
            MASKS.get(length + 1).is_some_and(|mask| all & mask == name)
        };
        self.names_with_colon.iter().find(starts).map(|&(_, length, known)| (known, length))
    }

    /// Finds the record name `body[start..end]`, ignoring ASCII case (§2.2).
    #[inline]
    pub fn key(&self, body: &[u8], start: usize, end: usize) -> Option<KnownKey> {
        let name = body.get(start..end)?;
        if name.len() > 16 {
            let known = self.spellings.iter().find(|known| known.text.eq_ignore_ascii_case(name));
            return known.map(|spelling| spelling.known);
        }
        let octets = match body.get(start..).and_then(<[u8]>::first_chunk::<16>) {
            Some(octets) => *octets,
            None => {
                let mut octets = [0; 16];
                octets[..name.len()].copy_from_slice(name);
                octets
            }
        };
        let word = lowercase_word(octets, name.len());
        self.words.iter().find(|(known, _)| *known == word).map(|&(_, known)| known)
    }

    /// Finds the longest known name that is a prefix of `name` (AMB-15).
    pub fn key_by_prefix(&self, name: &[u8]) -> Option<KnownKey> {
        self.spellings
            .iter()
            .rev()
            .filter(|known| known.known.bare && name.len() >= known.text.len())
            .find(|known| known.text.eq_ignore_ascii_case(&name[..known.text.len()]))
            .map(|spelling| spelling.known)
    }
}
