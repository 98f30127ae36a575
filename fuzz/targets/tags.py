"""No carrier of tag rules raises, every result has its sources, and another carrier only adds."""

from __future__ import annotations

import json
from random import Random

import robotrules
from fuzz.generator import Case
from robotrules.tags import TAG_PROFILES, usage_rules
from robotrules.tags.known_rules import KNOWN, stricter

WORDS = (*(name.encode() for name in KNOWN), b"none", b"NoIndex", b"x")
GLUE = (
    b", ",
    b",",
    b";",
    b"; ",
    b" ",
    b":",
    b": ",
    b"=",
    b'"',
    b"(",
    b")",
    b"*;",
    b"\t",
    b"\\",
    b"a;",
)
TAGS = (
    *(b"<meta name=robots content='%s'>", b'<META content="%s" NAME=ExampleBot>', b"<%s>"),
    *(
        b"<title>%s",
        b"</head>",
        b"<noscript>%s",
        b"</noscript>",
        b"<template>%s",
        b"<!--%s",
        b"-->",
    ),
    *(b"<svg>%s", b"<script>%s</script>", b"<frameset>", b"<p>%s", b"\x00%s", b"<meta charset=%s>"),
)
LOOSENS = "indexifembedded"


def check(case: Case) -> None:
    """Build header fields and a page from parts of the case, and read them under every profile."""
    random = Random(case.body)
    parts = [*case.body.split()[:20], *WORDS, b"20", b"@1", b"Wed, 03 Dec 2025 13:09:53 GMT"]

    def text() -> bytes:
        return b"".join(
            random.choice(parts) + random.choice(GLUE) for _ in range(random.randrange(6))
        )

    fields = [
        (random.choice(("Robots-Tag", "X-Robots-Tag", "Cache-Control", "Expires")), text())
        for _ in range(random.randrange(4))
    ]
    shapes = random.choices(TAGS, k=random.randrange(9))
    html = b"".join(shape % text() if b"%s" in shape else shape for shape in shapes)
    for name in TAG_PROFILES:
        both = usage_rules(headers=fields, html=html, product_token="ExampleBot", profile=name)
        json.dumps(both.as_dict())
        for rule, _ in both.values:
            assert both.mentions_of(rule), rule
        alone = usage_rules(headers=fields, product_token="ExampleBot", profile=name)
        if name not in ("yandex", "bing"):  # these lift rules, and say so in their switches
            for rule, value in alone.values:
                assert rule == LOOSENS or stricter(both.rules[rule], value) == both.rules[rule]
    robots = robotrules.parse(case.body, case.profile())
    found = robotrules.guidance(case.url, "ExampleBot", robots=robots, headers=fields, html=html)
    json.dumps(found.as_dict())
    assert str(found)
    # A header block and a page may be any octets.
    usage_rules(headers=case.body, html=case.body, dom=html, product_token="a")
