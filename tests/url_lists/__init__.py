"""Lists of URLs, read from blocks of octets."""
