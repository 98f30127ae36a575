"""Verbs: diff, simplify, matrix."""

from __future__ import annotations

from robotrules.service.verbs import Verb

VERBS: tuple[Verb, ...] = ()
