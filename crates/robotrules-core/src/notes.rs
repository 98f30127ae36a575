//! Notes: input that the parser tolerated or could not use, as data.
//!
//! A note is a code and a span of octets. This module does not hold messages, levels or references:
//! the Python package does.

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $slug:literal),* $(,)?) => {
        /// The kind of a note.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code { $($(#[$doc])* $variant,)* }

        impl Code {
            /// Every code; the position of a code is `code as usize`.
            pub const ALL: [Code; [$($slug),*].len()] = [$(Code::$variant),*];

            /// The stable name of the code.
            pub fn slug(self) -> &'static str {
                match self { $(Code::$variant => $slug,)* }
            }
        }
    };
}

codes! {
    /// A UTF-8 byte order mark was skipped.
    Bom = "bom",
    /// An incomplete byte order mark was skipped.
    CutBom = "cut-bom",
    /// The file is UTF-16 and was decoded.
    NotUtf8 = "not-utf8",
    /// The file is longer than the limit; the rest was ignored.
    Truncated = "truncated",
    /// The last line is incomplete and was not used.
    CutLine = "cut-line",
    /// The line is longer than the limit of the profile.
    LongLine = "long-line",
    /// A NUL ended the line's content.
    Nul = "nul",
    /// The file starts like an HTML page.
    LooksLikeHtml = "looks-like-html",
    /// The line has no colon.
    NoSeparator = "no-separator",
    /// The name before the colon is empty.
    EmptyKey = "empty-key",
    /// Two words without a colon were read as a record.
    MissingColon = "missing-colon",
    /// A known misspelling was accepted.
    Typo = "typo",
    /// Only the beginning of the name is known.
    PrefixKey = "prefix-key",
    /// A control character makes the line unusable.
    ControlCharacter = "control-character",
    /// A control character is kept as data.
    ControlKept = "control-kept",
    /// VT or FF was trimmed as whitespace.
    OddWhitespace = "odd-whitespace",
    /// The rule also allows the directory of an index page.
    IndexPage = "index-page",
    /// The value is not UTF-8.
    InvalidUtf8 = "invalid-utf8",
    /// A rule appears before any user-agent line.
    RuleOutsideGroup = "rule-outside-group",
    /// Another record appears between user-agent lines of a group.
    RecordBetweenAgents = "record-between-agents",
    /// The user-agent value is empty.
    EmptyUserAgent = "empty-user-agent",
    /// The user-agent value does not start with an identifier.
    UnusableUserAgent = "unusable-user-agent",
    /// Text after the identifier of a user-agent value is ignored.
    UserAgentText = "user-agent-text",
    /// Text after `*` in a user-agent value is ignored.
    StarWithText = "star-with-text",
    /// The user-agent value is a comma-separated list.
    CommaList = "comma-list",
    /// The path pattern starts with neither `/` nor `*` and never matches.
    PatternStart = "pattern-start",
    /// The path pattern has whitespace inside.
    SpaceInPattern = "space-in-pattern",
}

/// A note: a code, a line, and a span of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// The kind of the note.
    pub code: Code,
    /// The line, counted from 1; 0 for the file as a whole.
    pub line: u32,
    /// Where the span starts.
    pub start: u32,
    /// Where the span ends (exclusive).
    pub end: u32,
}
