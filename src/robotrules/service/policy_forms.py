"""
A policy as a form: what the page asks a site owner, turned into a policy in TOML.

Well-known crawlers are blocked or allowed by their purpose; the registry says which have it. A
crawler with an allowed and a blocked purpose is allowed, with a hint. Entries of `crawlers` are
about crawlers by name, and take precedence. `Audience` has what each crawler was asked, so that
`policy_proofs` can compare it with the robots.txt, without the code that writes it.

Sections: the form · what is asked · TOML.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta

from robotrules.octets import visible
from robotrules.registries.crawlers import CRAWLER_PURPOSES, KNOWN_CRAWLERS, KnownCrawler
from robotrules.service.problems import Problem
from robotrules.service.schemas import RequestBody
from robotrules.write.values import NAME

__all__ = ["Audience", "Form", "FormPolicy", "make_policy"]

# Entries of a form; a person fills it in.
MOST_PATHS, MOST_ENTRIES, MOST_NAMES, MOST_SITEMAPS = 1_000, 200, 500, 1_000
EVERYONE = "*"
ROOT = "/"
# Path patterns that match every URL.
WHOLE_SITE = frozenset(("/", "/*", "*"))

Path = Annotated[str, Meta(min_length=1, max_length=8_192, examples=["/private/"])]
Paths = Annotated[list[Path], Meta(max_length=MOST_PATHS)]
Name = Annotated[str, Meta(min_length=1, max_length=1_000)]
Names = Annotated[list[Name], Meta(max_length=MOST_NAMES)]
Comment = Annotated[str, Meta(max_length=10_000)]
Use = Annotated[
    dict[Literal["train-ai", "search"], bool],
    Meta(description="Content-Usage preferences: whether content may be used for this."),
]
Delay = Annotated[
    int | float | None,
    Meta(description="Seconds between two requests (Crawl-delay)."),
]
Access = Literal["allow", "block"]


# --- The form -------------------------------------------------------------------------------------


class FormEntry(RequestBody, kw_only=True):
    """What is asked of some crawlers by name."""

    crawlers: Annotated[Names, Meta(description="Product tokens.")] = msgspec.field(
        default_factory=list
    )
    purposes: Annotated[
        Names, Meta(description="Purposes of User-Agent-Purpose, such as EXAMPLE-PURPOSE-1.")
    ] = msgspec.field(default_factory=list)
    access: Annotated[
        Access | None,
        Meta(
            description="block: nothing but the paths in `allow`. allow: everything but the paths "
            "in `disallow`. null: what everyone is asked, and these paths."
        ),
    ] = None
    disallow: Paths = msgspec.field(default_factory=list)
    allow: Paths = msgspec.field(default_factory=list)
    use: Use = msgspec.field(default_factory=dict)
    crawl_delay: Delay = None
    comment: Comment = ""


class FormTags(RequestBody, kw_only=True):
    """Tag rules for pages by path; they are sent in header fields, not in the robots.txt."""

    paths: Paths
    rules: Annotated[list[Name], Meta(max_length=100, examples=[["noindex"]])]
    crawlers: Names = msgspec.field(default_factory=list)


class Form(RequestBody, kw_only=True):
    """A policy as a form; what is left out is not asked."""

    purposes: Annotated[
        dict[Annotated[str, Meta(max_length=100)], Access],
        Meta(
            description="Whether well-known crawlers with a purpose, such as ai-training or "
            "search, are allowed or blocked.",
            max_length=len(CRAWLER_PURPOSES),
        ),
    ] = msgspec.field(default_factory=dict)
    disallow: Annotated[Paths, Meta(description="Paths that no crawler should fetch.")] = (
        msgspec.field(default_factory=list)
    )
    allow: Annotated[Paths, Meta(description="Exceptions from `disallow`.")] = msgspec.field(
        default_factory=list
    )
    crawlers: Annotated[
        list[FormEntry], Meta(max_length=MOST_ENTRIES, description="Requests to single crawlers.")
    ] = msgspec.field(default_factory=list)
    use: Use = msgspec.field(default_factory=dict)
    crawl_delay: Delay = None
    sitemaps: Annotated[
        list[Annotated[str, Meta(max_length=8_192)]], Meta(max_length=MOST_SITEMAPS)
    ] = msgspec.field(default_factory=list)
    tags: Annotated[list[FormTags], Meta(max_length=MOST_ENTRIES)] = msgspec.field(
        default_factory=list
    )
    comment: Annotated[Comment, Meta(description="A comment at the top of the file.")] = ""


# --- What is asked --------------------------------------------------------------------------------


class Audience(NamedTuple):
    """Crawlers of which the same is asked."""

    at: str
    """The part of the form that asks it."""
    crawlers: tuple[str, ...]
    """Product tokens; `*` is everyone else."""
    purposes: tuple[str, ...] = ()
    disallow: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    inherits: bool = False
    """Whether the requests to everyone apply too, except for the paths of its own requests."""
    use: tuple[tuple[str, bool], ...] = ()
    crawl_delay: float | None = None
    what: str = ""
    """What these crawlers are, if they are not named by the form."""
    in_file: bool = True
    """Whether the file has a group for them; if not, they are part of everyone."""
    comment: str = ""


class FormPolicy(NamedTuple):
    """The policy of a form."""

    toml: str
    audiences: tuple[Audience, ...]
    """Everyone first."""
    sitemaps: tuple[str, ...]
    hints: tuple[str, ...]
    """What a site owner should know about it."""


def make_policy(form: Form) -> FormPolicy:
    """Return the policy of a form; unknown purposes are a problem."""
    hints: list[str] = []
    audiences = [
        _everyone(form),
        *_named(form),
        *_by_purpose(form, hints),
    ]
    hints += [*_hints_on_obedience(audiences), *_hints_on_other_names(audiences)]
    return FormPolicy(
        _to_toml(form, audiences), tuple(audiences), tuple(form.sitemaps), tuple(hints)
    )


def _everyone(form: Form) -> Audience:
    return Audience(
        "$.form",
        (EVERYONE,),
        disallow=tuple(form.disallow),
        allow=tuple(form.allow),
        use=tuple(form.use.items()),
        crawl_delay=form.crawl_delay,
    )


def _named(form: Form) -> Iterator[Audience]:
    for number, entry in enumerate(form.crawlers):
        if EVERYONE in entry.crawlers:
            words = "'*' stands for all other crawlers: use `disallow` and `allow` of the form"
            raise Problem("invalid-request", words, at=f"$.form.crawlers[{number}].crawlers")
        block, allow = entry.access == "block", entry.access == "allow"
        yield Audience(
            f"$.form.crawlers[{number}]",
            tuple(entry.crawlers),
            tuple(entry.purposes),
            _unique([*([ROOT] if block else []), *entry.disallow]),
            tuple(entry.allow),
            inherits=not (block or allow),
            use=tuple((dict(form.use) | entry.use).items()),
            crawl_delay=form.crawl_delay if entry.crawl_delay is None else entry.crawl_delay,
            comment=entry.comment,
        )


def _by_purpose(form: Form, hints: list[str]) -> Iterator[Audience]:
    for purpose in form.purposes:
        if purpose not in CRAWLER_PURPOSES:
            names = ", ".join(CRAWLER_PURPOSES)
            words = f"{visible(purpose)!r} is not a purpose of well-known crawlers: use {names}"
            raise Problem("invalid-request", words, at="$.form.purposes")
    named = {name.lower() for entry in form.crawlers for name in entry.crawlers}
    members: dict[str, list[KnownCrawler]] = {one: [] for one in form.purposes}
    for known in KNOWN_CRAWLERS:
        if known.status == "retired" or known.product_token.lower() in named:
            continue
        asked = [purpose for purpose in known.purposes if purpose in form.purposes]
        allowing = [purpose for purpose in asked if form.purposes[purpose] == "allow"]
        if len(asked) > len(allowing) > 0 and NAME.fullmatch(known.product_token):
            blocking = next(one for one in asked if one not in allowing)
            hints.append(
                f"{known.product_token} is allowed, because it has the purpose {allowing[0]}, "
                f"although it has the purpose {blocking} too; name it in `crawlers` to block it"
            )
        if asked and not NAME.fullmatch(known.product_token):
            hints.append(
                f"{known.product_token} is left out, because a group that all parsers read cannot "
                "name it"
            )
        elif asked:
            members[(allowing or asked)[0]].append(known)
    everyone_blocked = bool(WHOLE_SITE.intersection(form.disallow))
    with_group = named | {
        known.product_token.lower()
        for purpose, crawlers in members.items()
        if form.purposes[purpose] == "block"
        for known in crawlers
    }
    for purpose, crawlers in members.items():
        if not crawlers:
            hints.append(f"no well-known crawler is left that has the purpose {purpose}")
        elif form.purposes[purpose] == "block":
            yield _purpose_audience(form, purpose, crawlers, in_file=True)
        else:
            # Without a group of its own, a crawler may obey the group of another name.
            apart = [
                known
                for known in crawlers
                if everyone_blocked or any(name.lower() in with_group for name in known.also)
            ]
            rest = [known for known in crawlers if known not in apart]
            for some, in_file in ((apart, True), (rest, False)):
                if some:
                    yield _purpose_audience(form, purpose, some, in_file=in_file)


def _purpose_audience(
    form: Form, purpose: str, crawlers: Sequence[KnownCrawler], *, in_file: bool
) -> Audience:
    block = form.purposes[purpose] == "block"
    kept = tuple(path for path in form.disallow if path not in WHOLE_SITE)
    return Audience(
        f"$.form.purposes.{purpose}",
        tuple(known.product_token for known in crawlers),
        disallow=(ROOT,) if block else kept,
        allow=() if block else tuple(form.allow),
        use=tuple(form.use.items()),
        crawl_delay=form.crawl_delay,
        what=f"well-known crawlers with the purpose {purpose}",
        in_file=in_file,
        comment=f"Crawlers with the purpose {purpose}: {CRAWLER_PURPOSES[purpose]}",
    )


def _hints_on_obedience(audiences: Iterable[Audience]) -> Iterator[str]:
    """Yield which crawlers may not do what is asked, by what is known about them."""
    for audience in audiences:
        for name in audience.crawlers:
            known = KNOWN_CRAWLERS.get(name)
            if known is not None and known.obeys in ("partly", "no") and audience.in_file:
                adverb = "does not obey" if known.obeys == "no" else "does not always obey"
                yield f"{known.product_token} {adverb} robots.txt ({known.source})"


def _hints_on_other_names(audiences: Sequence[Audience]) -> Iterator[str]:
    """Yield which crawlers obey the group of another crawler that the form blocks."""
    named = {name.lower() for audience in audiences for name in audience.crawlers}
    blocked = {
        name.lower()
        for audience in audiences
        if ROOT in audience.disallow and EVERYONE not in audience.crawlers
        for name in audience.crawlers
    }
    for known in KNOWN_CRAWLERS:
        if known.status == "retired" or known.product_token.lower() in named:
            continue
        other = next((name for name in known.also if name.lower() in named), "")
        if other.lower() in blocked:
            yield (
                f"{known.product_token} is blocked too, because it obeys the group of {other} if "
                f"no group names it ({known.source})"
            )


def _unique(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(paths))


# --- TOML -----------------------------------------------------------------------------------------


def _to_toml(form: Form, audiences: Iterable[Audience]) -> str:
    sections = [list(_pairs({"comment": form.comment, "sitemaps": form.sitemaps}))]
    for audience in audiences:
        if not audience.in_file:
            continue
        is_everyone = EVERYONE in audience.crawlers
        header = ["[everyone]"] if is_everyone else ["[[for]]"]
        values: dict[str, object] = {"comment": audience.comment}
        if not is_everyone:
            values["crawlers"] = list(audience.crawlers)
            values["purposes"] = list(audience.purposes)
            values["instead-of-everyone"] = not audience.inherits
        values["keep-out"] = list(audience.disallow)
        values["welcome"] = list(audience.allow)
        values["crawl-delay"] = audience.crawl_delay
        lines = [*header, *_pairs(values)]
        if audience.use:
            uses = ", ".join(f"{label} = {_value(value)}" for label, value in audience.use)
            lines.append(f"use = {{ {uses} }}")
        sections.append(lines)
    for tags in form.tags:
        values = {"paths": tags.paths, "rules": tags.rules, "crawlers": tags.crawlers}
        sections.append(["[[tags]]", *_pairs(values)])
    return "\n".join("".join(f"{line}\n" for line in lines) for lines in sections if lines)


def _pairs(values: dict[str, object]) -> Iterator[str]:
    """Yield keys with their values; what is empty is left out."""
    for key, value in values.items():
        if value not in ("", [], None, False):
            yield f"{key} = {_value(value)}"


def _value(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):
        # Basic strings of TOML have the escapes of JSON; DEL must be escaped too.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)
