//! URL to path, and the percent-encoding normal form both sides are compared in
//! (RFC 9309 §2.2.2; RFC 3986 §2, §5.2.4, §6.2.2).
//!
//! It does not know rules. Of the URL only path and query take part (REP-2.2.2-26).

use crate::lanes::{self, first_word, is, last_word, within, Lanes};
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

// What may stay as it is: unreserved octets (RFC 3986 §2.3), and the delimiters of a part in it. As
// a table, one bit for each part, for what is short; in lanes for URLs.
const IN_PATH: u8 = 1;
const IN_QUERY: u8 = 2;
const IN_EITHER: u8 = 4;
static STAYS: [u8; 256] = stays();

const fn stays() -> [u8; 256] {
    let mut table = [0; 256];
    let mut octet = 0;
    while octet < 256 {
        table[octet] = match octet as u8 {
            octet if is_unreserved(octet) => IN_PATH | IN_QUERY | IN_EITHER,
            b'/' => IN_PATH | IN_EITHER,
            b'=' | b'&' => IN_QUERY | IN_EITHER,
            _ => 0,
        };
        octet += 1;
    }
    table
}

/// ALPHA / DIGIT / "-" / "." / "_" / "~", and "/", which stands between "." and "0".
#[inline(always)]
fn unreserved_or_slash(octets: Lanes) -> Lanes {
    within(octets | Lanes::splat(0x20), b'a', b'z')
        | within(octets, b'-', b'9')
        | is(octets, b'_')
        | is(octets, b'~')
}

/// What has to be escaped in a path.
#[inline(always)]
pub fn not_in_path(octets: Lanes) -> Lanes {
    !unreserved_or_slash(octets)
}

/// What has to be escaped in a query.
#[inline(always)]
pub fn not_in_query(octets: Lanes) -> Lanes {
    let delimits = is(octets, b'=') | is(octets, b'&');
    !(unreserved_or_slash(octets) | delimits) | is(octets, b'/')
}

/// ALPHA / DIGIT / "-" / "." / "_" / "~" (RFC 3986 §2.3): it means itself wherever it stands.
#[inline]
pub const fn is_unreserved(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'.' | b'_' | b'~')
}

fn push_escape(out: &mut Vec<u8>, octet: u8) {
    out.extend([b'%', HEX[usize::from(octet >> 4)], HEX[usize::from(octet & 15)]]);
}

// What a hexadecimal digit stands for; of any other octet something above fifteen.
static DIGITS: [u8; 256] = digits();

const fn digits() -> [u8; 256] {
    let mut table = [u8::MAX; 256];
    let mut value = 0;
    while value < 16 {
        let digit = HEX[value as usize];
        table[digit as usize] = value;
        table[digit.to_ascii_lowercase() as usize] = value;
        value += 1;
    }
    table
}

/// The octet that `%XX` at the start of `octets` stands for.
#[inline]
fn escape(octets: &[u8]) -> Option<u8> {
    let &[b'%', high, low, ..] = octets else { return None };
    let (high, low) = (DIGITS[usize::from(high)], DIGITS[usize::from(low)]);
    (high | low < 16).then_some(high << 4 | low & 15)
}

/// Appends the normal form of `octets`; returns the part that what follows stands in.
pub fn push_form(out: &mut Vec<u8>, octets: &[u8], mut part: Part) -> Part {
    let mut at = 0;
    loop {
        // Where one escape stands, there are more.
        if octets.get(at) != Some(&b'%') {
            at += push_run(out, &octets[at..], part);
        }
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

/// Appends what `octets` begins with and may stay as it is in a part, and returns its length.
#[inline(always)]
fn push_run(out: &mut Vec<u8>, octets: &[u8], part: Part) -> usize {
    let mut at = 0;
    // All sixteen are appended, whatever they are: it costs less than to append so many of them.
    while let Some(&sixteen) = octets[at..].first_chunk::<16>() {
        let lanes = Lanes::new(sixteen);
        let stops = match part {
            Part::Path => not_in_path(lanes),
            Part::Query => not_in_query(lanes),
            Part::Either => not_in_path(lanes) & not_in_query(lanes),
        };
        let stay = stops.to_bitmask().trailing_zeros().min(16) as usize;
        out.extend_from_slice(&sixteen);
        out.truncate(out.len() - 16 + stay);
        at += stay;
        if stay < 16 {
            return at;
        }
    }
    let stays = match part {
        Part::Path => IN_PATH,
        Part::Query => IN_QUERY,
        Part::Either => IN_EITHER,
    };
    let start = at;
    while octets.get(at).is_some_and(|&octet| STAYS[usize::from(octet)] & stays != 0) {
        at += 1;
    }
    out.extend_from_slice(&octets[start..at]);
    at
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
    /// What ends with them: the URL without its fragment, or they alone.
    pub text: &'a [u8],
    /// Where they start: with a `/`.
    pub start: usize,
    /// The first octet of the query in the text, after its `?`; past the end where there is none.
    /// In a normal form only the delimiter is raw.
    pub query: usize,
    /// The first eight of them as a number, the first lowest; zeros for those there are not.
    pub first: u64,
    /// The last eight of them as a number, the last highest; zeros for those there are not.
    pub last: u64,
}

impl<'a> Path<'a> {
    /// A path that is in the form to be compared.
    pub fn new(text: &'a [u8]) -> Path<'a> {
        let query = lanes::find(text, 0, |octets| is(octets, b'?')) + 1;
        Path { text, start: 0, query, first: first_word(text), last: last_word(text) }
    }

    /// The path that is in that form and ends a text, if the text has eight octets at least.
    #[inline(always)]
    pub fn ending(text: &'a [u8], start: usize, query: usize) -> Option<Path<'a>> {
        // A path of less than eight octets is the end of the word that ends with it.
        let last = u64::from_le_bytes(*text.last_chunk()?);
        let missing = 8 * 8_u32.saturating_sub((text.len() - start) as u32);
        let first = text[start..].first_chunk();
        let first = first.map_or(last >> missing, |first| u64::from_le_bytes(*first));
        Some(Path { text, start, query, first, last: last >> missing << missing })
    }

    /// The octets.
    #[inline]
    pub fn octets(&self) -> &'a [u8] {
        &self.text[self.start..]
    }

    /// Whether there is a `?`.
    #[inline]
    pub fn has_query(&self) -> bool {
        self.query <= self.text.len()
    }
}

/// The path of `url`. `scratch` holds it when it is not a part of `url` already; nothing is
/// allocated for a URL that is in normal form.
#[inline(always)]
pub fn path<'a>(url: &'a [u8], url_as_given: bool, scratch: &'a mut Vec<u8>) -> Path<'a> {
    path_and_origin(url, url_as_given, scratch).0
}

/// The path of `url`, and how many octets stand before it, where a URL that begins with the same
/// and a `/` has its path there too.
#[inline(always)]
pub fn path_and_origin<'a>(
    url: &'a [u8],
    url_as_given: bool,
    scratch: &'a mut Vec<u8>,
) -> (Path<'a>, Option<usize>) {
    if url_as_given {
        scratch.clear();
        return (Path::new(path_as_given(url, scratch)), None);
    }
    match normal_path(url) {
        Ok(path) => (path, Some(path.start)),
        Err(start) => (normalised(without_fragment(&url[start..]), scratch), None),
    }
}

fn without_fragment(octets: &[u8]) -> &[u8] {
    &octets[..lanes::find(octets, 0, |octets| is(octets, b'#'))]
}

/// The path that is written so, in a URL and without its fragment.
#[cold]
#[inline(never)]
pub fn normalised<'a>(given: &[u8], scratch: &'a mut Vec<u8>) -> Path<'a> {
    scratch.clear();
    scratch.reserve(3 * given.len() + 16);
    if given.first() != Some(&b'/') {
        scratch.push(b'/'); // RFC 3986 §6.2.3: an empty path is "/"
    }
    push_form(scratch, given, Part::Path);
    if lanes::find_pair(scratch, 0, b'/', b'.') < scratch.len() {
        remove_dot_segments(scratch);
    }
    Path::new(scratch)
}

/// Where path or query begins; the URL's end when there is neither.
fn path_start(url: &[u8]) -> usize {
    let delimiter =
        |from: usize| lanes::find(url, from, |o| is(o, b'/') | is(o, b'?') | is(o, b'#'));
    let first = delimiter(0);
    match url[first..].starts_with(b"//") && (first == 0 || url[first - 1] == b':') {
        true => delimiter(first + 2),
        false => first,
    }
}

/// The path of a URL that has the usual form: a scheme we know or none, a path in normal form and
/// surely without dot segments, perhaps a query in normal form. Of others, where the path starts.
#[inline(always)]
fn normal_path(url: &[u8]) -> Result<Path<'_>, usize> {
    // As a number a scheme is one comparison.
    const HTTPS: u64 = u64::from_le_bytes(*b"https://");
    const HTTP: u64 = u64::from_le_bytes(*b"\0http://");
    let mut from = match (url.first_chunk().map(|first| u64::from_le_bytes(*first)), url) {
        (Some(HTTPS), _) => 8,
        (Some(first), _) if first << 8 == HTTP => 7,
        (_, [b'/', second, ..]) if *second != b'/' => 0,
        _ => return Err(path_start(url)),
    };
    let (mut start, mut dots, mut slash_before) = (None, 0, 0);
    let path_end = loop {
        if from >= url.len() {
            break url.len();
        }
        let (octets, at) = lanes::load(url, from);
        let slash = is(octets, b'/');
        let mut inside = u32::MAX << (from - at);
        from = at + 16;
        if start.is_none() {
            let delimits = slash | is(octets, b'?') | is(octets, b'#');
            let found = delimits.to_bitmask() & inside;
            if found == 0 {
                continue;
            }
            start = Some(at + found.trailing_zeros() as usize);
            inside = u32::MAX << found.trailing_zeros();
        }
        let stops = not_in_path(octets).to_bitmask() & inside;
        // A dot that begins a segment may be a dot segment.
        let slashes = slash.to_bitmask();
        let before_stop = stops.wrapping_sub(1) & !stops;
        let segment = slashes << 1 | slash_before;
        dots |= segment & is(octets, b'.').to_bitmask() & inside & before_stop;
        if stops != 0 {
            break at + stops.trailing_zeros() as usize;
        }
        slash_before = slashes >> 15 & 1;
    };
    let path_end = path_end.min(url.len());
    let start = start.unwrap_or(url.len());
    if dots != 0 || url.get(start) != Some(&b'/') {
        return Err(start);
    }
    let end = match url.get(path_end) {
        Some(b'?') => lanes::find(url, path_end + 1, not_in_query),
        _ => path_end,
    };
    if !matches!(url.get(end), None | Some(b'#')) {
        return Err(start);
    }
    let text = &url[..end];
    let path = Path::ending(text, start, path_end + 1);
    Ok(path.unwrap_or_else(|| Path::new(&text[start..])))
}

/// Whether a pattern is its own normal form, and a prefix without wildcards.
#[inline]
pub fn is_plain(pattern: &[u8]) -> bool {
    lanes::find(pattern, 0, not_in_path) == pattern.len()
}

/// Removes `.` and `..` segments from the path of a normal form, in place (RFC 3986 §5.2.4).
fn remove_dot_segments(form: &mut Vec<u8>) {
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
