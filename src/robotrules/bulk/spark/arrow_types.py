"""
Types of Arrow and types of Spark: what a batch must look like before Spark takes it.

Spark has no dictionaries, no unsigned integers and no 64-bit offsets: a dictionary becomes its
values, an unsigned integer the next larger signed one, a large_binary a binary. A batch of more
than `MAX_BATCH_BYTES` is sliced first, so that 32-bit offsets always suffice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from robotrules.bulk.arrow_support import pa

MAX_BATCH_BYTES = 64 * 2**20
# The name of a column that has a whole row as a struct; not likely to be a user's.
ROW = "__robotrules_row"
_SIGNED = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.int64(),
}
_SHORT_OFFSETS = {
    pa.large_string(): pa.string(),
    pa.string_view(): pa.string(),
    pa.large_binary(): pa.binary(),
    pa.binary_view(): pa.binary(),
}


def plain_type(kind: Any) -> Any:
    """Return the type that Spark has for a type of Arrow."""
    if pa.types.is_dictionary(kind):
        return plain_type(kind.value_type)
    if pa.types.is_struct(kind):
        return pa.struct([_plain_field(kind.field(i)) for i in range(kind.num_fields)])
    if pa.types.is_map(kind):
        return pa.map_(plain_type(kind.key_type), plain_type(kind.item_type))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(_plain_field(kind.value_field))
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    return _SIGNED.get(kind) or _SHORT_OFFSETS.get(kind) or kind


def plain_schema(schema: Any) -> Any:
    """Return a schema with the types that Spark has."""
    return pa.schema([_plain_field(field) for field in schema])


def _plain_field(field: Any) -> Any:
    return pa.field(field.name, plain_type(field.type), field.nullable)


def plain_array(array: Any) -> Any:
    """Convert a column to the type that Spark has for it."""
    kind = array.type
    plain = plain_type(kind)
    if plain == kind:
        return array
    if pa.types.is_struct(kind):
        # A cast of a struct fails for some children, such as dictionaries.
        children = [plain_array(child) for child in array.flatten()]
        return pa.StructArray.from_arrays(children, fields=list(plain), mask=array.is_null())
    if pa.types.is_map(kind):
        keys, items = plain_array(array.keys), plain_array(array.items)
        return pa.MapArray.from_arrays(_offsets(array), keys, items)
    if pa.types.is_list(kind):
        values = plain_array(array.values)
        return pa.ListArray.from_arrays(_offsets(array), values, type=plain)
    return array.cast(plain)


def _offsets(array: Any) -> Any:
    """Return the offsets of a list or map column, null where an entry is null."""
    if array.null_count == 0:
        return array.offsets
    end = pa.array([False])
    return pa.compute.if_else(
        pa.concat_arrays([array.is_null(), end]), pa.scalar(None, pa.int32()), array.offsets
    )


def plain_batches(batch: Any) -> Iterator[Any]:
    """Convert a batch to the types that Spark has, in slices of at most `MAX_BATCH_BYTES`."""
    for part in slices(batch):
        columns = [plain_array(column) for column in part.columns]
        yield pa.RecordBatch.from_arrays(columns, schema=plain_schema(part.schema))


def slices(batch: Any, max_bytes: int = MAX_BATCH_BYTES) -> Iterator[Any]:
    """Halve a batch until each part is small enough; a row is never split."""
    if batch.num_rows < 2 or batch.nbytes <= max_bytes:
        yield batch
        return
    half = batch.num_rows // 2
    yield from slices(batch.slice(0, half), max_bytes)
    yield from slices(batch.slice(half), max_bytes)


def row_batch(batch: Any, name: str = ROW) -> Any:
    """Return the fields of a struct column as a batch; without that column, the batch itself."""
    if name not in batch.schema.names:
        return batch
    rows = batch.column(name)
    return pa.RecordBatch.from_arrays(rows.flatten(), schema=pa.schema(list(rows.type)))
