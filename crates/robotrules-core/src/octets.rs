//! URL to path, and the percent-encoding normal form both sides are compared in
//! (RFC 9309 §2.2.2; RFC 3986 §2, §5.2.4, §6.2.2).
//!
//! It does not know rules. Of the URL only path and query take part (REP-2.2.2-26).

use memchr::{memchr, memchr3, memmem};

const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// Where an octet stands, which decides what the delimiters `/ ? = &` mean there (AMB-33).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Before the first `?`: `/` delimits; `=` and `&` are data.
    Path,
    /// After it: `=` and `&` delimit; `/` and `?` are data.
    Query,
    /// In a pattern after `*`: the wildcard may have swallowed the `?`, so nobody can tell.
    Either,
}

// Octet classes: what may stay as it is. One bit for each question, so that the answers for many
// octets are the bits they have in common.
const IN_PATH: u8 = 1;
const IN_QUERY: u8 = 2;
const IN_EITHER: u8 = 4;
const NOT_DOT: u8 = 8; // in a path, and surely no part of a dot segment
static CLASS: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut octet = 0;
    while octet < 256 {
        // unreserved = ALPHA / DIGIT / "-" / "." / "_" / "~" (RFC 3986 §2.3)
        table[octet] = match octet as u8 {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' => IN_PATH | IN_QUERY | IN_EITHER | NOT_DOT,
            b'-' | b'_' | b'~' => IN_PATH | IN_QUERY | IN_EITHER | NOT_DOT,
            b'.' => IN_PATH | IN_QUERY | IN_EITHER,
            b'/' => IN_PATH | IN_EITHER | NOT_DOT,
            b'=' | b'&' => IN_QUERY | IN_EITHER,
            _ => 0,
        };
        octet += 1;
    }
    table
}

#[inline]
fn is_unreserved(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'.' | b'_' | b'~')
}

fn push_escape(out: &mut Vec<u8>, octet: u8) {
    out.extend([b'%', HEX[usize::from(octet >> 4)], HEX[usize::from(octet & 15)]]);
}

/// The octet that `%XX` at the start of `octets` stands for.
fn escape(octets: &[u8]) -> Option<u8> {
    let digit = |at: usize| octets.get(at).and_then(|&octet| char::from(octet).to_digit(16));
    match octets.first() {
        Some(b'%') => Some((digit(1)? * 16 + digit(2)?) as u8),
        _ => None,
    }
}

/// Appends the normal form of `octets`; returns the part that what follows stands in.
pub fn push_form(out: &mut Vec<u8>, octets: &[u8], mut part: Part) -> Part {
    let mut at = 0;
    loop {
        let stays = match part {
            Part::Path => IN_PATH,
            Part::Query => IN_QUERY,
            Part::Either => IN_EITHER,
        };
        let same = run(&octets[at..], stays);
        out.extend_from_slice(&octets[at..at + same]);
        at += same;
        let Some(&octet) = octets.get(at) else { return part };
        if let Some(decoded) = escape(&octets[at..]) {
            // Escapes of unreserved octets are decoded; others stay, in upper case.
            match is_unreserved(decoded) {
                true => out.push(decoded),
                false => push_escape(out, decoded),
            }
            at += 3;
            continue;
        }
        at += 1;
        if octet == b'?' && part != Part::Query {
            out.push(octet);
            part = Part::Query;
        } else {
            push_escape(out, octet);
        }
    }
}

/// Appends a pattern as profile google compares it: hex in upper case, octets past ASCII escaped.
pub fn push_minimal_form(out: &mut Vec<u8>, octets: &[u8]) {
    let mut at = 0;
    while let Some(&octet) = octets.get(at) {
        if escape(&octets[at..]).is_some() {
            out.extend(octets[at..at + 3].to_ascii_uppercase());
            at += 3;
            continue;
        }
        match octet {
            0x80.. => push_escape(out, octet),
            _ => out.push(octet),
        }
        at += 1;
    }
}

/// Path and query of a URL in the form that rules are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path<'a> {
    /// The octets; the first is `/`.
    pub octets: &'a [u8],
    /// Whether there is a `?`.
    pub has_query: bool,
}

/// The path of `url`. `scratch` holds it when it is not a part of `url` already; nothing is
/// allocated for a URL that is in normal form.
#[inline]
pub fn path<'a>(url: &'a [u8], url_as_given: bool, scratch: &'a mut Vec<u8>) -> Path<'a> {
    scratch.clear();
    if !url_as_given {
        let start = path_start(url);
        if let Some(path) = normal_path(url.get(start..).unwrap_or_default()) {
            return path;
        }
        return normalised(url, start, scratch);
    }
    let octets = path_as_given(url, scratch);
    Path { octets, has_query: memchr(b'?', octets).is_some() }
}

fn normalised<'a>(url: &[u8], start: usize, scratch: &'a mut Vec<u8>) -> Path<'a> {
    let given = url.get(start..).unwrap_or_default();
    let given = &given[..memchr(b'#', given).unwrap_or(given.len())];
    if given.first() != Some(&b'/') {
        scratch.push(b'/'); // RFC 3986 §6.2.3: an empty path is "/"
    }
    push_form(scratch, given, Part::Path);
    remove_dot_segments(scratch);
    Path { octets: scratch, has_query: memchr(b'?', scratch).is_some() }
}

/// Where path or query begins; the URL's end when there is neither.
#[inline]
fn path_start(url: &[u8]) -> usize {
    let delimiter = |from: usize| {
        let rest = url.get(from..).unwrap_or_default();
        memchr3(b'/', b'?', b'#', rest).map_or(url.len(), |length| from + length)
    };
    let authority = match url {
        [b'h', b't', b't', b'p', b's', b':', b'/', b'/', ..] => 8,
        [b'h', b't', b't', b'p', b':', b'/', b'/', ..] => 7,
        _ => {
            let first = delimiter(0);
            let slashes = url[first..].starts_with(b"//");
            if !slashes || (first > 0 && url[first - 1] != b':') {
                return first;
            }
            first + 2
        }
    };
    delimiter(authority)
}

/// The path and query at the start of `given`, if they are in normal form already.
#[inline]
fn normal_path(given: &[u8]) -> Option<Path<'_>> {
    if given.first() != Some(&b'/') {
        return None;
    }
    let mut at = run(given, NOT_DOT);
    while given.get(at) == Some(&b'.') {
        // Only behind a slash, and before another dot or the segment's end, a dot is not a dot.
        if given[at - 1] == b'/' && !matches!(given.get(at + 1), Some(o) if is_name(*o)) {
            return None;
        }
        at += 1;
        at += run(&given[at..], NOT_DOT);
    }
    let has_query = given.get(at) == Some(&b'?');
    if has_query {
        at += 1 + run(&given[at + 1..], IN_QUERY);
    }
    match given.get(at) {
        None | Some(b'#') => Some(Path { octets: &given[..at], has_query }),
        _ => None,
    }
}

/// Whether an octet shows that the dot before it begins an ordinary segment.
#[inline]
fn is_name(octet: u8) -> bool {
    CLASS[usize::from(octet)] & (IN_QUERY | NOT_DOT) == IN_QUERY | NOT_DOT
}

/// Whether a pattern is its own normal form, and a prefix without wildcards.
#[inline]
pub fn is_plain(pattern: &[u8]) -> bool {
    run(pattern, IN_PATH) == pattern.len()
}

/// How many octets at the start are of a class.
#[inline]
fn run(octets: &[u8], class: u8) -> usize {
    let of_class = |octet: &u8| CLASS[usize::from(*octet)] & class != 0;
    // Eight at a time while all are; then one by one.
    let all = |eight: &&[u8]| eight.iter().fold(class, |all, &o| all & CLASS[usize::from(o)]) != 0;
    let whole = 8 * octets.chunks_exact(8).take_while(all).count();
    whole + octets[whole..].iter().take_while(|octet| of_class(octet)).count()
}

/// Removes `.` and `..` segments from the path of a normal form, in place (RFC 3986 §5.2.4).
fn remove_dot_segments(form: &mut Vec<u8>) {
    if memmem::find(form, b"/.").is_none() {
        return;
    }
    let path_end = memchr(b'?', form).unwrap_or(form.len());
    let (mut read, mut write) = (0, 0);
    while read < path_end {
        let end =
            memchr(b'/', &form[read + 1..path_end]).map_or(path_end, |length| read + 1 + length);
        let dots = match &form[read..end] {
            b"/." => 1,
            b"/.." => 2,
            _ => 0,
        };
        if dots == 2 {
            write = form[..write].iter().rposition(|&octet| octet == b'/').unwrap_or(0);
        }
        if dots == 0 {
            form.copy_within(read..end, write);
            write += end - read;
        } else if end == path_end {
            form[write] = b'/'; // a dot segment at the end leaves its slash
            write += 1;
        }
        read = end;
    }
    form.drain(write..path_end);
}

/// The path as google/robotstxt takes it from a URL: `;` begins a path too, nothing is encoded.
fn path_as_given<'a>(url: &'a [u8], scratch: &'a mut Vec<u8>) -> &'a [u8] {
    let first = if url.starts_with(b"//") { 2 } else { 0 };
    let delimiter = |from: usize| memchr3(b'/', b'?', b';', &url[from..]).map(|at| from + at);
    let scheme = memmem::find(&url[first..], b"://").map(|at| first + at);
    let authority = match (delimiter(first), scheme) {
        (Some(early), Some(scheme)) if early < scheme => first,
        (_, Some(scheme)) => scheme + 3,
        (_, None) => first,
    };
    let hash = memchr(b'#', &url[first..]).map_or(url.len(), |at| first + at);
    let given = match delimiter(authority) {
        Some(start) if start <= hash => &url[start..hash],
        _ => b"/",
    };
    let given = &given[..memchr(0, given).unwrap_or(given.len())];
    if given.first() == Some(&b'/') {
        return given;
    }
    scratch.push(b'/');
    scratch.extend(given);
    scratch
}
