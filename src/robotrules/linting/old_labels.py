"""
Old labels: what earlier revisions of the vocabulary of usage preferences had, and it has no more.

Files were written after those revisions, and readers ignore what they do not know. It does not read
any record.
"""

from __future__ import annotations

# What takes the place of each, where something does (draft-ietf-aipref-vocab-07 §6.1, CU-V6.1-01).
OLD_LABELS: dict[str, str | None] = {
    "bots": None,
    "ai": "train-ai",
    "genai": "train-ai",
    "train-genai": "train-ai",
    "ai-output": None,
}
