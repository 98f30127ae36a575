"""
The language server: `robotrules lsp` shows an author what a robots.txt means, in the editor.

    features         one request handler per LSP method, over the modules of `robotrules.editing`
    server           open documents, threads, publishDiagnostics
    debounce         debounced linting: after a pause in typing, and never twice at once

Only `server` imports pygls. Importing this package imports none of the modules.
"""
