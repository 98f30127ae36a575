"""
Star paths: values of scoped records that begin with `*`, where a path has to begin with `/`.

Allow and Disallow may begin with `*`; Content-Usage, App-Directives and Content-Signal may not,
because their statements can begin with one too (AMB-112). It reads one record and knows no file.
"""

from __future__ import annotations

import re

from robotrules.extensions.app_lines import KEYS as APP_KEYS
from robotrules.http.structured_fields import parse_dictionary, parse_list
from robotrules.robotstxt.values import Record

# No key of a statement holds any of `=`, `;` and `,`, and what is meant for a path rarely does.
_STAR = re.compile(rb"(\*[^ \t=;,]*)[ \t]+(?=[^ \t])")


def star_path(record: Record) -> bytes | None:
    """Return what was probably meant for a path, if a statement that is good follows it."""
    found = _STAR.match(record.value)
    if not found:
        return None
    rest = record.value[found.end() :]
    if record.key == "content-usage":
        good = bool(parse_dictionary(rest).value)
    elif record.key in APP_KEYS:
        good = bool(parse_list(rest).value)
    else:
        good = record.key == "content-signal" and b"=" in rest
    return found[1] if good else None
