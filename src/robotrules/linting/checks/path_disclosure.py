"""RR511: a Disallow that discloses a sensitive path."""

from __future__ import annotations

import re
from collections.abc import Iterator

from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote

# Common paths disclose nothing: /admin/, /wp-admin/, /login, /user/password, /.git.
_FILE = re.compile(
    rb"^\.(?:env|ssh|aws|htpasswd|svn)$|^wp-config\.|^phpmyadmin|^adminer"
    rb"|\.(?:sql|bak|dump|pem|key|kdbx)(?:\.(?:gz|zip|bz2))?\$?$",
    re.IGNORECASE,
)
_SENSITIVE = frozenset(
    (
        *(b"backup", b"backups", b"bak", b"confidential", b"credential", b"credentials", b"dump"),
        *(b"dumps", b"htpasswd", b"internal", b"intranet", b"passwd", b"payroll", b"private"),
        *(b"secret", b"secrets", b"unreleased"),
    )
)
# Words that may accompany them in the name of a file or folder. With any other word it is a
# headline, a product or an article: `/secret-garden`, `/internal-medicine`, `/online-backup`.
_FILE_WORDS = frozenset(
    (
        *(b"admin", b"api", b"archive", b"assets", b"cms", b"copy", b"data", b"database", b"db"),
        *(b"dev", b"dir", b"docs", b"files", b"folder", b"full", b"img", b"images", b"logs"),
        *(b"mysql", b"new", b"old", b"only", b"pages", b"postgres", b"server", b"site", b"sql"),
        *(b"test", b"tools", b"uploads", b"wp", b"www", b"daily", b"weekly", b"nightly"),
        *(b"zip", b"gz", b"tar", b"tgz", b"rar", b"7z", b"txt", b"csv", b"xls", b"xlsx", b"pdf"),
        *(b"doc", b"docx", b"html", b"htm", b"php", b"asp", b"aspx", b"jsp"),
    )
)
# Folders of articles and products, whose URLs may hold any words.
_ARTICLE_FOLDERS = frozenset(
    (
        *(b"article", b"articles", b"blog", b"blogs", b"book", b"books", b"categories"),
        *(b"category", b"collections", b"events", b"faq", b"forum", b"forums", b"help", b"jobs"),
        *(b"magazine", b"movies", b"music", b"news", b"p", b"post", b"posts", b"press"),
        *(b"product", b"products", b"questions", b"recipes", b"stories", b"story", b"support"),
        *(b"tag", b"tags", b"tips", b"topic", b"topics", b"video", b"videos", b"wiki"),
    )
)
# A line without any of these has no sensitive path, so most lines are skipped.
HINTS = (
    *(b"backup", b"bak", b"confidential", b"credential", b"dump", b"htpasswd", b"internal"),
    *(b"intranet", b"passwd", b"payroll", b"secret", b"unreleased", b"private", b"/.env", b"/.ssh"),
    *(b"/.aws", b"/.svn", b"wp-config", b"phpmyadmin", b"adminer", b".sql", b".pem", b".key"),
    b".kdbx",
)
_LONG = re.compile(rb"/[0-9a-f]{8}[-0-9a-f]{16}")
# A random identifier, such as that of an unlisted link.
_RANDOM = re.compile(
    rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    rb"|(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{24,64}",
    re.IGNORECASE,
)

_WORD = re.compile(rb"[^-_.\s]+")
_YEAR = re.compile(rb"(?:19|20)[0-9]{2}")
# Paths that common software writes into every robots.txt.
COMMON = frozenset((b"feed/private", b"feed/podcast/*/private/*.rss"))


class PathDisclosure(Check):
    """
    What it finds:
        A Disallow for a path that looks sensitive: a backup, something internal or confidential, a
        file with passwords, a random identifier. Paths that every site has, such as `/wp-admin/`,
        are not reported, nor are URLs of articles, such as `/secret-garden` and
        `/news/internal-affairs`.

    Why it matters:
        Anyone can read a robots.txt, and attackers read it to find such paths. A rule is a request
        to well-behaved crawlers and does not protect the path. RFC 9309 says that the protocol is
        not a substitute for access control: require a login, or do not publish the content.

    Example:
            User-agent: *
            Disallow: /backup-2019/customers.sql

    Instead:
        Do not name the path. Let the server require a login, or answer 404, and remove the rule. A
        public page that should not be in search results can use `noindex`. If crawlers should stay
        out of a whole section, a rule for the section discloses less:

            User-agent: *
            Disallow: /files/
    """

    code = "RR511"
    slug = "path-disclosure"
    level = "info"
    message = (
        "This rule discloses {path} to everyone who reads the file and does not protect it. "
        "Require a login, and remove the rule."
    )
    reference = "RFC 9309 §3; REP-3-01, REP-3-02, REP-3-03"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the rules with a sensitive path, once for each path."""
        seen: set[bytes] = set()
        for line in sorted(set(_find_candidates(context))):
            record = context.by_line.get(line)
            value = record.value if record and record.key == "disallow" else b""
            if record and value not in seen and value[:1] == b"/" and _is_sensitive(value):
                seen.add(value)
                yield self.about(context, record, path=quote(value))


def _find_candidates(context: LintContext) -> Iterator[int]:
    """Yield the lines that may have a sensitive path."""
    body = context.robots.body.lower()
    for hint in HINTS:
        at = body.find(hint)
        while at >= 0:
            line, _, _ = context.place(at, at)
            yield line
            at = body.find(hint, max(context.whole_line(line)[1], at + 1))
    for match in _LONG.finditer(body):
        yield context.place(match.start(), match.end())[0]


def _is_sensitive(pattern: bytes) -> bool:
    """Return whether a segment of the path without wildcards looks sensitive."""
    path = pattern.partition(b"?")[0]
    if path.strip(b"/") in COMMON:
        return False
    among_articles = False
    for segment in path.split(b"/"):
        if not segment or b"*" in segment:
            continue
        if _RANDOM.fullmatch(segment) or _FILE.search(segment):
            return True
        if not among_articles and _names_sensitive_file(segment):
            return True
        is_folder = segment.lower() in _ARTICLE_FOLDERS
        among_articles |= is_folder or _YEAR.fullmatch(segment) is not None
    return False


def _names_sensitive_file(segment: bytes) -> bool:
    """Return whether a segment is a sensitive word, alone or with words of file names."""
    words = [word.rstrip(b"$") for word in _WORD.findall(segment.lower())]
    others = [word for word in words if word not in _SENSITIVE]
    return len(others) < len(words) and all(
        word in _FILE_WORDS or any(48 <= octet <= 57 for octet in word) for word in others
    )
