//! The Robots Exclusion Protocol (RFC 9309) on octets: parse a robots.txt, choose the groups a
//! crawler obeys, decide about URLs. No I/O, no clock, no unsafe code, and no panic on input.
//!
//! # Why another one
//!
//! Both the file and the URL come from strangers, a crawler meets millions of each, and the answer
//! has to be right and explained. So: every byte string is a robots.txt (§2.3.1.5); a file is read
//! once and asked often; every answer can name the octets it rests on; and no input, however
//! clever, makes the work grow faster than the product of the two texts.
//!
//! # How it goes
//!
//! ```text
//! bytes → lines → records → groups → rule set → decision
//!         lines   records   groups   ruleset    octets, scan, pattern, index, batch, shortlist
//! ```
//!
//! Each arrow is a function of the module named below it. [`Document::parse`] does the first three
//! in one pass and keeps positions, not copies. [`Document::select`] finds the groups of a product
//! token, [`Document::compile`] makes their rules ready, [`RuleSet::decide`] answers.
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
//! # What it costs
//!
//! | step | time | memory |
//! |---|---|---|
//! | parse | one look at each octet | 28 octets a record, 4 a group |
//! | select | one look at each user-agent line | the numbers of the groups |
//! | decide once | one look at the beginning of each pattern, a search for those that remain | none |
//! | compile | one look at each octet of their patterns | the patterns and some 70 octets each |
//! | decide, up to 64 rules | one comparison for four rules, a search for those that remain | none |
//! | decide, more rules | the path's length, whatever the number of rules without a wildcard; of the others those that share four octets with the path | none |
//! | decide many, up to 256 rules | some table look-ups for 64 rules, a search for those that remain | 15 KB while it lasts, for 64 rules |
//! | decide, at worst | octets of the path times wildcards of the rules that cannot be told apart | none |
//!
//! Of 1,024 wildcard rules or more, those that match the same are tried once, so that a file that repeats
//! one rule costs what one rule does.
//!
//! A URL that is not in normal form needs room for its path, which the caller may keep.
//!
//! # Limits
//!
//! [`Settings::max_bytes`] bounds what is read of a file; a line that starts inside it may end
//! [`lines::SLACK`] octets past it. Within that there is no limit on lines, groups or rules.
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable)]

mod batch;
mod bigrams;
pub mod document;
pub mod groups;
pub mod index;
pub mod kmp;
pub mod languages;
pub mod lines;
mod normalize;
pub mod notes;
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
mod uncompiled;
pub mod url_path;

pub use document::Document;
pub use languages::Languages;
pub use normalize::Compared;
pub use ruleset::{Decision, Kind, RuleSet};
pub use settings::{Role, Settings, Switches};
