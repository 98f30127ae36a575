//! Records to groups, by role alone (RFC 9309 §2.1), and the groups that name a product token
//! (§2.2.1).
//!
//! A group is a run of records, from its first user-agent line to the next group. It costs four
//! octets. Finding a token is linear in the user-agent lines, or one hash lookup in an
//! [`AgentIndex`]. This module does not read rules.

use crate::notes::Code;
use crate::records::{faults, NoteSink, Record};
use crate::settings::{Role, Settings};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::OnceLock;

/// Collects records into groups.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    /// Number of the first record of each group.
    pub starts: Vec<u32>,
    // Whether the next user-agent line extends the open group.
    open_for_agents: bool,
}

impl Groups {
    /// Adds the next record; `number` counts records from 0.
    #[inline]
    pub fn add(&mut self, role: Role, number: u32) {
        match role {
            Role::Start => {
                if !self.open_for_agents {
                    self.starts.push(number);
                }
                self.open_for_agents = true;
            }
            // A rule outside a group has no effect (§2.2.2, AMB-31).
            Role::Rule => self.open_for_agents = false,
            // §2.2.4: other records MUST NOT interfere (AMB-28, AMB-29).
            Role::Other => {}
        }
    }

    /// Whether the next user-agent line extends the open group.
    pub fn is_open_for_agents(&self) -> bool {
        self.open_for_agents
    }
}

/// The crawlers that a user-agent value names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent<'a> {
    /// All crawlers that no other group names.
    Star,
    /// A crawler: by leading identifier (AMB-21), and optionally by the whole value (AMB-22).
    Token {
        /// The leading identifier. An empty one does not name a crawler.
        identifier: &'a [u8],
        /// The whole value.
        whole: &'a [u8],
    },
    /// An empty value, which names no crawler (AMB-24).
    Empty,
}

/// `identifier = 1*(%x2D / %x41-5A / %x5F / %x61-7A)` (§2.2).
#[inline]
fn is_identifier(octet: u8) -> bool {
    octet.is_ascii_alphabetic() || octet == b'-' || octet == b'_'
}

/// The leading identifier of a value.
#[inline]
pub fn identifier(value: &[u8]) -> &[u8] {
    let length = value.iter().position(|&octet| !is_identifier(octet)).unwrap_or(value.len());
    &value[..length]
}

/// Parses a user-agent value without surrounding whitespace.
#[inline]
pub fn agent<'a>(value: &'a [u8], settings: &Settings) -> Agent<'a> {
    match value {
        b"" => Agent::Empty,
        b"*" => Agent::Star,
        [b'*', b' ' | b'\t'..=b'\r', ..] if settings.switches.star_with_text => Agent::Star,
        _ => Agent::Token { identifier: identifier(value), whole: value },
    }
}

/// The agents of a value: one, or those of a comma-separated list (AMB-25).
pub fn agents<'a>(value: &'a [u8], settings: &'a Settings) -> impl Iterator<Item = Agent<'a>> {
    let list = settings.switches.comma_user_agents;
    value.split(move |&octet| list && octet == b',').map(|part| agent(trim(part), settings))
}

fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

impl<'a> Agent<'a> {
    /// The tokens that this names: the star, or a crawler in one or two spellings.
    #[inline]
    pub fn tokens(&self, settings: &Settings) -> [Option<&'a [u8]>; 2] {
        match *self {
            Agent::Empty => [None, None],
            Agent::Star => [Some(b"*"), None],
            Agent::Token { identifier, whole } => [
                (!identifier.is_empty()).then_some(identifier),
                settings.switches.literal_tokens.then_some(whole),
            ],
        }
    }

    /// Whether this names `token`, ignoring ASCII case (§2.2.1). `*` names the star group.
    #[inline]
    pub fn names(&self, token: &[u8], settings: &Settings) -> bool {
        self.tokens(settings).iter().flatten().any(|own| own.eq_ignore_ascii_case(token))
    }
}

/// Whether a user-agent line names `token`.
#[inline]
pub fn names(record: &Record, body: &[u8], token: &[u8], settings: &Settings) -> bool {
    let value = record.value(body);
    if settings.switches.comma_user_agents {
        return faults(value).usable_token(settings)
            && agents(value, settings).any(|agent| agent.names(token, settings));
    }
    // Most lines name another crawler: check for faults only those that match.
    agent(value, settings).names(token, settings) && faults(value).usable_token(settings)
}

/// Groups by the tokens of their user-agent lines, in lower case.
type GroupsByToken = HashMap<Box<[u8]>, Vec<u32>>;

/// A hash index of product tokens, built when a file with many groups is queried for many crawlers.
/// Without it the cost would be quadratic: all user-agent lines for each crawler.
#[derive(Debug, Default)]
pub struct AgentIndex {
    lookups: AtomicU32,
    index: OnceLock<GroupsByToken>,
}

/// Up to this many groups are always scanned. With more, the first `FEW_LOOKUPS` lookups scan: a
/// crawler looks up one or two tokens, and building the index costs about ten scans.
const FEW_GROUPS: usize = 64;
const FEW_LOOKUPS: u32 = 16;

impl AgentIndex {
    /// The groups that name `token`, in order; `None` while a scan costs less. `lines` returns the
    /// user-agent values, each with the number of its group.
    pub fn find<'a>(
        &self,
        token: &[u8],
        groups: usize,
        lines: impl FnOnce() -> Vec<(u32, &'a [u8])>,
        settings: &Settings,
    ) -> Option<Vec<u32>> {
        let few = groups <= FEW_GROUPS || self.lookups.fetch_add(1, Relaxed) < FEW_LOOKUPS;
        if self.index.get().is_none() && few {
            return None;
        }
        let index = self.index.get_or_init(|| build_index(lines(), settings));
        Some(index.get(token.to_ascii_lowercase().as_slice()).cloned().unwrap_or_default())
    }
}

impl Clone for AgentIndex {
    fn clone(&self) -> AgentIndex {
        AgentIndex::default()
    }
}

fn build_index(lines: Vec<(u32, &[u8])>, settings: &Settings) -> GroupsByToken {
    let mut index = GroupsByToken::new();
    let mut add = |name: &[u8], group: u32| {
        let groups = index.entry(name.to_ascii_lowercase().into()).or_default();
        if groups.last() != Some(&group) {
            groups.push(group);
        }
    };
    for (group, value) in lines {
        if !faults(value).usable_token(settings) {
            continue;
        }
        for name in agents(value, settings).flat_map(|agent| agent.tokens(settings)).flatten() {
            add(name, group);
        }
    }
    index
}

/// Whether the whole value of a START record is `token`, ignoring ASCII case.
#[inline]
pub fn has_value(record: &Record, body: &[u8], token: &[u8], settings: &Settings) -> bool {
    let value = record.value(body);
    value.eq_ignore_ascii_case(token) && faults(value).usable_token(settings)
}

/// Reports the notes on a user-agent line.
pub fn report_notes(record: &Record, body: &[u8], settings: &Settings, sink: &mut impl NoteSink) {
    let value = record.value(body);
    let (start, end) = (record.value_start as usize, record.value_end as usize);
    let mut note = |code, start, end| sink.note(code, record.line, start, end);
    let found = faults(value);
    if let Some(code) = found.control_code(settings) {
        note(code, start, end);
        if code == Code::ControlCharacter {
            return;
        }
    }
    if found.not_utf8 {
        note(Code::InvalidUtf8, start, end);
    }
    if value.contains(&b',') {
        note(Code::CommaList, start, end);
        if settings.switches.comma_user_agents {
            return;
        }
    }
    match agent(value, settings) {
        Agent::Empty => note(Code::EmptyUserAgent, start, end),
        Agent::Star if value.len() > 1 => note(Code::StarWithText, start + 1, end),
        Agent::Star => {}
        Agent::Token { identifier: b"", .. } => note(Code::UnusableUserAgent, start, end),
        Agent::Token { identifier, whole } if identifier.len() < whole.len() => {
            note(Code::UserAgentText, start + identifier.len(), end);
        }
        Agent::Token { .. } => {}
    }
}
