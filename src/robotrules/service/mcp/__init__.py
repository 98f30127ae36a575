"""
The MCP server: `robotrules mcp`, the questions of an agent over the Model Context Protocol.

    arguments      the arguments of the tools
    catalogue      the tools: descriptions, schemas and annotations
    site_text      results made small, and text of sites escaped, before an agent reads them
    given          answers about text that the agent passes; they run where verbs run (`work`)
    page_guidance  the answers of guidance, with their sources
    fetching       answers about live sites: robots.txt files, pages, and slots of an origin
    server         the protocol: tools are listed and called
    listening      the server over HTTP: who may connect

An agent reads every answer, and most of them quote a site. A robots.txt is written by a stranger
and may contain instructions to language models, so quoted text is escaped, cut, and listed by field
in `site_text`. Importing this package imports none of the modules.
"""
