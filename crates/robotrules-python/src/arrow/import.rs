//! Columns of strings and numbers from any library that has the Arrow PyCapsule protocol.
//!
//! Strings are not copied: [`Texts`] borrows the buffers of the producer, which a [`TextColumn`] keeps alive.
//! Lengths of buffers are not part of the interface, so they follow from offsets; an offset that
//! contradicts them makes an empty text, and never a read outside of a buffer's stated end.

use super::ffi::{take_from_capsule, Array, Schema, Stream};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use robotrules_core::Row;
use std::ffi::{c_void, CStr};
use std::mem::{align_of, size_of};

/// The octets of a view of a string (`string_view`, `binary_view`).
const VIEW: usize = 16;
/// A view of at most this many octets holds its text.
const INLINE: usize = 12;

/// The octets that a processor loads at once.
const CACHE_LINE: usize = 64;

/// The chunks of a column, and their type.
struct Chunks {
    schema: Schema,
    arrays: Vec<Array>,
}

/// A column of strings or octets.
pub struct TextColumn {
    chunks: Chunks,
    /// The number of rows.
    pub length: usize,
}

/// A chunk of a column of strings or octets.
pub struct Texts<'a> {
    /// The number of rows.
    pub length: usize,
    validity: Option<Bits<'a>>,
    layout: Layout<'a>,
}

/// Bits, the first in the lowest place, and where the first row is in them.
#[derive(Clone, Copy)]
struct Bits<'a>(&'a [u8], usize);

impl Bits<'_> {
    #[inline]
    fn get(&self, row: usize) -> bool {
        let at = self.1 + row;
        self.0.get(at / 8).is_some_and(|octet| octet >> (at % 8) & 1 == 1)
    }
}

enum Layout<'a> {
    Small { offsets: &'a [i32], data: &'a [u8] },
    Large { offsets: &'a [i64], data: &'a [u8] },
    Views { views: &'a [[u8; VIEW]], buffers: Vec<&'a [u8]> },
    Dictionary { indices: Integers<'a>, values: Box<Texts<'a>> },
    Nulls,
}

/// Integers of any width.
enum Integers<'a> {
    I8(&'a [i8]),
    U8(&'a [u8]),
    I16(&'a [i16]),
    U16(&'a [u16]),
    I32(&'a [i32]),
    U32(&'a [u32]),
    I64(&'a [i64]),
    U64(&'a [u64]),
}

impl Integers<'_> {
    /// A value as an index; `usize::MAX` if it is negative.
    #[inline]
    fn index(&self, row: usize) -> usize {
        let index = match self {
            Integers::I8(values) => values.get(row).map(|&value| i64::from(value)),
            Integers::U8(values) => values.get(row).map(|&value| i64::from(value)),
            Integers::I16(values) => values.get(row).map(|&value| i64::from(value)),
            Integers::U16(values) => values.get(row).map(|&value| i64::from(value)),
            Integers::I32(values) => values.get(row).map(|&value| i64::from(value)),
            Integers::U32(values) => values.get(row).map(|&value| i64::from(value)),
            Integers::I64(values) => values.get(row).copied(),
            Integers::U64(values) => values.get(row).and_then(|&value| value.try_into().ok()),
        };
        index.and_then(|index| usize::try_from(index).ok()).unwrap_or(usize::MAX)
    }
}

impl<'a> Texts<'a> {
    /// The text of a row; that of a null is empty.
    #[inline(always)]
    pub fn row(&self, row: usize) -> Row<'a> {
        let (data, start, end) = match &self.layout {
            Layout::Small { offsets, data } => match offsets.get(row..row + 2) {
                Some(&[start, end]) => (*data, start as usize, end as usize),
                _ => return (&[], 0, 0),
            },
            Layout::Large { offsets, data } => match offsets.get(row..row + 2) {
                Some(&[start, end]) => (*data, start as usize, end as usize),
                _ => return (&[], 0, 0),
            },
            Layout::Views { views, buffers } if self.is_valid(row) => {
                return view(views.get(row), buffers)
            }
            Layout::Dictionary { indices, values } if self.is_valid(row) => {
                return values.row(indices.index(row))
            }
            _ => return (&[], 0, 0),
        };
        match start <= end && end <= data.len() && self.is_valid(row) {
            true => (data, start, end),
            false => (&[], 0, 0),
        }
    }

    /// The octets of a row.
    #[inline]
    pub fn octets(&self, row: usize) -> &'a [u8] {
        let (text, start, end) = self.row(row);
        &text[start..end]
    }

    /// Reads the text of some rows once, in order, so that it is in the cache of the processor: reading
    /// rows in another order would wait for the memory at each of them.
    pub fn load(&self, rows: std::ops::Range<usize>) {
        if let Some(last) = rows.end.checked_sub(1).filter(|last| rows.contains(last)) {
            let ((data, start, _), (same, _, end)) = (self.row(rows.start), self.row(last));
            if std::ptr::eq(data, same) && start <= end {
                let lines = data[start..end].iter().step_by(CACHE_LINE);
                std::hint::black_box(lines.fold(0_u8, |sum, octet| sum ^ octet));
            }
        }
    }

    /// Whether a row is not null.
    #[inline(always)]
    pub fn is_valid(&self, row: usize) -> bool {
        let valid = self.validity.is_none_or(|bits| bits.get(row));
        match &self.layout {
            Layout::Dictionary { indices, values } if valid => {
                let index = indices.index(row);
                index < values.length && values.is_valid(index)
            }
            Layout::Nulls => false,
            _ => valid,
        }
    }

    /// Whether a row may be null.
    pub fn has_nulls(&self) -> bool {
        match &self.layout {
            Layout::Nulls => true,
            Layout::Dictionary { .. } => true,
            _ => self.validity.is_some(),
        }
    }

    /// The values of a dictionary, and the index of each row in them, if the chunk has one that is not
    /// larger than the chunk.
    pub fn as_dictionary(&self) -> Option<(&Texts<'a>, impl Fn(usize) -> usize + '_)> {
        match &self.layout {
            Layout::Dictionary { indices, values } if values.length <= self.length => {
                Some((&**values, |row| indices.index(row)))
            }
            _ => None,
        }
    }
}

/// The text of a view.
#[inline]
fn view<'a>(view: Option<&'a [u8; VIEW]>, buffers: &[&'a [u8]]) -> Row<'a> {
    let Some(view) = view else { return (&[], 0, 0) };
    let number = |at: usize| {
        let octets = view.get(at..at + 4).and_then(|octets| octets.first_chunk::<4>());
        octets.map_or(0, |octets| i32::from_le_bytes(*octets)) as usize
    };
    let length = number(0);
    if length <= INLINE {
        return (view, 4, 4 + length);
    }
    let (buffer, start) = (buffers.get(number(8)).copied().unwrap_or_default(), number(12));
    match start.checked_add(length) {
        Some(end) if end <= buffer.len() => (buffer, start, end),
        _ => (&[], 0, 0),
    }
}

impl TextColumn {
    /// The chunks.
    pub fn texts(&self) -> PyResult<Vec<Texts<'_>>> {
        let read = |array| read_texts(&self.chunks.schema, array, "column");
        self.chunks.arrays.iter().map(read).collect()
    }
}

/// Reads a column of strings: an object with `__arrow_c_array__` or `__arrow_c_stream__`.
pub fn import_texts(column: &Bound<'_, PyAny>) -> PyResult<TextColumn> {
    let chunks = import(column)?;
    let mut length = 0;
    for array in &chunks.arrays {
        // Checks the type and the buffers once, before any work.
        length += read_texts(&chunks.schema, array, "column")?.length;
    }
    if chunks.arrays.is_empty() {
        check_text_format(&chunks.schema)?;
    }
    Ok(TextColumn { chunks, length })
}

/// Reads a column of numbers of one type into a vector; nulls become `null`.
pub fn import_numbers<T: Number>(column: &Bound<'_, PyAny>, null: T) -> PyResult<Vec<T>> {
    let chunks = import(column)?;
    // SAFETY: the format of a schema is a C string.
    let format = unsafe { c_string(chunks.schema.format) };
    if format != T::FORMAT {
        let message =
            format!("the column has the type {}, not {}: cast it", type_name(format), T::NAME);
        return Err(PyTypeError::new_err(message));
    }
    let mut numbers = Vec::new();
    for array in &chunks.arrays {
        let (length, offset) = extent(array)?;
        // SAFETY: an array of this format has `offset + length` values in its second buffer.
        let values = unsafe { buffer::<T>(array, 1, offset + length)? };
        let validity = validity(array, length, offset)?;
        numbers.extend(values.get(offset..).unwrap_or_default());
        if let Some(bits) = validity {
            let first = numbers.len() - length;
            for (row, number) in numbers[first..].iter_mut().enumerate() {
                if !bits.get(row) {
                    *number = null;
                }
            }
        }
    }
    Ok(numbers)
}

/// A type of numbers.
pub trait Number: Copy {
    /// Its format in the C Data Interface.
    const FORMAT: &'static str;
    /// Its name.
    const NAME: &'static str;
}

impl Number for u32 {
    const FORMAT: &'static str = "I";
    const NAME: &'static str = "uint32";
}

impl Number for f64 {
    const FORMAT: &'static str = "g";
    const NAME: &'static str = "float64";
}

// --- Capsules ------------------------------------------------------------------------------------

/// The chunks of a column; those of the only column of a table.
fn import(column: &Bound<'_, PyAny>) -> PyResult<Chunks> {
    let py = column.py();
    // The stream first: objects with several chunks may have both methods and fail in the other.
    let chunks = if column.hasattr(intern!(py, "__arrow_c_stream__"))? {
        let capsule = column.call_method0(intern!(py, "__arrow_c_stream__"))?;
        let stream: Stream = take_from_capsule(&capsule)?;
        // Without the GIL: the producer may compute the chunks on threads that need it.
        py.detach(move || read_stream(stream))?
    } else if column.hasattr(intern!(py, "__arrow_c_array__"))? {
        let pair = column.call_method0(intern!(py, "__arrow_c_array__"))?;
        let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
        Chunks { schema: take_from_capsule(&schema)?, arrays: vec![take_from_capsule(&array)?] }
    } else {
        let name = column.get_type().name()?.to_string();
        let message = format!(
            "{name} is not an Arrow column: pass an object with __arrow_c_array__ or __arrow_c_stream__, \
             such as pyarrow.array(urls) or polars.Series(urls)"
        );
        return Err(PyTypeError::new_err(message));
    };
    only_column(chunks)
}

/// The chunks of a stream, which is released.
fn read_stream(mut stream: Stream) -> PyResult<Chunks> {
    let (schema, mut arrays) = (stream.schema()?, vec![]);
    while let Some(array) = stream.next()? {
        arrays.push(array);
    }
    Ok(Chunks { schema, arrays })
}

/// The only column of a table; a column itself stays as it is.
fn only_column(mut chunks: Chunks) -> PyResult<Chunks> {
    // SAFETY: the format of a schema is a C string.
    if unsafe { c_string(chunks.schema.format) } != "+s" {
        return Ok(chunks);
    }
    if chunks.schema.n_children != 1 {
        let names: Vec<_> = (0..chunks.schema.n_children.max(0) as usize)
            // SAFETY: the children of a schema are schemas, and their names are C strings or null.
            .map(|at| unsafe { c_string((**chunks.schema.children.add(at)).name) }.to_owned())
            .collect();
        let message = format!("this is a table with the columns {names:?}: pass one of them");
        return Err(PyTypeError::new_err(message));
    }
    // SAFETY: the only child is valid. Moving it out is permitted: what is left is marked as released.
    let schema =
        unsafe { std::mem::replace(&mut **chunks.schema.children, super::ffi::Released::empty()) };
    let mut arrays = Vec::new();
    for array in &mut chunks.arrays {
        let (length, offset) = extent(array)?;
        if array.n_children != 1 || array.null_count > 0 {
            return Err(PyValueError::new_err("a table has null rows: pass its column instead"));
        }
        // SAFETY: as above.
        let mut child: Array =
            unsafe { std::mem::replace(&mut **array.children, super::ffi::Released::empty()) };
        // The rows of a struct are a range of those of its children.
        child.offset += offset as i64;
        child.length = child.length.saturating_sub(offset as i64).min(length as i64);
        child.null_count = -1;
        arrays.push(child);
    }
    Ok(Chunks { schema, arrays })
}

// --- Buffers -------------------------------------------------------------------------------------

/// A C string; empty for null.
///
/// # Safety
/// The pointer is null, or points to a C string that lives as long as the result is used.
unsafe fn c_string<'a>(pointer: *const std::ffi::c_char) -> &'a str {
    match pointer.is_null() {
        true => "",
        // SAFETY: as the caller promises.
        false => unsafe { CStr::from_ptr(pointer) }.to_str().unwrap_or_default(),
    }
}

/// The length and the offset of an array.
fn extent(array: &Array) -> PyResult<(usize, usize)> {
    match (usize::try_from(array.length), usize::try_from(array.offset)) {
        (Ok(length), Ok(offset)) if length.checked_add(offset).is_some() => Ok((length, offset)),
        _ => Err(PyValueError::new_err("an Arrow array has a negative length or offset")),
    }
}

/// A buffer of an array as a slice of `count` values; empty if the buffer is null.
///
/// # Safety
/// The format of the array says that this buffer has at least `count` values of type T.
unsafe fn buffer<T>(array: &Array, number: usize, count: usize) -> PyResult<&[T]> {
    if number as i64 >= array.n_buffers || array.buffers.is_null() {
        return Err(PyValueError::new_err(
            "an Arrow array has fewer buffers than its type requires",
        ));
    }
    // SAFETY: the number is less than the number of buffers.
    let pointer: *const c_void = unsafe { *array.buffers.add(number) };
    if pointer.is_null() || count == 0 {
        return Ok(&[]);
    }
    if !(pointer as usize).is_multiple_of(align_of::<T>())
        || count > isize::MAX as usize / size_of::<T>()
    {
        let message = "an Arrow buffer is not aligned, or too large: copy the column first";
        return Err(PyValueError::new_err(message));
    }
    // SAFETY: the buffer is aligned, has `count` values as the caller promises, and lives and does not
    // change as long as the array.
    Ok(unsafe { std::slice::from_raw_parts(pointer.cast::<T>(), count) })
}

fn validity(array: &Array, length: usize, offset: usize) -> PyResult<Option<Bits<'_>>> {
    if array.null_count == 0 || length == 0 {
        return Ok(None);
    }
    // SAFETY: the first buffer of an array has one bit for each value, or is null.
    let bits = unsafe { buffer::<u8>(array, 0, (offset + length).div_ceil(8))? };
    Ok((!bits.is_empty()).then_some(Bits(bits, offset)))
}

/// The types of columns with strings, by format.
const TEXT_FORMATS: [&str; 7] = ["u", "z", "U", "Z", "vu", "vz", "n"];

/// The name of a type, for messages; less common ones by their format.
fn type_name(format: &str) -> String {
    let name = match format {
        "b" => "bool",
        "c" => "int8",
        "C" => "uint8",
        "s" => "int16",
        "S" => "uint16",
        "i" => "int32",
        "I" => "uint32",
        "l" => "int64",
        "L" => "uint64",
        "f" => "float",
        "g" => "double",
        "u" => "string",
        "z" => "binary",
        "+l" | "+L" => "list",
        "+s" => "struct",
        "+m" => "map",
        "+r" => "run_end_encoded",
        format if format.starts_with("ts") => "timestamp",
        format if format.starts_with("td") => "date",
        format => return format!("the Arrow type {format:?}"),
    };
    name.to_owned()
}

fn check_text_format(schema: &Schema) -> PyResult<()> {
    // SAFETY: the format of a schema is a C string; a dictionary is a schema or null.
    let format = unsafe {
        match schema.dictionary.as_ref() {
            Some(values) => c_string(values.format),
            None => c_string(schema.format),
        }
    };
    match TEXT_FORMATS.contains(&format) {
        true => Ok(()),
        false => Err(PyTypeError::new_err(format!(
            "a column of URLs has the type string, large_string, string_view, binary or a dictionary of \
             these, not {}: cast it",
            type_name(format)
        ))),
    }
}

fn read_texts<'a>(schema: &Schema, array: &'a Array, what: &str) -> PyResult<Texts<'a>> {
    check_text_format(schema)?;
    let (length, offset) = extent(array)?;
    let values = offset + length;
    // SAFETY: the format of a schema is a C string.
    let format = unsafe { c_string(schema.format) };
    if !schema.dictionary.is_null() {
        if array.dictionary.is_null() {
            return Err(PyValueError::new_err(format!("the {what} has no dictionary")));
        }
        // SAFETY: the dictionary of a schema is a schema, and that of an array an array.
        let (inner_schema, inner) = unsafe { (&*schema.dictionary, &*array.dictionary) };
        if !inner_schema.dictionary.is_null() {
            return Err(PyTypeError::new_err(
                "a dictionary of dictionaries is not supported: cast it",
            ));
        }
        let texts = read_texts(inner_schema, inner, "dictionary")?;
        let indices = read_indices(array, format, values, offset)?;
        let layout = Layout::Dictionary { indices, values: Box::new(texts) };
        return Ok(Texts { length, validity: validity(array, length, offset)?, layout });
    }
    let layout = match format {
        "u" | "z" => {
            // SAFETY: an array of this format has one offset more than values.
            let offsets = unsafe { buffer::<i32>(array, 1, values + 1)? };
            let end = offsets.last().map_or(0, |&end| usize::try_from(end).unwrap_or(0));
            // SAFETY: the data ends at the last offset.
            let data = unsafe { buffer::<u8>(array, 2, end)? };
            Layout::Small { offsets: offsets.get(offset..).unwrap_or_default(), data }
        }
        "U" | "Z" => {
            // SAFETY: an array of this format has one offset more than values.
            let offsets = unsafe { buffer::<i64>(array, 1, values + 1)? };
            let end = offsets.last().map_or(0, |&end| usize::try_from(end).unwrap_or(0));
            // SAFETY: the data ends at the last offset.
            let data = unsafe { buffer::<u8>(array, 2, end)? };
            Layout::Large { offsets: offsets.get(offset..).unwrap_or_default(), data }
        }
        "vu" | "vz" => {
            // SAFETY: an array of this format has a view of 16 octets for each value.
            let views = unsafe { buffer::<[u8; VIEW]>(array, 1, values)? };
            let count = usize::try_from(array.n_buffers - 3).unwrap_or(0);
            // SAFETY: the last buffer has the size of each data buffer as a number of eight octets.
            let sizes = unsafe { buffer::<i64>(array, 2 + count, count)? };
            let data = |(number, &size): (usize, &i64)| {
                // SAFETY: a data buffer has the size that is stated for it.
                unsafe { buffer::<u8>(array, 2 + number, usize::try_from(size).unwrap_or(0)) }
            };
            let buffers = sizes.iter().enumerate().map(data).collect::<PyResult<_>>()?;
            Layout::Views { views: views.get(offset..).unwrap_or_default(), buffers }
        }
        _ => return Ok(Texts { length, validity: None, layout: Layout::Nulls }),
    };
    Ok(Texts { length, validity: validity(array, length, offset)?, layout })
}

fn read_indices<'a>(
    array: &'a Array,
    format: &str,
    values: usize,
    offset: usize,
) -> PyResult<Integers<'a>> {
    macro_rules! integers {
        ($variant:ident, $type:ty) => {{
            // SAFETY: an array of this format has this many values of this type.
            let all = unsafe { buffer::<$type>(array, 1, values)? };
            Ok(Integers::$variant(all.get(offset..).unwrap_or_default()))
        }};
    }
    match format {
        "c" => integers!(I8, i8),
        "C" => integers!(U8, u8),
        "s" => integers!(I16, i16),
        "S" => integers!(U16, u16),
        "i" => integers!(I32, i32),
        "I" => integers!(U32, u32),
        "l" => integers!(I64, i64),
        "L" => integers!(U64, u64),
        _ => Err(PyTypeError::new_err(format!("a dictionary has indices of type {format:?}"))),
    }
}
