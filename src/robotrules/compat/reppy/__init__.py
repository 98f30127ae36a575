"""
The classes of reppy 0.4.14, which no longer builds, answering by RFC 9309.

    from robotrules.compat.reppy.robots import Robots
    from robotrules.compat.reppy.cache import RobotsCache

The submodules have the names of reppy's: `robots`, `cache`, `cache.policy`, `ttl`, `exceptions`.
`docs/compat/reppy.md` lists every answer that differs.
"""

from robotrules.compat.reppy.robots import Agent, Robots

__all__ = ["Agent", "Robots"]
