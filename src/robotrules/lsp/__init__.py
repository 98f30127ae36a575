"""
The language server: what an editor shows while somebody writes a robots.txt.

    positions     octets of a file ↔ lines and columns as editors count them
    document      one text in an editor, parsed once
    diagnostics   notes of lint, as editors show them
    hover         what stands here, in words; `meanings` for records that are no rules
    completion    what could stand here; `records` says what each record is
    code_actions  quick fixes, and all safe ones at once
    outline       groups, their rules, folding; `semantic_tokens` for names, values, comments
    edits         a file and its better form → the edits between them
    debounce      when to lint: not at every key, and never two at once
    server        the protocol; the only file that knows pygls

All but the last are functions from values to values of `lsprotocol`, so they are tested without a
client. `robotrules lsp` starts the server. Importing this package imports none of it.
"""
