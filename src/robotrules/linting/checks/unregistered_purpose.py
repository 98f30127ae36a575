"""RR601: a purpose that is not in a registry."""

from __future__ import annotations

from robotrules.linting.check import ParserNote


class UnregisteredPurpose(ParserNote):
    """
    What it finds:
        A `User-Agent-Purpose` line whose value is in none of the loaded registries. Nothing is
        reported if the registries are empty, as the one in this package is.

    Why it matters:
        The draft requires purposes from a registry, so that sites and crawlers agree on their
        meaning. A crawler may ignore an unknown purpose; then the rules of the group have no effect
        for it.

    Example:
        With a registry that has only EXAMPLE-PURPOSE-1:

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
        "No loaded registry has the purpose {text}, so only crawlers that declare it obey this "
        "group. Use a registered purpose."
    )
    reference = "draft-illyes-rep-purpose §3.2; PUR-3.2-02, AMB-97"
