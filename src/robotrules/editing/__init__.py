"""
What an editor shows about a robots.txt: for the language server and for the page of the service.

    positions        byte offsets ↔ positions (line, UTF-16 code units)
    document         one open document, parsed once
    diagnostics      lint notes as LSP diagnostics
    hover            hover text of rules and user-agent lines; `extension_hover` for other records
    completion       completion items; `record_info` describes each record
    code_actions     quick fixes, and `source.fixAll` for all safe fixes
    outline          document symbols and folding ranges
    semantic_tokens  semantic tokens for names, values, wildcards and comments
    text_edits       text edits from one version of a file to another
    markdown         Markdown that quotes untrusted text safely

The modules are functions from values to values of `lsprotocol`, the types of the Language Server
Protocol: an editor's protocol is the one that both users need. Importing this package imports none
of them.
"""
