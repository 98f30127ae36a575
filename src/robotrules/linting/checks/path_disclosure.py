"""RR511: a Disallow that tells everyone of a path which nobody would guess."""

from __future__ import annotations

import re
from collections.abc import Iterator

from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote

# What every second site has is no news: /admin/, /wp-admin/, /login, /user/password, /.git.
_FILE = re.compile(
    rb"^\.(?:env|ssh|aws|htpasswd|svn)$|^wp-config\.|^phpmyadmin|^adminer"
    rb"|\.(?:sql|bak|dump|pem|key|kdbx)(?:\.(?:gz|zip|bz2))?\$?$",
    re.IGNORECASE,
)
_TELLING = frozenset(
    (
        *(b"backup", b"backups", b"bak", b"confidential", b"credential", b"credentials", b"dump"),
        *(b"dumps", b"htpasswd", b"internal", b"intranet", b"passwd", b"payroll", b"private"),
        *(b"secret", b"secrets", b"unreleased"),
    )
)
# Words that stand beside them where a thing is named. With any other word it is a headline, a
# product or the address of an article: `/secret-garden`, `/internal-medicine`, `/online-backup`.
_OF_THINGS = frozenset(
    (
        *(b"admin", b"api", b"archive", b"assets", b"cms", b"copy", b"data", b"database", b"db"),
        *(b"dev", b"dir", b"docs", b"files", b"folder", b"full", b"img", b"images", b"logs"),
        *(b"mysql", b"new", b"old", b"only", b"pages", b"postgres", b"server", b"site", b"sql"),
        *(b"test", b"tools", b"uploads", b"wp", b"www", b"daily", b"weekly", b"nightly"),
        *(b"zip", b"gz", b"tar", b"tgz", b"rar", b"7z", b"txt", b"csv", b"xls", b"xlsx", b"pdf"),
        *(b"doc", b"docx", b"html", b"htm", b"php", b"asp", b"aspx", b"jsp"),
    )
)
# Where articles and products are, whose addresses have any words.
_OF_ARTICLES = frozenset(
    (
        *(b"article", b"articles", b"blog", b"blogs", b"book", b"books", b"categories"),
        *(b"category", b"collections", b"events", b"faq", b"forum", b"forums", b"help", b"jobs"),
        *(b"magazine", b"movies", b"music", b"news", b"p", b"post", b"posts", b"press"),
        *(b"product", b"products", b"questions", b"recipes", b"stories", b"story", b"support"),
        *(b"tag", b"tags", b"tips", b"topic", b"topics", b"video", b"videos", b"wiki"),
    )
)
# What has to stand in a line for any of it, so that most lines are not looked at.
HINTS = (
    *(b"backup", b"bak", b"confidential", b"credential", b"dump", b"htpasswd", b"internal"),
    *(b"intranet", b"passwd", b"payroll", b"secret", b"unreleased", b"private", b"/.env", b"/.ssh"),
    *(b"/.aws", b"/.svn", b"wp-config", b"phpmyadmin", b"adminer", b".sql", b".pem", b".key"),
    b".kdbx",
)
_LONG = re.compile(rb"/[0-9a-f]{8}[-0-9a-f]{16}")
# A name that only a machine makes up, such as that of a link that is meant for a few.
_MADE_UP = re.compile(
    rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    rb"|(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{24,64}",
    re.IGNORECASE,
)

_WORD = re.compile(rb"[^-_.\s]+")
_YEAR = re.compile(rb"(?:19|20)[0-9]{2}")
# What the software of many sites writes into their files.
NO_NEWS = frozenset((b"feed/private", b"feed/podcast/*/private/*.rss"))


class PathDisclosure(Check):
    """
    What it finds:
        A Disallow for a path that looks as if strangers should not learn of it: a backup, something
        internal or confidential, a file with passwords, a name that nobody could guess. Paths that
        every site has, such as `/wp-admin/`, tell nothing and are left alone, and so are addresses
        of articles, such as `/secret-garden` and `/news/internal-affairs`.

    Why it matters:
        robots.txt is for everybody to read, and people who look for such things read it first. A
        rule asks well-behaved crawlers to stay away; it keeps nobody out. RFC 9309 says that the
        protocol is no substitute for access control, which belongs to the application: ask for a
        password there, or do not put it on the web.

    Example:
            User-agent: *
            Disallow: /backup-2019/customers.sql

    Instead:
        Do not name it. Let the server ask for a password, or answer 404, and take the rule out. A
        page that may be read but not be found can say `noindex` itself. Where crawlers should stay
        away from a whole part, a rule for that part tells less:

            User-agent: *
            Disallow: /files/
    """

    code = "RR511"
    slug = "path-disclosure"
    level = "info"
    message = "Everybody can read {path} here, and the rule keeps nobody out."
    reference = "RFC 9309 §3; REP-3-01, REP-3-02, REP-3-03"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the rules with a telling part, once for each path."""
        seen: set[bytes] = set()
        for line in sorted(set(_hinted(context))):
            record = context.by_line.get(line)
            value = record.value if record and record.key == "disallow" else b""
            if record and value not in seen and value[:1] == b"/" and _tells(value):
                seen.add(value)
                yield self.about(context, record, path=quote(value))


def _hinted(context: LintContext) -> Iterator[int]:
    """Yield the lines that are worth a look."""
    body = context.robots.body.lower()
    for hint in HINTS:
        at = body.find(hint)
        while at >= 0:
            line, _, _ = context.place(at, at)
            yield line
            at = body.find(hint, max(context.whole_line(line)[1], at + 1))
    for found in _LONG.finditer(body):
        yield context.place(found.start(), found.end())[0]


def _tells(pattern: bytes) -> bool:
    """Tell whether a part of the path, spelled out without wildcards, is a telling one."""
    path = pattern.partition(b"?")[0]
    if path.strip(b"/") in NO_NEWS:
        return False
    among_articles = False
    for part in path.split(b"/"):
        if not part or b"*" in part:
            continue
        if _MADE_UP.fullmatch(part) or _FILE.search(part):
            return True
        if not among_articles and _names_a_thing(part):
            return True
        among_articles |= part.lower() in _OF_ARTICLES or _YEAR.fullmatch(part) is not None
    return False


def _names_a_thing(part: bytes) -> bool:
    """Tell whether a part of a path is a telling word, alone or with words that things have."""
    words = [word.rstrip(b"$") for word in _WORD.findall(part.lower())]
    others = [word for word in words if word not in _TELLING]
    return len(others) < len(words) and all(
        word in _OF_THINGS or any(48 <= octet <= 57 for octet in word) for word in others
    )
