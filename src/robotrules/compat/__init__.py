"""
Drop-in replacements: modules with the classes and methods of other robots.txt libraries.

Change the import and keep the code. Each module has the signatures and return types of the library
that it replaces, and answers by RFC 9309; `docs/compat/` lists every answer that differs. There is
no policy here: the modules translate calls to `robotrules`.
"""
