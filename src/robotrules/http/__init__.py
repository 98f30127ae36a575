"""
HTTP building blocks that several packages share: header fields, dates, caching arithmetic, origins.

Modules:

- `fields`: header fields from any source as field lines (RFC 9110 §5)
- `structured_fields`: values in the syntax of Structured Fields (RFC 9651)
- `media_types`: Content-Type (RFC 9110 §8.3)
- `dates`: HTTP dates and the other date formats that sites write (RFC 9110 §5.6.7)
- `validators`: ETag and Last-Modified, and whether a 304 confirms a stored file (RFC 9110 §8.8)
- `caching`: freshness lifetime and age of a response, updating a stored one (RFC 9111)
- `origins`: the scheme and authority that one robots.txt governs (RFC 9309 §2.3, RFC 6454)

The modules open no connections, read no clock, and know nothing about robots.txt.
"""
