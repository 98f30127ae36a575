//! The origin of a URL: the scheme and authority that one robots.txt governs (RFC 9309 §2.3).
//!
//! This module decides URLs with plain hosts: ASCII letters, digits, `-`, `_` and dots. Hosts that need
//! IDNA, percent-decoding, userinfo or an address parser are left to the caller ([`Origin::Other`]),
//! whose rules are in `http/origins.py`. Linear in the origin; nothing is copied if it is in normal form.

use memchr::memchr3;

/// The limits of RFC 1035 §2.3.4.
const MAX_HOST_LENGTH: usize = 253;
const MAX_LABEL_LENGTH: usize = 63;
/// Ports with more digits than this are not ports, even with leading zeros.
const MAX_PORT_DIGITS: usize = 32;

/// The origin of a URL, as far as it is decided here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin<'a> {
    /// The URL starts with its origin in normal form.
    Same(&'a [u8]),
    /// The origin in normal form, which differs from how the URL spells it.
    Normalized(Vec<u8>),
    /// Not an http or https URL with a host.
    Nowhere,
    /// The scheme and authority of an http or https URL, whose host is not plain.
    Other(&'a [u8]),
}

/// The scheme and authority of an http or https URL, and the length of the scheme with its `://`.
#[inline]
pub fn scheme_and_authority(url: &[u8]) -> Option<(&[u8], usize)> {
    let scheme = match url {
        [b'h' | b'H', b't' | b'T', b't' | b'T', b'p' | b'P', rest @ ..] => match rest {
            [b':', b'/', b'/', ..] => 7,
            [b's' | b'S', b':', b'/', b'/', ..] => 8,
            _ => return None,
        },
        _ => return None,
    };
    let rest = &url[scheme..];
    let end = memchr3(b'/', b'?', b'#', rest).unwrap_or(rest.len());
    Some((&url[..scheme + end], scheme))
}

/// The origin of `url`.
pub fn origin(url: &[u8]) -> Origin<'_> {
    let Some((prefix, scheme)) = scheme_and_authority(url) else { return Origin::Nowhere };
    let authority = &prefix[scheme..];
    let host_length = authority.iter().position(|&octet| !is_plain(octet));
    let (host, port) = match host_length.map(|at| (authority[at], authority.split_at(at))) {
        None => (authority, None),
        Some((b':', (host, port))) => (host, Some(&port[1..])),
        Some(_) => return Origin::Other(prefix),
    };
    if host.is_empty() || port.is_some_and(|port| !port.iter().all(u8::is_ascii_digit)) {
        // No host, or a colon that is not before a port: perhaps userinfo.
        return Origin::Other(prefix);
    }
    let name = host.strip_suffix(b".").unwrap_or(host);
    match check_name(name) {
        Some(true) => {}
        Some(false) => return Origin::Nowhere,
        None => return Origin::Other(prefix),
    }
    let default: &[u8] = if scheme == 8 { b"443" } else { b"80" };
    let port = match port.map(|port| (port.len(), strip_zeros(port))) {
        None | Some((0, _)) => None,
        Some((digits, number)) => match number.len() {
            1..=5 if digits <= MAX_PORT_DIGITS && value(number) <= 65_535 => Some(number),
            _ => return Origin::Nowhere,
        },
    };
    let port = port.filter(|&port| port != default);
    let length = scheme + name.len() + port.map_or(0, |port| port.len() + 1);
    if length == prefix.len() && !prefix.iter().any(u8::is_ascii_uppercase) {
        return Origin::Same(prefix);
    }
    let mut normalized = prefix[..scheme + name.len()].to_ascii_lowercase();
    if let Some(port) = port {
        normalized.push(b':');
        normalized.extend(port);
    }
    Origin::Normalized(normalized)
}

#[inline]
fn is_plain(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'_' | b'.')
}

/// Whether a name of plain octets is a host; `None` if another parser has to decide: A-labels, and
/// names that end with a number, which may be addresses.
fn check_name(name: &[u8]) -> Option<bool> {
    let mut last: &[u8] = b"";
    let mut valid = name.len() <= MAX_HOST_LENGTH;
    for label in name.split(|&octet| octet == b'.') {
        valid &= (1..=MAX_LABEL_LENGTH).contains(&label.len());
        if label.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"xn--")) {
            return None;
        }
        last = label;
    }
    let is_number = last.first().is_some_and(u8::is_ascii_digit);
    if is_number {
        return None;
    }
    Some(valid)
}

fn strip_zeros(port: &[u8]) -> &[u8] {
    let zeros = port.iter().take_while(|&&digit| digit == b'0').count();
    &port[zeros..]
}

/// The value of a few digits.
fn value(digits: &[u8]) -> u32 {
    digits.iter().fold(0, |value, &digit| value * 10 + u32::from(digit - b'0'))
}
