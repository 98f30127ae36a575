"""
pyarrow, imported on first use: what to install if it is missing.

The kernels of the engine need no pyarrow; tables, Parquet and the joins of this package do.
"""

from __future__ import annotations

from robotrules.errors import MissingExtraError

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError:
    raise MissingExtraError(
        "pyarrow is not installed, and tables need it: pip install 'robotrules[bulk]'"
    ) from None

__all__ = ["pa", "pc"]
