"""User-Agent headers and the crawlers that they claim to be, for all that recognize crawlers."""

from __future__ import annotations

# A name after `like` is one that a header does not claim.
HEADERS = {
    "Mozilla/5.0 (X11) like Googlebot": "",
    "(like Googlebot)": "",
    "(like  googlebot/2.1)": "",
    "Mozilla/5.0 (Windows NT 10.0) Gecko/1 LIKE Googlebot": "",
    "Mozilla/5.0 (X11; like Googlebot)": "",
    "Mozilla/5.0 (KHTML, like Gecko; compatible; Googlebot/2.1)": "Googlebot",
    "Mozilla/5.0 (like Twitterbot) (compatible; bingbot/2.0)": "bingbot",
    "unlike Googlebot": "",
    "Googlebot like Bingbot": "Googlebot",
    "ExampleBot/1.0 (like Googlebot)": "",
    "Mozilla/5.0 (compatible; ExampleBot/1.0; +https://example.com/bot; Googlebot)": "",
}
