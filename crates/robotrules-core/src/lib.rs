//! The Robots Exclusion Protocol (RFC 9309) on octets: parse a robots.txt, select the groups of a
//! crawler, decide URLs. No I/O, no clock, no unsafe code, and no panic on input.
//!
//! # Design
//!
//! Both the file and the URL are untrusted input, a crawler processes millions of each, and every
//! decision must be correct and explainable. Therefore every byte string is a robots.txt
//! (§2.3.1.5); a file is parsed once and queried often; every decision names the rule, and the rule
//! names its octets; and no input makes the work grow faster than the product of the two texts.
//!
//! # Pipeline
//!
//! ```text
//! bytes → lines → records → groups → rule set → decision
//!         lines   records   groups   ruleset    url_path, normalize, pattern, scan, index, batch, prefilter
//! ```
//!
//! Each arrow is a function of the modules named below it. [`Document::parse`] runs the first three
//! in one pass and keeps positions, not copies. [`Document::select`] finds the groups of a product
//! token, [`Document::compile`] compiles their rules, [`RuleSet::decide`] decides a URL.
//!
//! # Modules
//!
//! | module | contents |
//! |---|---|
//! | `normalize`, `url_path` | percent-encoding normal form; URL to path, with dot segments removed |
//! | `pattern` | a path pattern with `*` and `$`, by leftmost match without backtracking |
//! | `ruleset` | precedence: specificity in octets, then allow before disallow |
//! | `scan`, `simd` | linear scan, four patterns per comparison; SIMD lanes of sixteen octets |
//! | `index`, `prefix_trie`, `bigrams` | large rule sets: prefix trie for literals, n-gram index for wildcards |
//! | `prefilter`, `batch` | many URLs at once: a bit set of candidate patterns for each path |
//! | `origin`, `origin_index` | the origin of a URL; origins by number, for joins |
//! | `uncompiled` | the first URL of a rule set, decided without compiling it |
//! | `kmp`, `pattern_dfa`, `path_dfa` | patterns and paths as DFAs; KMP failure function |
//! | `facts`, `crawler_names`, `text_lists` | facts about files as columns; crawlers by user-agent line |
//! | `coverage` | whether rules allow all URLs, some or none |
//! | `product_search`, `search`, `languages` | witnesses for decision lists: A* search over the product of the DFAs |
//!
//! ```
//! use robotrules_core::{Decision, Document, Role, Settings, Switches};
//! use std::sync::Arc;
//!
//! let mut settings = Settings::new(Switches::default(), 512_000, usize::MAX);
//! settings.add_key(b"user-agent", b"user-agent", Role::Start, true);
//! settings.add_key(b"allow", b"allow", Role::Rule, true);
//! settings.add_key(b"disallow", b"disallow", Role::Rule, true);
//!
//! let body = "User-agent: ExampleBot\nDisallow: /shop/\nAllow: /shop/*.html$\n";
//! let document = Document::parse(body, Arc::new(settings), true);
//! let groups = document.select(document.settings().user_agent, b"examplebot");
//! let rules = document.compile(&groups);
//!
//! let mut scratch = Vec::new();
//! assert_eq!(rules.decide(b"https://example.com/shop/cart", &mut scratch), Decision::Disallow(0));
//! assert_eq!(rules.decide(b"https://example.com/shop/a.html", &mut scratch), Decision::Allow(1));
//! ```
//!
//! # Cost
//!
//! | step | time | memory |
//! |---|---|---|
//! | parse | linear in the file | 28 octets per record, 4 per group |
//! | select | linear in the user-agent lines | the numbers of the groups |
//! | decide once | the first octets of each pattern, then a search for the candidates | none |
//! | compile | linear in the patterns | the patterns and about 70 octets each |
//! | decide, up to 64 rules | one comparison per four rules, then a search for the candidates | none |
//! | decide, more rules | literals: linear in the path, for any number of rules; wildcards: those that share an n-gram with the path | none |
//! | decide many, up to 256 rules | a few table lookups per 64 rules, then a search for the candidates | 15 KB per 64 rules, for the duration of the batch |
//! | decide, worst case | octets of the path times wildcards of the candidates | none |
//!
//! In a set of 1,024 wildcard patterns or more, equal patterns are matched once, so that a file that
//! repeats a rule costs no more than the rule.
//!
//! A URL that is not in normal form needs a buffer for its path, which the caller can reuse.
//!
//! # Limits
//!
//! [`Settings::max_bytes`] bounds the part of a file that is read; a line that starts before this
//! limit may end up to [`lines::SLACK`] octets after it. Lines, groups and rules are not limited.
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable)]

mod batch;
mod bigrams;
pub mod coverage;
pub mod crawler_names;
pub mod document;
pub mod facts;
pub mod groups;
pub mod index;
pub mod kmp;
pub mod languages;
pub mod lines;
mod normalize;
pub mod notes;
pub mod origin;
pub mod origin_index;
pub mod path_dfa;
pub mod pattern;
pub mod pattern_dfa;
mod prefilter;
mod prefix_trie;
pub mod product_search;
pub mod records;
pub mod ruleset;
mod scan;
mod search;
pub mod settings;
mod simd;
pub mod text_lists;
mod uncompiled;
pub mod url_path;

pub use batch::Row;
pub use document::Document;
pub use languages::Languages;
pub use normalize::Comparison;
pub use ruleset::{Decision, Kind, RuleSet};
pub use settings::{Role, Settings, Switches};
