"""
The language server: `robotrules lsp` shows an author what a robots.txt means, in the editor.

    positions        byte offsets ↔ LSP positions (line, UTF-16 code units)
    document         one open document, parsed once
    diagnostics      lint notes as LSP diagnostics
    hover            hover text of rules and user-agent lines; `extension_hover` for other records
    completion       completion items; `record_info` describes each record
    code_actions     quick fixes, and `source.fixAll` for all safe fixes
    outline          document symbols and folding ranges
    semantic_tokens  semantic tokens for names, values, wildcards and comments
    text_edits       text edits from one version of a file to another
    markdown         Markdown that quotes untrusted text safely
    debounce         debounced linting: after a pause in typing, and never twice at once
    features         one request handler per LSP method
    server           open documents, threads, publishDiagnostics

Only `server` imports pygls. The other modules are functions from values to values of `lsprotocol`,
so tests call them without a client. Importing this package imports none of them.
"""
