//! Columns that this crate made, handed out through the Arrow C Data Interface.
//!
//! A [`Column`] owns its buffers; every export shares them, and the last one to be released frees them.

use super::ffi::{make_capsule, Array, Released, Schema};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::ffi::{c_void, CString};
use std::ptr::{null, null_mut};
use std::sync::Arc;

/// `ARROW_FLAG_NULLABLE`.
const NULLABLE: i64 = 2;

/// A buffer of a column.
#[derive(Debug)]
pub enum Buffer {
    /// Octets, or bits with the first in the lowest place.
    Bytes(Vec<u8>),
    /// Numbers of one octet.
    I8(Vec<i8>),
    /// Numbers of four octets: values, or offsets.
    I32(Vec<i32>),
    /// Numbers of four octets without a sign.
    U32(Vec<u32>),
    /// Offsets of eight octets.
    I64(Vec<i64>),
    /// Numbers of eight octets with a fraction.
    F64(Vec<f64>),
}

impl Buffer {
    fn pointer(&self) -> *const c_void {
        match self {
            Buffer::Bytes(values) => values.as_ptr().cast(),
            Buffer::I8(values) => values.as_ptr().cast(),
            Buffer::I32(values) => values.as_ptr().cast(),
            Buffer::U32(values) => values.as_ptr().cast(),
            Buffer::I64(values) => values.as_ptr().cast(),
            Buffer::F64(values) => values.as_ptr().cast(),
        }
    }
}

/// A column of any type: a format string of the C Data Interface, its buffers and its children.
///
/// Whoever makes one has to give it the buffers that the format requires, with as many values as `length`
/// says: consumers rely on it. The functions below do so.
#[derive(Debug)]
pub struct Column {
    format: CString,
    name: CString,
    // Whether the type permits nulls. Keys and entries of maps must not be null.
    nullable: bool,
    length: usize,
    null_count: usize,
    // The validity bits, if any, and then the other buffers of the format.
    buffers: Vec<Option<Buffer>>,
    children: Vec<Arc<Column>>,
    dictionary: Option<Arc<Column>>,
}

/// Which values of a column are not null: one bit a value, and how many are null. Without bits, all are
/// valid.
#[derive(Clone, Debug, Default)]
pub struct Validity {
    bits: Option<Vec<u8>>,
    nulls: usize,
}

impl From<Option<Vec<bool>>> for Validity {
    fn from(valid: Option<Vec<bool>>) -> Validity {
        valid.map_or(Validity::default(), |valid| Validity::of(&valid, |&valid| valid))
    }
}

impl Validity {
    /// Tells for each of some values whether it is not null.
    pub fn of<T>(values: &[T], is_valid: impl Fn(&T) -> bool) -> Validity {
        Validity::from_bits(pack_bits(values, is_valid), values.len())
    }

    /// Bits for so many values.
    pub fn from_bits(bits: Vec<u8>, length: usize) -> Validity {
        let valid: usize = bits.iter().map(|octet| octet.count_ones() as usize).sum();
        let nulls = length.saturating_sub(valid);
        Validity { bits: (nulls > 0).then_some(bits), nulls }
    }
}

/// One bit for each value, the first in the lowest place of the first octet.
pub fn pack_bits<T>(values: &[T], bit: impl Fn(&T) -> bool) -> Vec<u8> {
    let octet = |values: &[T]| {
        values.iter().enumerate().fold(0, |octet, (at, value)| octet | u8::from(bit(value)) << at)
    };
    values.chunks(8).map(octet).collect()
}

impl Column {
    fn new(
        format: &str,
        length: usize,
        valid: impl Into<Validity>,
        buffers: Vec<Buffer>,
    ) -> Column {
        let Validity { bits, nulls } = valid.into();
        Column {
            format: CString::new(format).unwrap_or_default(),
            name: CString::default(),
            nullable: true,
            length,
            null_count: nulls,
            buffers: std::iter::once(bits.map(Buffer::Bytes))
                .chain(buffers.into_iter().map(Some))
                .collect(),
            children: vec![],
            dictionary: None,
        }
    }

    /// The same column with a name, for a field of a struct.
    pub fn named(mut self, name: &str) -> Column {
        // A name with a NUL cannot be expressed.
        self.name = CString::new(name).unwrap_or_default();
        self
    }

    /// The same column with a type that does not permit nulls.
    fn required(mut self) -> Column {
        self.nullable = false;
        self
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Booleans.
    pub fn bools(values: &[bool], valid: impl Into<Validity>) -> Column {
        Column::bits(pack_bits(values, |&value| value), values.len(), valid)
    }

    /// Booleans as bits.
    pub fn bits(bits: Vec<u8>, length: usize, valid: impl Into<Validity>) -> Column {
        Column::new("b", length, valid, vec![Buffer::Bytes(bits)])
    }

    /// Numbers from 0 to 4,294,967,295.
    pub fn uint32(values: Vec<u32>, valid: impl Into<Validity>) -> Column {
        Column::new("I", values.len(), valid, vec![Buffer::U32(values)])
    }

    /// Numbers of eight octets with a fraction.
    pub fn float64(values: Vec<f64>, valid: impl Into<Validity>) -> Column {
        Column::new("g", values.len(), valid, vec![Buffer::F64(values)])
    }

    /// Strings: one text, which has to be UTF-8, and where each of them ends in it. A text of 2 GiB or more
    /// makes large strings, whose offsets have eight octets.
    pub fn strings(text: Vec<u8>, ends: &[usize], valid: impl Into<Validity>) -> Column {
        let ends = || std::iter::once(0).chain(ends.iter().copied());
        let (format, offsets) = match i32::try_from(text.len()) {
            Ok(_) => ("u", Buffer::I32(ends().map(|end| end as i32).collect())),
            Err(_) => ("U", Buffer::I64(ends().map(|end| end as i64).collect())),
        };
        let length = ends().count() - 1;
        Column::new(format, length, valid, vec![offsets, Buffer::Bytes(text)])
    }

    /// Numbers of four octets into a dictionary.
    pub fn dictionary(indices: Vec<i32>, valid: impl Into<Validity>, values: Column) -> Column {
        let mut column = Column::new("i", indices.len(), valid, vec![Buffer::I32(indices)]);
        column.dictionary = Some(Arc::new(values));
        column
    }

    /// Numbers of one octet into a dictionary.
    pub fn small_dictionary(
        indices: Vec<i8>,
        valid: impl Into<Validity>,
        values: Column,
    ) -> Column {
        let mut column = Column::new("c", indices.len(), valid, vec![Buffer::I8(indices)]);
        column.dictionary = Some(Arc::new(values));
        column
    }

    /// Lists: the values of all lists in one column, and where each list ends in it. There are less than
    /// 2,147,483,648 values: a batch has far fewer octets.
    pub fn lists(values: Column, ends: &[usize], valid: impl Into<Validity>) -> Column {
        Column::ranges("+l", values.named("item"), ends, valid)
    }

    /// Maps: keys and values of all maps, and where each map ends in them.
    pub fn maps(
        keys: Column,
        values: Column,
        ends: &[usize],
        valid: impl Into<Validity>,
    ) -> Column {
        let length = keys.len();
        let fields = vec![keys.named("key").required(), values.named("value")];
        let entries =
            Column::structs(fields, length, Validity::default()).named("entries").required();
        Column::ranges("+m", entries, ends, valid)
    }

    /// A column whose values are ranges of the values of another one.
    fn ranges(format: &str, child: Column, ends: &[usize], valid: impl Into<Validity>) -> Column {
        let offsets = std::iter::once(0).chain(ends.iter().map(|&end| end as i32)).collect();
        let mut column = Column::new(format, ends.len(), valid, vec![Buffer::I32(offsets)]);
        column.children = vec![Arc::new(child)];
        column
    }

    /// Structs: one column for each field.
    pub fn structs(fields: Vec<Column>, length: usize, valid: impl Into<Validity>) -> Column {
        let mut column = Column::new("+s", length, valid, vec![]);
        column.children = fields.into_iter().map(Arc::new).collect();
        column
    }
}

/// A column of strings with each text once, such as the values of a dictionary.
pub fn dictionary<'a>(texts: impl IntoIterator<Item = &'a str>) -> Column {
    let (mut text, mut ends) = (String::new(), vec![]);
    for value in texts {
        text.push_str(value);
        ends.push(text.len());
    }
    Column::strings(text.into_bytes(), &ends, Validity::default())
}

// --- Exports -------------------------------------------------------------------------------------

/// What an exported array or schema keeps alive, and the tables of pointers that it points to.
struct Exported<T> {
    column: Arc<Column>,
    children: Vec<*mut T>,
    dictionary: *mut T,
    buffers: Vec<*const c_void>,
}

impl<T: Released> Exported<T> {
    fn new(column: &Arc<Column>, export: fn(&Arc<Column>) -> T) -> Box<Exported<T>> {
        let boxed = |column: &Arc<Column>| Box::into_raw(Box::new(export(column)));
        let pointer = |buffer: &Option<Buffer>| buffer.as_ref().map_or(null(), Buffer::pointer);
        Box::new(Exported {
            children: column.children.iter().map(boxed).collect(),
            dictionary: column.dictionary.as_ref().map_or(null_mut(), boxed),
            buffers: column.buffers.iter().map(pointer).collect(),
            column: column.clone(),
        })
    }
}

impl<T> Drop for Exported<T> {
    fn drop(&mut self) {
        let children = std::mem::take(&mut self.children);
        for child in children.into_iter().chain([self.dictionary]) {
            if !child.is_null() {
                // SAFETY: `new` made this box, and only this drops it. A child that a consumer moved
                // elsewhere is marked as released.
                drop(unsafe { Box::from_raw(child) });
            }
        }
    }
}

unsafe extern "C" fn release_schema(schema: *mut Schema) {
    // SAFETY: called with a schema of `export_schema` that is not released.
    let schema = unsafe { &mut *schema };
    // SAFETY: its private data is the box of `export_schema`, and is dropped only here.
    drop(unsafe { Box::from_raw(schema.private_data.cast::<Exported<Schema>>()) });
    schema.release = None;
}

unsafe extern "C" fn release_array(array: *mut Array) {
    // SAFETY: called with an array of `export_array` that is not released.
    let array = unsafe { &mut *array };
    // SAFETY: its private data is the box of `export_array`, and is dropped only here.
    drop(unsafe { Box::from_raw(array.private_data.cast::<Exported<Array>>()) });
    array.release = None;
}

fn export_schema(column: &Arc<Column>) -> Schema {
    let mut kept = Exported::new(column, export_schema);
    let mut schema = Schema::empty();
    schema.format = kept.column.format.as_ptr();
    schema.name = kept.column.name.as_ptr();
    schema.flags = if column.nullable { NULLABLE } else { 0 };
    schema.n_children = kept.children.len() as i64;
    schema.children = kept.children.as_mut_ptr();
    schema.dictionary = kept.dictionary;
    schema.release = Some(release_schema);
    schema.private_data = Box::into_raw(kept).cast();
    schema
}

fn export_array(column: &Arc<Column>) -> Array {
    let mut kept = Exported::new(column, export_array);
    let mut array = Array::empty();
    array.length = column.length as i64;
    array.null_count = column.null_count as i64;
    array.n_buffers = kept.buffers.len() as i64;
    array.buffers = kept.buffers.as_mut_ptr();
    array.n_children = kept.children.len() as i64;
    array.children = kept.children.as_mut_ptr();
    array.dictionary = kept.dictionary;
    array.release = Some(release_array);
    array.private_data = Box::into_raw(kept).cast();
    array
}

/// A column in Python: pass it to `pyarrow.array()`, `polars.Series()` or anything else that reads Arrow.
#[pyclass(frozen, name = "ArrowColumn", module = "robotrules._engine._native")]
pub struct NativeColumn(Arc<Column>);

impl From<Column> for NativeColumn {
    fn from(column: Column) -> NativeColumn {
        NativeColumn(Arc::new(column))
    }
}

#[pymethods]
impl NativeColumn {
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        make_capsule(py, export_schema(&self.0))
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        // The protocol permits to ignore the request.
        let _ = requested_schema;
        let schema = make_capsule(py, export_schema(&self.0))?;
        PyTuple::new(py, [schema, make_capsule(py, export_array(&self.0))?])
    }

    fn __len__(&self) -> usize {
        self.0.length
    }

    fn __repr__(&self) -> String {
        format!("<ArrowColumn: {} values, {} null>", self.0.length, self.0.null_count)
    }
}
