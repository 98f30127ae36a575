"""Verbs: what the editor of the page shows."""

from __future__ import annotations

from robotrules.service.verbs import Verb

VERBS: tuple[Verb, ...] = ()
