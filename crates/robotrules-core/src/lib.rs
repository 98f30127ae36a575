//! The Robots Exclusion Protocol (RFC 9309) on octets.
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable)]

pub mod document;
pub mod groups;
pub mod index;
pub mod lines;
pub mod notes;
pub mod octets;
pub mod pattern;
pub mod records;
pub mod ruleset;
pub mod settings;

pub use document::Document;
pub use ruleset::{Decision, Kind, RuleSet};
pub use settings::{Role, Settings, Switches};
