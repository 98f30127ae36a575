"""RR601: a purpose that no registry knows."""

from __future__ import annotations

from robotrules.linting.check import ParserNote


class UnregisteredPurpose(ParserNote):
    """
    What it finds:
        A `User-Agent-Purpose` line whose value is in no registry of purposes that lint was given.
        Where no registry has any entry, as with the one that comes with this package, nothing is
        reported.

    Why it matters:
        The draft wants purposes to come from one list, so that a site and a crawler mean the same
        by a word. A crawler may discard a word that it does not know; the group then is for nobody,
        and its rules have no effect.

    Example:
        With a registry that has EXAMPLE-PURPOSE-1 alone:

            User-Agent-Purpose: TRAINING
            Disallow: /

    Instead:
            User-Agent-Purpose: EXAMPLE-PURPOSE-1
            Disallow: /
    """

    code = "RR601"
    slug = "unregistered-purpose"
    level = "warning"
    message = (
        "No registry that was loaded knows the purpose {text}; the rules count for crawlers that "
        "say they have it."
    )
    reference = "draft-illyes-rep-purpose §3.2; PUR-3.2-02, AMB-97"
