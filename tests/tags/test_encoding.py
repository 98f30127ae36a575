"""Octets to text: labels, evidence, the prescan, decoders (HTML and Encoding Standards)."""

from __future__ import annotations

import codecs

import pytest

from robotrules.tags.encoding import decode_html, find_encoding, replace_surrogates, sniff_encoding


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("UTF-8", "utf-8"),
        (" utf8\n", "utf-8"),
        ("latin1", "windows-1252"),
        ("iso-8859-1", "windows-1252"),
        ("US-ASCII", "windows-1252"),
        ("iso-8859-9", "windows-1254"),
        ("gb2312", "gbk"),
        ("sjis", "shift_jis"),
        ("ks_c_5601-1987", "euc-kr"),
        ("utf-16", "utf-16le"),
        ("unicodefffe", "utf-16be"),
        ("iso-2022-kr", "replacement"),
        ("logical", "iso-8859-8-i"),
        ("x-user-defined", "x-user-defined"),
        *((label, None) for label in ("", "utf-7", "utf-32", "utf\u20118", "base64", "rot13")),
        ("idna", None),
        *((label, None) for label in ("\vutf-8", "\u00a0utf-8", "Xutf-8X")),
        ("cp437", None),
    ],
)
def test_labels(label: str, name: str | None) -> None:
    """The labels of the Encoding Standard only: Python accepts more labels."""
    assert find_encoding(label) == name


@pytest.mark.parametrize(
    ("data", "charset", "name"),
    [
        (b"", None, "windows-1252"),
        (b"", "utf-8", "utf-8"),
        (b"", '"utf-8"', "utf-8"),
        (b"", "nothing", "windows-1252"),
        (b"", "Xutf-8X", "windows-1252"),
        (b"", "", "windows-1252"),
        (codecs.BOM_UTF8, "windows-1251", "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-8", "utf-16le"),
        (codecs.BOM_UTF16_BE, None, "utf-16be"),
        (b"<meta charset=utf-8>", "koi8-r", "koi8-r"),
        (b"<meta charset=utf-8>", "utf-7", "utf-8"),
        (b"<\0?\0x\0", None, "utf-16le"),
        (b"\0<\0?\0x", None, "utf-16be"),
    ],
)
def test_the_order_of_evidence(data: bytes, charset: str | None, name: str) -> None:
    """A mark, the transport, the document, windows-1252."""
    assert sniff_encoding(data, charset) == name


@pytest.mark.parametrize(
    "data",
    [
        b"<meta charset=koi8-r>",
        b"<META/CHARSET='KOI8-R'/>",
        b"<meta\ncharset = koi8-r >",
        b"<meta charset=koi8-r charset=utf-8>",
        b"<meta x charset=koi8-r y>",
        b"<meta content='text/html; charset=koi8-r' http-equiv=content-type>",
        b"<meta http-equiv=Content-Type content=charset=koi8-r;x>",
        b"<meta http-equiv=content-type content='charset charset = \"koi8-r\"'>",
        b"<meta http-equiv=content-type content=utf-8 charset=koi8-r>",
        b"<!doctype html><html><head><title>x</title><meta charset=koi8-r>",
        b"<!--> <meta charset=koi8-r>",
        b"<!-- x --><meta charset=koi8-r>",
        b"<!-- --><meta charset=koi8-r><!-- -->",
        b"<! <meta charset=utf-8><meta charset=koi8-r>",
        b"<a><! x><meta charset=koi8-r>",
        b"<? <meta charset=utf-8><meta charset=koi8-r>",
        b"</ <meta charset=utf-8><meta charset=koi8-r>",
        b"</p title='<meta charset=utf-8>'><meta charset=koi8-r>",
        b"<a title='>'><meta charset=koi8-r>",
        b"<a =>< <1 <meta charset=koi8-r>",
        b"<script>'<meta charset=koi8-r>'</script>",
        b"<meta charset=nothing><meta charset=koi8-r>",
        b"<meta name=x content='charset=utf-8'><meta charset=koi8-r>",
        b"<metadata charset=utf-8><meta charset=koi8-r>",
        b"<?xml version='1.0' encoding=\"koi8-r\"?>",
        b"<?xml encoding = 'koi8-r' ?><meta charset=nothing>",
        b"<?xml encoding='utf-8'?><meta charset=koi8-r>",
    ],
)
def test_what_declares_an_encoding(data: bytes) -> None:
    """The prescan, step by step; a meta goes before an XML declaration."""
    assert sniff_encoding(data) == "koi8-r"
    assert sniff_encoding(data + b" " * 5000) == "koi8-r"


@pytest.mark.parametrize(
    "data",
    [
        b"<meta charset=koi8-r",
        b"<meta charset='koi8-r>",
        b"<meta charset='koi8-r'",
        b"<metacharset=koi8-r>",
        b"<meta charset>",
        b"<meta name=charset content=koi8-r>",
        b"<meta content='charset=koi8-r'>",
        b"<meta http-equiv=refresh content='charset=koi8-r'>",
        b"<meta http-equiv=content-type content='charset=\"koi8-r'>",
        b"<meta http-equiv=content-type content='koi8-r'>",
        b"<meta http-equiv=content-type>",
        b"<!-- <meta charset=koi8-r>",
        b"<!-- <meta charset=koi8-r> -->",
        b"<!-- > <meta charset=koi8-r> -->",
        b"<!-- x --><!-- > <meta charset=koi8-r> -->",
        b"<a title='<meta charset=koi8-r>'>",
        b"<a title='<meta charset=koi8-r>",
        b"<! <meta charset=koi8-r",
        b" <?xml encoding='koi8-r'?>",
        b"<?xml encoding='koi8-r'",
        b"<?xml encoding=koi8-r?>",
        b"<?xml encoding='ko i8-r'?>",
        b"<!--" + b"x" * 1024 + b"--><meta charset=koi8-r>",
        b"x" * 1004 + b"<meta charset=koi8-r>",
    ],
)
def test_what_does_not(data: bytes) -> None:
    """Unfinished, hidden, of another kind, or behind the first 1,024 octets."""
    assert sniff_encoding(data) == "windows-1252"


def test_a_declaration_that_ends_in_time() -> None:
    """The last octet of the prescan may be the end of the tag."""
    declared = b"<meta charset=koi8-r>"
    assert sniff_encoding(declared.rjust(1024)) == "koi8-r"
    assert sniff_encoding(declared.rjust(1025)) == "windows-1252"


@pytest.mark.parametrize(
    ("declared", "name"),
    [("utf-16", "utf-8"), ("utf-16be", "utf-8"), ("x-user-defined", "windows-1252")],
)
def test_what_a_document_cannot_mean(declared: str, name: str) -> None:
    """It was read as ASCII, so it is not UTF-16 (HTML Standard 13.2.3.2)."""
    assert sniff_encoding(f"<meta charset={declared}>".encode()) == name
    assert sniff_encoding(f"<?xml encoding='{declared}'?>".encode()) == name


@pytest.mark.parametrize(
    ("data", "name", "text"),
    [
        (b"\x80\x81\x9f", "windows-1252", "\u20ac\u0081\u0178"),
        (b"\xaa\xff\x81", "windows-1253", "\ufffd\ufffd\u0081"),
        (b"\xca", "windows-1255", "\u05ba"),
        (b"\xae\xbe", "koi8-u", "\u045e\u040e"),
        (b"a\x80\xff", "x-user-defined", "a\uf780\uf7ff"),
        (b"\xe0", "iso-8859-8-i", "\u05d0"),
        (b"\x80", "macintosh", "\u00c4"),
        (b"\x80", "x-mac-cyrillic", "\u0410"),
        (b"\xa1", "windows-874", "\u0e01"),
        (b"<a>", "replacement", "\ufffd"),
        (b"", "replacement", ""),
        (b"\xef\xbb\xbfa", "utf-8", "a"),
        (b"\xff\xfea\0", "utf-16le", "a"),
        (b"\xfe\xff\0a", "utf-16be", "a"),
        (b"\xef\xbb\xbf", "windows-1252", "\u00ef\u00bb\u00bf"),
        (b"a\xe2\x82", "utf-8", "a\ufffd"),
        (b"a\x81", "shift_jis", "a\ufffd"),
        (b"\x81\x30\x81\x30", "gbk", "\u0080"),
        (b"\x1b$B0!\x1b(B<", "iso-2022-jp", "\u4e9c<"),
        (b"\x1b$B0\x1b(B<", "iso-2022-jp", "\ufffd<"),
        (b"\x1b$B0\x80\x7f0!", "iso-2022-jp", "\ufffd\ufffd\u4e9c"),
        (b"\x1b$B\x29\x210!", "iso-2022-jp", "\ufffd\u4e9c"),
        (b"\x1b(I1<\x1b(J\\~\x1b(B\\~", "iso-2022-jp", "\uff71\uff7c\u00a5\u203e\\~"),
        (b"a\x1b(B", "iso-2022-jp", "a"),
        (b"\x1b(B\x1b(Ba\x80\x1b", "iso-2022-jp", "\ufffda\ufffd\ufffd"),
    ],
)
def test_decoders(data: bytes, name: str, text: str) -> None:
    """Each as in the Encoding Standard, where Python's codec differs."""
    assert decode_html(data, name) == text


def test_every_name_has_a_decoder() -> None:
    """No label leads to an encoding that cannot be decoded; ASCII is ASCII in most."""
    from robotrules.tags.encoding import _LABELS

    for name in _LABELS:
        text = decode_html(b"<meta name=a>", name)
        odd = name.startswith("utf-16") or name == "replacement"
        assert text == "<meta name=a>" or odd
        assert isinstance(decode_html(bytes(range(256)) * 3, name), str)


def test_text() -> None:
    """Text loses a mark and halves of pairs, and is else the same."""
    assert replace_surrogates("\ufeff\ufeffa") == "\ufeffa"
    assert replace_surrogates("a\ud800b") == "a\ufffdb"
    assert replace_surrogates("\ud83d\ude00") == "\U0001f600"
    assert replace_surrogates("\u00e9") == "\u00e9"
