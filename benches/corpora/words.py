"""
Words for generated corpora: ordinary path segments, so that shared prefixes and shared letters are
as common as on real sites.
"""

from __future__ import annotations

_WORDS = (
    "about account admin ajax api app archive article assets author basket blog brand cache cart "
    "catalog category checkout client comment community compare config contact content customer "
    "data delivery demo detail dev docs download edit error event export faq feed file filter "
    "forum gallery group guide help home image include index info item jobs journal lang legal "
    "library list live local login mail map media member menu message mobile module news node "
    "offer order page partner people photo plugin policy portal post press preview price print "
    "private product profile promo public query rating recent register report result review "
    "sale search section secure series service session setting share shop site sort source "
    "special staff static status stock store story style submit support system tag team temp "
    "template terms test theme thread ticket tool topic track travel upload user vendor video "
    "view weekly widget wiki wishlist"
)

WORDS = tuple(_WORDS.split())

EXTENSIONS = ("html", "php", "pdf", "aspx", "json", "xml", "jpg")
