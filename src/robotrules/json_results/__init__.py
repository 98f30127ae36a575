"""
JSON results: what commands print with `--json` and what the HTTP API returns, as plain values.

One module for each command whose JSON is more than the `as_dict()` of one value. The schemas are in
`schemas/`; the functions here read no files and print nothing.
"""
