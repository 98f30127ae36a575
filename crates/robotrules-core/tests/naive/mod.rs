//! RFC 9309 §2.2.2 and §2.2.3 by brute force, as an oracle for tests. It shares no code with the engine,
//! except for the path of a URL as given, which has separate tests.
#![allow(dead_code)] // each test file uses a part of it

use robotrules_core::{url_path, Decision, Kind, Settings};
use std::collections::BTreeSet;

/// A pattern as written, and its kind.
pub type Rule = (Vec<u8>, Kind);

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Path,
    Query,
    /// After a wildcard: all delimiters are kept.
    Either,
}

fn is_unreserved(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || b"-._~".contains(&octet)
}

fn escape_at(octets: &[u8], at: usize) -> Option<u8> {
    let digits = std::str::from_utf8(octets.get(at + 1..at + 3)?).ok()?;
    let is_escape = octets[at] == b'%' && digits.bytes().all(|octet| octet.is_ascii_hexdigit());
    is_escape.then(|| u8::from_str_radix(digits, 16).ok()).flatten()
}

/// The normal form of a piece, and the part at its end.
fn form(octets: &[u8], mut part: Part) -> (Vec<u8>, Part) {
    let (mut out, mut at) = (vec![], 0);
    while at < octets.len() {
        let escaped = escape_at(octets, at);
        let octet = escaped.unwrap_or(octets[at]);
        at += if escaped.is_some() { 3 } else { 1 };
        let delimiters: &[u8] = match part {
            Part::Path => b"/?",
            Part::Query => b"=&",
            Part::Either => b"/?=&",
        };
        if is_unreserved(octet) || escaped.is_none() && delimiters.contains(&octet) {
            out.push(octet);
            part = if octet == b'?' { Part::Query } else { part };
        } else {
            out.extend(format!("%{octet:02X}").bytes());
        }
    }
    (out, part)
}

/// A piece in the form of profile google: escapes in upper case, octets above ASCII escaped.
fn minimal_form(octets: &[u8]) -> Vec<u8> {
    let (mut out, mut at) = (vec![], 0);
    while at < octets.len() {
        if escape_at(octets, at).is_some() {
            out.extend(octets[at..at + 3].to_ascii_uppercase());
            at += 3;
            continue;
        }
        match octets[at] {
            octet @ 0x80.. => out.extend(format!("%{octet:02X}").bytes()),
            octet => out.push(octet),
        }
        at += 1;
    }
    out
}

/// The positions where `*` may start and end: between units (AMB-43), or anywhere.
fn boundaries(path: &[u8], settings: &Settings) -> BTreeSet<usize> {
    let switches = settings.switches;
    let whole = !switches.split_escapes && !switches.url_as_given;
    let inside =
        |at: usize| (1..=2).any(|back| at >= back && whole && escape_at(path, at - back).is_some());
    (0..=path.len()).filter(|&at| !inside(at)).collect()
}

/// The specificity of a pattern that matches a path in normal form; `None` if it does not match.
pub fn matching(value: &[u8], path: &[u8], settings: &Settings) -> Option<usize> {
    if !matches!(value.first(), Some(b'/' | b'*')) {
        return None;
    }
    let minimal = settings.switches.minimal_encoding;
    let form = |piece: &[u8], part| match minimal {
        true => (minimal_form(piece), part),
        false => form(piece, part),
    };
    let query = path.iter().position(|&octet| octet == b'?').map_or(path.len() + 1, |at| at + 1);
    let (body, anchored) = value.strip_suffix(b"$").map_or((value, false), |body| (body, true));
    let mut pieces = body.split(|&octet| octet == b'*');
    let (first, mut part) = form(pieces.next().unwrap_or_default(), Part::Path);
    let mut count = first.len() + usize::from(anchored);
    if !path.starts_with(&first) {
        return None;
    }
    let between = boundaries(path, settings);
    let mut ends = BTreeSet::from([first.len()]);
    for piece in pieces {
        part = if part == Part::Query { part } else { Part::Either };
        let (shown, next) = form(piece, part);
        count += 1 + shown.len();
        let mut found = BTreeSet::new();
        let from = ends.first().copied().unwrap_or(usize::MAX);
        let (in_path, in_query) = (form(piece, Part::Path).0, form(piece, Part::Query).0);
        for &start in between.iter().filter(|&&start| start >= from) {
            let is_query = part == Part::Query || start >= query;
            let octets = if is_query { &in_query } else { &in_path };
            let end = start + octets.len();
            if path[start..].starts_with(octets) && (minimal || between.contains(&end)) {
                found.insert(end);
            }
        }
        (ends, part) = (found, next);
    }
    let matches = if anchored { ends.contains(&path.len()) } else { !ends.is_empty() };
    matches.then_some(count)
}

/// Decides a URL: greatest specificity, then allow, then the first (§2.2.2, AMB-40).
pub fn decide(rules: &[Rule], url: &[u8], settings: &Settings) -> Decision {
    let path = match settings.switches.url_as_given {
        true => url_path::normal_form(url, settings),
        false => path(url),
    };
    if path == b"/robots.txt" && !settings.switches.match_robots_txt {
        return Decision::Implicit;
    }
    let mut best: Option<(usize, bool, usize)> = None;
    for (rule, (value, kind)) in rules.iter().enumerate() {
        let allow = *kind == Kind::Allow;
        if let Some(octets) = matching(value, &path, settings) {
            if best.is_none_or(|(most, wins, _)| (most, wins) < (octets, allow)) {
                best = Some((octets, allow, rule));
            }
        }
    }
    match best {
        Some((_, true, rule)) => Decision::Allow(rule as u32),
        Some((_, false, rule)) => Decision::Disallow(rule as u32),
        None => Decision::NoMatch,
    }
}

/// The length of the longest prefix without these octets.
fn before(octets: &[u8], these: &[u8]) -> usize {
    octets.iter().position(|octet| these.contains(octet)).unwrap_or(octets.len())
}

/// Path and query of a URL in normal form: RFC 3986 §3 and §5.2.4, and the form of §2.2.2.
pub fn path(url: &[u8]) -> Vec<u8> {
    let first = before(url, b"/?#");
    let has_authority = url[first..].starts_with(b"//") && (first == 0 || url[first - 1] == b':');
    let start = match has_authority {
        true => first + 2 + before(&url[first + 2..], b"/?#"),
        false => first,
    };
    let rest = &url[start..start + before(&url[start..], b"#")];
    let rest = if rest.starts_with(b"/") { rest.to_vec() } else { [b"/", rest].concat() };
    let whole = form(&rest, Part::Path).0;
    let (path, query) = whole.split_at(before(&whole, b"?"));
    let segments: Vec<&[u8]> = path[1..].split(|&octet| octet == b'/').collect();
    let mut kept: Vec<&[u8]> = vec![];
    for (number, segment) in segments.iter().enumerate() {
        let dots = matches!(*segment, b"." | b"..");
        if *segment == b".." {
            kept.pop();
        }
        if !dots {
            kept.push(segment);
        } else if number + 1 == segments.len() {
            kept.push(b"");
        }
    }
    [b"/", &kept.join(&b'/')[..], query].concat()
}
