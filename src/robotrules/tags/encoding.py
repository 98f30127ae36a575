"""
The encoding of an HTML document (HTML Standard 13.2.3), and the decoding of its octets to text.

Sections: the labels of the Encoding Standard 4.2, encoding sniffing, the prescan of the first
1,024 octets, decoding with the codecs of the standard library.

Known differences, harmless to tag rules because these are ASCII: Python's tables for Big5, EUC-JP,
EUC-KR, GBK and Shift_JIS differ from the Encoding Standard's in some characters outside ASCII, in
the number of replacement characters for an illegal sequence, and in whether a letter after one is
part of it; never in a character of markup. A `meta` after the first 1,024 octets that names another
encoding does not restart parsing, and no encoding is guessed from the text (AMB-92).

It does not read HTTP headers: the caller passes the charset of the Content-Type.
"""

from __future__ import annotations

import codecs
import re
from functools import cache, lru_cache

__all__ = ["decode_html", "find_encoding", "replace_surrogates", "sniff_encoding"]

# Encoding Standard 4.2. UTF-7 and UTF-32 have no label, so they are not supported encodings.
_LABELS = {
    "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf8 x-unicode20utf8",
    "ibm866": "866 cp866 csibm866",
    "iso-8859-2": "csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2",
    "iso-8859-3": "csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3",
    "iso-8859-4": "csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4",
    "iso-8859-5": "csisolatincyrillic cyrillic iso-ir-144 iso8859-5 iso88595 iso_8859-5 "
    "iso_8859-5:1988",
    "iso-8859-6": "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e "
    "iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987",
    "iso-8859-7": "csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso8859-7 iso88597 "
    "iso_8859-7 iso_8859-7:1987 sun_eu_greek",
    "iso-8859-8": "csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso8859-8 iso88598 "
    "iso_8859-8 iso_8859-8:1988 visual",
    "iso-8859-8-i": "csiso88598i logical",
    "iso-8859-10": "csisolatin6 iso-ir-157 iso8859-10 iso885910 l6 latin6",
    "iso-8859-13": "iso8859-13 iso885913",
    "iso-8859-14": "iso8859-14 iso885914",
    "iso-8859-15": "csisolatin9 iso8859-15 iso885915 iso_8859-15 l9",
    "iso-8859-16": "",
    "koi8-r": "cskoi8r koi koi8 koi8_r",
    "koi8-u": "koi8-ru",
    "macintosh": "csmacintosh mac x-mac-roman",
    "windows-874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620",
    "windows-1250": "cp1250 x-cp1250",
    "windows-1251": "cp1251 x-cp1251",
    "windows-1252": "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 "
    "iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii x-cp1252",
    "windows-1253": "cp1253 x-cp1253",
    "windows-1254": "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 "
    "iso_8859-9:1989 l5 latin5 x-cp1254",
    "windows-1255": "cp1255 x-cp1255",
    "windows-1256": "cp1256 x-cp1256",
    "windows-1257": "cp1257 x-cp1257",
    "windows-1258": "cp1258 x-cp1258",
    "x-mac-cyrillic": "x-mac-ukrainian",
    "gbk": "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 iso-ir-58 x-gbk",
    "gb18030": "",
    "big5": "big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc-jp": "cseucpkdfmtjapanese x-euc-jp",
    "iso-2022-jp": "csiso2022jp",
    "shift_jis": "csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis",
    "euc-kr": "cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 "
    "ksc_5601 windows-949",
    "replacement": "csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr",
    "utf-16be": "unicodefffe",
    "utf-16le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16",
    "x-user-defined": "",
}
_NAMES = {label: name for name, labels in _LABELS.items() for label in (name, *labels.split())}
# Multi-byte encodings and the names of their Python codecs.
# The decoder of GBK is that of gb18030 (Encoding Standard 10.1.1).
_CODECS = {
    "utf-8": "utf-8",
    "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
    "gbk": "gb18030",
    "gb18030": "gb18030",
    "big5": "big5hkscs",
    "euc-jp": "euc_jp",
    "shift_jis": "cp932",
    "euc-kr": "cp949",
}
_ONE_OCTET = {
    "iso-8859-8-i": "iso-8859-8",
    "macintosh": "mac-roman",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac-cyrillic",
}
# Where an index of the standard differs from Python's table; the others were compared with a
# browser's.
_DIFFERENT = {
    "koi8-u": ((0xAE, "\u045e"), (0xBE, "\u040e")),
    "windows-1255": ((0xCA, "\u05ba"),),
}
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16le"),
    (codecs.BOM_UTF16_BE, "utf-16be"),
)
PRESCAN = 1024


def find_encoding(label: str) -> str | None:
    """Return the lower-case name of the encoding that *label* stands for; None if unknown."""
    return _NAMES.get(label.strip("\t\n\f\r ").lower())


def sniff_encoding(data: bytes, charset: str | None = None) -> str:
    """
    Return the encoding of a document that begins with *data*, by its name in lower case.

    The order is: byte order mark, *charset*, a declaration in the first 1,024 octets, windows-1252
    (HTML Standard 13.2.3.2). Unknown labels are ignored.
    """
    for mark, name in _BOMS:
        if data.startswith(mark):
            return name
    named = find_encoding(charset.strip("\t\n\f\r \"'")) if charset else None
    return named or _prescan(data[:PRESCAN]) or "windows-1252"


def decode_html(data: bytes, name: str) -> str:
    """Return the text of *data* in the encoding *name*, without a byte order mark."""
    for mark, marked in _BOMS:
        if marked == name and data.startswith(mark):
            data = data[len(mark) :]
            break
    if name in _CODECS:
        return data.decode(_CODECS[name], "replace")
    if name == "iso-2022-jp":
        return _decode_iso_2022_jp(data)
    if name == "replacement":  # Encoding Standard 14.1: one error instead of the document
        return "\ufffd" if data else ""
    return codecs.charmap_decode(data, "strict", _single_byte_table(name))[0]


def replace_surrogates(text: str) -> str:
    """Return *text* without a byte order mark, with lone surrogates replaced."""
    text = text.removeprefix("\ufeff")
    if text.isascii():
        return text
    # A lone surrogate becomes a replacement character; a pair becomes one character.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@cache
def _single_byte_table(name: str) -> str:
    """Return the 256 characters of a single-byte encoding."""
    if name == "x-user-defined":
        return "".join(chr(octet if octet < 0x80 else octet + 0xF700) for octet in range(256))
    table = [""] * 256
    for octet in range(256):
        try:
            table[octet] = bytes((octet,)).decode(_ONE_OCTET.get(name, name))
        except UnicodeDecodeError:
            # The indexes of the standard have C1 controls where Python's tables have gaps.
            table[octet] = chr(octet) if octet < 0xA0 else "\ufffd"
    for octet, character in _DIFFERENT.get(name, ()):
        table[octet] = character
    return "".join(table)


# --- ISO-2022-JP (Encoding Standard 12.2) ---------------------------------------------------------

# Python's codec stays in two-byte mode where an escape cuts a character, and does not support
# half-width katakana: either could hide tags that a browser sees.
_ESCAPE = re.compile(rb"\x1b(\([BIJ]|\$[@B])")
_TWO_OCTETS = re.compile(rb"((?:[!-~]{2})++)|[!-~]?+[^!-~]|[!-~]")
_ASCII = "".join(chr(octet) if octet < 0x80 else "\ufffd" for octet in range(256))
_ASCII = _ASCII.translate(dict.fromkeys((0x0E, 0x0F, 0x1B), "\ufffd"))
_IN_STATE = {
    b"(B": _ASCII,
    b"(J": _ASCII.translate({0x5C: "\u00a5", 0x7E: "\u203e"}),
    b"(I": "".join(chr(n + 0xFF40) if 0x21 <= n <= 0x5F else "\ufffd" for n in range(256)),
}


def _decode_iso_2022_jp(data: bytes) -> str:
    state, *rest = b"(B", *_ESCAPE.split(data)
    text: list[str] = []
    for number, part in enumerate(rest):
        if number % 2:
            state = part
        elif not part and 0 < number < len(rest) - 1:
            text.append("\ufffd")  # two escapes in a row
        elif state in _IN_STATE:
            text.append(codecs.charmap_decode(part, "strict", _IN_STATE[state])[0])
        else:
            text += (_decode_pairs(found[1]) for found in _TWO_OCTETS.finditer(part))
    return "".join(text)


def _decode_pairs(octets: bytes | None) -> str:
    """Return characters of JIS X 0208, or a replacement character for an invalid pair."""
    if octets is None:
        return "\ufffd"
    shifted = bytes(octet | 0x80 for octet in octets)
    try:
        return shifted.decode("euc_jp")
    except UnicodeDecodeError:
        return "".join(_decode_pair(shifted[at : at + 2]) for at in range(0, len(shifted), 2))


@lru_cache(94 * 94)
def _decode_pair(shifted: bytes) -> str:
    return shifted.decode("euc_jp", "replace")[:1]


# --- The prescan (HTML Standard 13.2.3.2) ---------------------------------------------------------

_SPACE = rb"[\t\n\f\r ]"
# "Get an attribute". No match: the octets ended in the attribute, or the tag has no further one.
_ATTRIBUTE = re.compile(
    rb"[\t\n\f\r /]*+([^\t\n\f\r />][^\t\n\f\r />=]*+)(?=.)"
    rb"(?:" + _SPACE + rb"*+=" + _SPACE + rb"*+"
    rb"(?:\"([^\"]*+)\"|'([^']*+)'|(?=>)|([^\t\n\f\r >\"'][^\t\n\f\r >]*+)(?=.))"
    rb"|(?!" + _SPACE + rb"*+=))",
    re.DOTALL,
)
_META = re.compile(rb"<meta(?=[\t\n\f\r /])", re.IGNORECASE)
_TAG = re.compile(rb"</?[a-zA-Z][^\t\n\f\r >]*+")
_CHARSET = re.compile(
    rb"charset" + _SPACE + rb"*=" + _SPACE + rb"*(?:\"([^\"]*)\"|'([^']*)'|([^\"'\t\n\f\r ;]"
    rb"[^\t\n\f\r ;]*)|(?=[\"'])())",
    re.IGNORECASE,
)
_XML = re.compile(
    rb"<\?xml[^>]*?encoding[\0- ]*=[\0- ]*(?:\"([^\"\0- >]*)\"|'([^'\0- >]*)')[^>]*>", re.DOTALL
)


def _prescan(data: bytes) -> str | None:
    if data.startswith(b"<\0?\0x\0"):
        return "utf-16le"
    if data.startswith(b"\0<\0?\0x"):
        return "utf-16be"
    return _find_meta_encoding(data) or _find_xml_encoding(data)


def _find_meta_encoding(data: bytes) -> str | None:
    position = data.find(b"<")
    while position >= 0:
        if data.startswith(b"<!--", position):
            # `<!-->` is a complete comment: the dashes count for both ends.
            end = data.find(b"-->", position + 2)
            position = end + 2 if end >= 0 else len(data)
        elif found := _META.match(data, position):
            attributes, position = _read_attributes(data, found.end())
            if position < len(data) and (name := _read_declaration(attributes)) is not None:
                return name
        elif found := _TAG.match(data, position):
            position = _read_attributes(data, found.end())[1]
        elif data[position + 1 : position + 2] in (b"!", b"/", b"?"):
            end = data.find(b">", position)
            position = end if end >= 0 else len(data)
        position = data.find(b"<", position + 1)
    return None


def _read_attributes(data: bytes, position: int) -> tuple[dict[bytes, bytes], int]:
    """Return the attributes of a tag, the first of each name, and where its `>` is."""
    attributes: dict[bytes, bytes] = {}
    while found := _ATTRIBUTE.match(data, position):
        name, *values = found.groups()
        attributes.setdefault(name.lower(), next((v for v in values if v is not None), b""))
        position = found.end()
    rest = data[position:].lstrip(b"\t\n\f\r /")
    return attributes, len(data) - len(rest) if rest.startswith(b">") else len(data)


def _read_declaration(attributes: dict[bytes, bytes]) -> str | None:
    """Return the encoding that the attributes of a `meta` declare."""
    if b"charset" in attributes:
        name = find_encoding(attributes[b"charset"].decode("latin-1"))
    elif attributes.get(b"http-equiv", b"").lower() == b"content-type":
        found = _CHARSET.search(attributes.get(b"content", b""))
        label = next((v for v in found.groups() if v is not None), b"") if found else b""
        name = find_encoding(label.decode("latin-1"))
    else:
        return None
    return _replace_unusable(name)


def _find_xml_encoding(data: bytes) -> str | None:
    found = _XML.match(data)
    return (
        _replace_unusable(find_encoding((found[1] or found[2] or b"").decode("latin-1")))
        if found
        else None
    )


def _replace_unusable(name: str | None) -> str | None:
    """Replace UTF-16, which ASCII cannot be, and x-user-defined (13.2.3.2)."""
    if name in ("utf-16le", "utf-16be"):
        return "utf-8"
    return "windows-1252" if name == "x-user-defined" else name
