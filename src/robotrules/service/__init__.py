"""
The service: `robotrules serve`, the verbs of the command line over HTTP, and a page.

    settings   what the service listens on, who may use it, and its limits
    problems   errors as problem details (RFC 9457)
    schemas    request bodies, shared by verbs
    verbs/     one module per group of verbs: a request body → the JSON of the command line
    live       verbs that fetch: check, explain, guidance and robots of a URL, and slots
    work       where verbs run: off the event loop, with a time limit
    app        the ASGI application: routes, and the order of guards
    page/      the page, in TypeScript; static/ is its bundle
    mcp        the same verbs for agents (Model Context Protocol)

The service answers what the rules of a site ask for. It protects nothing on that site: robots.txt
is not access authorization (RFC 9309 §1). Importing this package imports none of the modules.
"""
