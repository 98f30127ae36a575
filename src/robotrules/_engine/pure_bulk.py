"""
Columns of URLs in plain Python: the bulk half of the pure engine.

The native engine reads Arrow data by the C Data Interface; this module reads it with pyarrow, which
is imported on first use, and has the same functions, classes and answers. It is for machines where
nothing was compiled, and for tests: a URL costs some microseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# Origins that need no work: lower case, letters and digits, no port, no international name. The
# last label starts with a letter, so the host is not an address. `find_origin` has the others.
_NORMAL_ORIGIN = r"^(?P<origin>https?://(?:[a-z0-9_-]{1,63}\.)*[a-z][a-z0-9_-]{0,62})(?:[/?#]|$)"
# "http://" and the longest host name (RFC 1035 §2.3.4).
_MAX_NORMAL_LENGTH = 7 + 253


def import_pyarrow() -> tuple[Any, Any]:
    """Return pyarrow and its functions; this engine reads columns with them."""
    try:
        import pyarrow
        import pyarrow.compute
    except ImportError:
        raise ImportError(
            "pyarrow is not installed, and the pure engine reads columns with it: "
            "pip install 'robotrules[bulk]'"
        ) from None
    return pyarrow, pyarrow.compute


def read_octets(column: Any) -> Any:
    """Return a column of text or bytes as one large_binary array."""
    pa, _ = import_pyarrow()
    array = column
    if not isinstance(array, (pa.Array, pa.ChunkedArray)):
        has_stream = hasattr(column, "__arrow_c_stream__") and not hasattr(
            column, "__arrow_c_array__"
        )
        array = pa.chunked_array(column) if has_stream else pa.array(column)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
        if isinstance(array, pa.ChunkedArray):  # too long for one array of its type
            array = pa.concat_arrays([chunk.cast(pa.large_binary()) for chunk in array.chunks])
    kind = array.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
        array = array.cast(kind)
    if pa.types.is_null(kind):
        return array.cast(pa.large_binary())
    if not (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_string_view(kind)
        or pa.types.is_binary_view(kind)
    ):
        raise TypeError(
            f"a column of URLs has the type string or binary, not {kind}: cast it first"
        )
    return array.cast(pa.large_binary())


def origins_column(column: Any, threads: int, fallback: Callable[[bytes], str | None]) -> Any:
    """Return the origin of each URL; null where there is none."""
    pa, pc = import_pyarrow()
    octets = read_octets(column)
    normal = pc.struct_field(pc.extract_regex(octets, pattern=_NORMAL_ORIGIN), [0])
    is_normal = pc.and_(
        pc.less_equal(pc.binary_length(normal), _MAX_NORMAL_LENGTH),
        pc.invert(pc.match_substring(normal, pattern="xn--")),
    )
    is_normal = pc.fill_null(is_normal, False)
    origins = pc.if_else(is_normal, normal, None).cast(pa.string())
    rest = pc.and_(pc.invert(is_normal), pc.is_valid(octets))
    if not pc.any(rest).as_py():
        return origins
    values = octets.filter(rest).to_pylist()
    found = {value: fallback(value) for value in set(values)}
    others = pa.array([found[value] for value in values], pa.string())
    return pc.replace_with_mask(origins, rest, others)
