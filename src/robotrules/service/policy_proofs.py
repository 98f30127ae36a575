"""
Proofs that a robots.txt says what a policy asks: one for each statement, under every profile.

The file is parsed again, so the code that wrote it is not trusted. That a path is blocked is proved
by adding the rule to the rules that a crawler obeys: if the verdict on no URL changes, the file
says it already. That nothing else is blocked is proved by comparing these rules with a rule set of
what was asked, for all URLs. A statement that does not hold has a URL that shows it.

Well-known crawlers that ignore groups for `*` are not among "all other crawlers": they are listed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from robotrules.analysis import equivalent
from robotrules.extensions.content_usage import preferences_for
from robotrules.extensions.crawl_delay import crawl_delay
from robotrules.extensions.sitemap import sitemaps
from robotrules.extensions.vocabulary import Preference
from robotrules.octets import visible
from robotrules.profile import PROFILES, Profile
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from robotrules.robotstxt import RobotsTxt, Tokens, normalize_path, parse
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.robotstxt.tokens import CrawlerNames, is_compared_whole, is_product_token
from robotrules.service.policy_forms import EVERYONE, ROOT, Audience, FormPolicy
from robotrules.write import NewRecord, NewRule, allow, disallow
from robotrules.write.policy import Policy

__all__ = ["PolicyProofs", "Proof", "prove_form", "prove_policy"]

# Proofs of one policy; further statements are counted.
MOST_PROOFS = 2_000
# Answers about one crawler under one profile, of all statements.
MOST_ANSWERS = 100_000
# Crawlers that a sentence names.
MOST_NAMED = 4
# Searches that may reach the limit of states; after them nothing more is decided.
FULL_SEARCHES = 10
EVERYONE_ELSE = "all other crawlers"
# A name for the rules of a reference; any would do.
ANY_CRAWLER = "ExampleBot"


class Proof(NamedTuple):
    """A statement of a policy, and whether the robots.txt says it."""

    statement: str
    at: str
    """The part of the form or the policy that asks it."""
    crawlers: tuple[str, ...]
    holds: bool | None
    """None: not decided within the limit of states."""
    witness: str | None = None
    """A URL on which the file says something else."""
    profile: str | None = None
    """The profile under which it does not hold, or was not decided."""
    profiles: tuple[str, ...] = ()
    """The profiles that know all of these crawlers, under which it was proved."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        lists = {"crawlers": list(self.crawlers), "profiles": list(self.profiles)}
        return self._asdict() | lists


class PolicyProofs(NamedTuple):
    """The proofs of a policy."""

    proofs: tuple[Proof, ...]
    more: int
    """Statements that were not proved, because there are too many."""

    @property
    def proved(self) -> bool | None:
        """Whether every statement holds; None: something was not decided, or not proved."""
        found = [proof.holds for proof in self.proofs]
        if False in found:
            return False
        return None if self.more or None in found else True

    def as_dict(self) -> dict[str, Any]:
        """Return them as plain values for JSON."""
        return {
            "proved": self.proved,
            "proofs": [proof.as_dict() for proof in self.proofs],
            "proofs_left_out": self.more,
            "ignore_star": [
                known.product_token
                for known in KNOWN_CRAWLERS
                if known.ignores_star and known.status != "retired"
            ],
        }


class _Member(NamedTuple):
    """A crawler by its product token, or the crawlers with a purpose."""

    product_token: str
    purposes: tuple[str, ...] = ()

    @property
    def names(self) -> Tokens:
        """The names to select groups with."""
        known = KNOWN_CRAWLERS.get(self.product_token)
        return known.names if known else self.product_token

    def is_read_by(self, profile: Profile) -> bool:
        """
        Whether a profile reads the name in a file as it is written.

        Google's parser reads `AI2Bot` as `AI`: no file can address it there, and it does not use
        that parser. Only names in the grammar of RFC 9309 §2.2.1 are read alike by all.
        """
        if self.purposes:
            return profile.reads_purposes()
        if self.product_token == EVERYONE or is_product_token(self.product_token):
            return True
        text = f"User-agent: {self.product_token}\nDisallow: /\n"
        # Profiles that do not know the name refuse it, or do not find it.
        known = CrawlerNames((self.product_token,))
        found = parse(text, profile).select_groups(known).groups
        return bool(found) and is_compared_whole(self.product_token, profile)


Answer = tuple[bool | None, str | None]
YES: Answer = (True, None)


class _Statement(NamedTuple):
    """What is to be proved: for each crawler and file, whether it holds, and a URL if not."""

    words: str
    at: str
    members: tuple[_Member, ...]
    check: Callable[[RobotsTxt, _Member], Answer]


def prove_form(policy: FormPolicy, body: str, max_states: int) -> PolicyProofs:
    """Return the proofs of what a form asks."""
    return _Prover(body, max_states).prove_form(policy)


def prove_policy(policy: Policy, body: str, max_states: int) -> PolicyProofs:
    """Return the proofs of the rules of a policy in TOML, group by group."""
    return _Prover(body, max_states).prove_policy(policy)


class _Prover:
    """Proves statements about one file."""

    def __init__(self, body: str, max_states: int) -> None:
        self._files = [parse(body, profile) for profile in PROFILES.values()]
        self._max_states = max_states
        self._left = max_states * FULL_SEARCHES
        self._answers_left = MOST_ANSWERS
        self._read: dict[tuple[str, _Member], bool] = {}
        self._rules: dict[tuple[str, _Member], RuleSet] = {}
        self._forms: dict[RuleSet, frozenset[tuple[bool, str]]] = {}
        self._answers: dict[tuple[RuleSet, RuleSet], Answer] = {}

    def prove_form(self, policy: FormPolicy) -> PolicyProofs:
        """Return the proofs of what a form asks."""
        return self._prove(self._form_statements(policy))

    def prove_policy(self, policy: Policy) -> PolicyProofs:
        """Return the proofs of the rules of a policy."""
        return self._prove(self._policy_statements(policy))

    def _prove(self, statements: Iterable[_Statement]) -> PolicyProofs:
        proofs: list[Proof] = []
        more = 0
        for statement in statements:
            self._answers_left -= len(statement.members) * len(PROFILES)
            if len(proofs) < MOST_PROOFS and self._answers_left >= 0:
                proofs.append(self._prove_one(statement))
            else:
                more += 1
        return PolicyProofs(tuple(proofs), more)

    def _prove_one(self, statement: _Statement) -> Proof:
        names = tuple(" and ".join(m.purposes) or m.product_token for m in statement.members)
        undecided: str | None = None
        profiles: list[str] = []
        for robots in self._files:
            profile = robots.profile
            members = [one for one in statement.members if self._is_read(one, profile)]
            for member in members:
                holds, witness = statement.check(robots, member)
                if holds is False:
                    return Proof(statement.words, statement.at, names, False, witness, profile.name)
                if holds is None:
                    undecided = profile.name
            if len(members) == len(statement.members):
                profiles.append(profile.name)
        holds = None if undecided else True
        proved = () if undecided else tuple(profiles)
        return Proof(statement.words, statement.at, names, holds, None, undecided, proved)

    def _is_read(self, member: _Member, profile: Profile) -> bool:
        key = profile.name, member
        if key not in self._read:
            self._read[key] = member.is_read_by(profile)
        return self._read[key]

    # --- Statements of a form -------------------------------------------------------------------

    def _form_statements(self, policy: FormPolicy) -> Iterator[_Statement]:
        everyone = policy.audiences[0]
        for audience in policy.audiences:
            members = _members(audience.crawlers, audience.purposes)
            who = _describe(audience)
            if not members:
                continue
            own = [NewRule(False, path) for path in audience.disallow]
            own += [NewRule(True, path) for path in audience.allow]
            if audience.in_file and own != [disallow(ROOT)]:
                for at, rule in _requests(audience, everyone):
                    yield self._rule(who, at, members, rule)
            if not audience.inherits:
                yield self._nothing_else(who, audience.at, members, own)
            if audience.in_file:
                for label, value in audience.use:
                    yield _use(who, f"{audience.at}.use", members, label, value)
                if audience.crawl_delay is not None:
                    at = f"{audience.at}.crawl_delay"
                    yield _delay(who, at, members, audience.crawl_delay)
        for number, url in enumerate(policy.sitemaps):
            yield _sitemap(f"$.form.sitemaps[{number}]", url)

    def _policy_statements(self, policy: Policy) -> Iterator[_Statement]:
        for number, group in enumerate(policy.robots.groups):
            members = _members(group.user_agents, group.purposes)
            who = _list_names(
                [
                    EVERYONE_ELSE if one.product_token == EVERYONE else one.product_token
                    for one in members
                    if not one.purposes
                ]
                + [f"purpose {one}" for one in group.purposes]
            )
            at = f"$.groups[{number}]"
            if group.rules != (disallow(ROOT),):
                for rule in group.rules:
                    yield self._rule(who, at, members, rule)
            yield self._nothing_else(who, at, members, group.rules)

    # --- Proofs about rules ---------------------------------------------------------------------

    def _rule(self, who: str, at: str, members: tuple[_Member, ...], rule: NewRule) -> _Statement:
        """Return the statement that a rule is part of what crawlers obey."""

        def check(robots: RobotsTxt, member: _Member) -> Answer:
            """Compare the rules with and without this one."""
            rules = self._rules_of(robots, member)
            form = normalize_path(rule.pattern, profile=robots.profile, pattern=True)
            # A rule that is there already changes nothing if it is added.
            if (rule.allow, form) in self._forms_of(rules):
                return YES
            return self._compare(rules, _rule_set([*map(str, rules.rules), str(rule)], robots))

        verb = "allowed" if rule.allow else "blocked"
        return _Statement(f"{rule.pattern} is {verb} for {who}", at, members, check)

    def _nothing_else(
        self, who: str, at: str, members: tuple[_Member, ...], asked: Sequence[NewRule]
    ) -> _Statement:
        """Return the statement that crawlers obey these rules, and no others."""
        references = {
            robots.profile.name: _rule_set(map(str, asked), robots) for robots in self._files
        }

        def check(robots: RobotsTxt, member: _Member) -> Answer:
            """Compare the rules with those that were asked for."""
            rules = self._rules_of(robots, member)
            known = KNOWN_CRAWLERS.get(member.product_token)
            if known and known.ignores_star and not rules.count_usable():
                return YES  # it obeys no group, and so nothing else is blocked for it
            return self._compare(rules, references[robots.profile.name])

        if not any(not rule.allow for rule in asked):
            words = f"every URL is allowed for {who}"
        elif list(asked) == [disallow(ROOT)]:
            words = f"every URL is blocked for {who}"
        else:
            words = f"nothing else is blocked for {who}"
        return _Statement(words, at, members, check)

    def _rules_of(self, robots: RobotsTxt, member: _Member) -> RuleSet:
        key = robots.profile.name, member
        if key not in self._rules:
            self._rules[key] = robots.rules_for(member.names, member.purposes)
        return self._rules[key]

    def _forms_of(self, rules: RuleSet) -> frozenset[tuple[bool, str]]:
        if rules not in self._forms:
            self._forms[rules] = frozenset((rule.allow, rule.form) for rule in rules.rules)
        return self._forms[rules]

    def _compare(self, rules: RuleSet, reference: RuleSet) -> Answer:
        """Return whether two rule sets give every URL the same verdict, else a URL."""
        key = rules, reference
        if key not in self._answers:
            if self._left < 1:
                return None, None
            limit = min(self._max_states, self._left)
            found = equivalent(rules, reference, max_states=limit)
            self._left -= found.states
            witness = found.witness.url if found.witness else None
            self._answers[key] = found.equal, witness
        return self._answers[key]


def _rule_set(lines: Iterable[str], robots: RobotsTxt) -> RuleSet:
    """Return rules as a rule set under the profile of a file."""
    text = "".join(f"{line}\n" for line in (f"User-agent: {ANY_CRAWLER}", *lines))
    return parse(text, robots.profile).rules_for(ANY_CRAWLER)


# --- Statements about other records ---------------------------------------------------------------


def _use(who: str, at: str, members: tuple[_Member, ...], label: str, value: bool) -> _Statement:
    expected = Preference.ALLOWED if value else Preference.DISALLOWED

    def check(robots: RobotsTxt, member: _Member) -> Answer:
        """Compare the preference for all URLs."""
        stated = preferences_for(robots, member.names, member.purposes).stated_for_url(ROOT)
        return stated.get(label) is expected, None

    verb = "allowed" if value else "not allowed"
    words = f"use of content for {label} is {verb} for {who} (Content-Usage)"
    return _Statement(words, at, members, check)


def _delay(who: str, at: str, members: tuple[_Member, ...], seconds: float) -> _Statement:
    def check(robots: RobotsTxt, member: _Member) -> Answer:
        """Compare the delay."""
        found = crawl_delay(robots, member.names, member.purposes)
        return found is not None and found.seconds == seconds, None

    words = f"{who}: {seconds:g} seconds between two requests (Crawl-delay)"
    return _Statement(words, at, members, check)


def _sitemap(at: str, url: str) -> _Statement:
    written = NewRecord("Sitemap", url).value

    def check(robots: RobotsTxt, _: _Member) -> Answer:
        """Look for the sitemap."""
        return any(sitemap.url == written for sitemap in sitemaps(robots)), None

    return _Statement(f"the file names the sitemap {visible(url)}", at, (_Member(EVERYONE),), check)


# --- Crawlers -------------------------------------------------------------------------------------


def _members(crawlers: Iterable[str], purposes: Iterable[str]) -> tuple[_Member, ...]:
    named = [_Member(name) for name in crawlers]
    return (*named, *(_Member(EVERYONE, (purpose,)) for purpose in purposes))


def _requests(audience: Audience, everyone: Audience) -> Iterator[tuple[str, NewRule]]:
    """Yield the rules that an audience is asked to obey, and where they are asked."""
    own = [disallow(path) for path in audience.disallow]
    welcome = [allow(path) for path in audience.allow]
    for number, rule in enumerate(own):
        yield f"{audience.at}.disallow[{number}]", rule
    for number, rule in enumerate(welcome):
        yield f"{audience.at}.allow[{number}]", rule
    if not audience.inherits:
        return
    forms = [normalize_path(rule.pattern, pattern=True) for rule in (*own, *welcome)]
    of_everyone = [("disallow", disallow(path)) for path in everyone.disallow]
    of_everyone += [("allow", allow(path)) for path in everyone.allow]
    for name, rule in of_everyone:
        form = normalize_path(rule.pattern, pattern=True)
        # A request about a path replaces those to everyone about it and about paths below.
        if not any(form == mine or (_is_plain(mine) and form.startswith(mine)) for mine in forms):
            yield f"{everyone.at}.{name}", rule


def _is_plain(pattern: str) -> bool:
    return "*" not in pattern and not pattern.endswith("$")


def _describe(audience: Audience) -> str:
    names = [EVERYONE_ELSE if name == EVERYONE else name for name in audience.crawlers]
    listed = _list_names([*names, *(f"purpose {purpose}" for purpose in audience.purposes)])
    return f"{audience.what} ({listed})" if audience.what else listed


def _list_names(names: Sequence[str]) -> str:
    shown = [visible(name) for name in names[:MOST_NAMED]]
    rest = len(names) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")
