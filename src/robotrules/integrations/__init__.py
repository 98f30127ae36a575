"""
Integrations: one module per host library, which adapts robotrules to it.

Each host library is imported only by its own module, and integrations do not import each other,
except that `flask` is a layer over `wsgi`, which needs no library.
"""
