//! The structures of the Arrow C Data Interface. Dropping one releases it.
//!
//! Layouts and rules are those of the Arrow specification ("The Arrow C data interface", "The Arrow C
//! stream interface", "The Arrow PyCapsule Interface"). This module reads no data.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::ffi::{c_char, c_int, c_void, CStr};

/// `struct ArrowSchema`: the type of a column.
#[repr(C)]
pub struct Schema {
    pub format: *const c_char,
    pub name: *const c_char,
    pub metadata: *const c_char,
    pub flags: i64,
    pub n_children: i64,
    pub children: *mut *mut Schema,
    pub dictionary: *mut Schema,
    pub release: Option<unsafe extern "C" fn(*mut Schema)>,
    pub private_data: *mut c_void,
}

/// `struct ArrowArray`: the data of a column.
#[repr(C)]
pub struct Array {
    pub length: i64,
    pub null_count: i64,
    pub offset: i64,
    pub n_buffers: i64,
    pub n_children: i64,
    pub buffers: *mut *const c_void,
    pub children: *mut *mut Array,
    pub dictionary: *mut Array,
    pub release: Option<unsafe extern "C" fn(*mut Array)>,
    pub private_data: *mut c_void,
}

/// `struct ArrowArrayStream`: the chunks of a column.
#[repr(C)]
pub struct Stream {
    get_schema: Option<unsafe extern "C" fn(*mut Stream, *mut Schema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Stream, *mut Array) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Stream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Stream)>,
    private_data: *mut c_void,
}

/// A structure of the interface, which its owner has to release.
pub trait Released: Sized {
    /// The name of its capsules.
    const CAPSULE: &'static CStr;

    /// A structure that holds nothing: all pointers are null.
    fn empty() -> Self;

    /// Calls the release callback, if there is one; afterwards there is none.
    fn release(&mut self);

    /// Whether it was released, or moved elsewhere.
    fn is_released(&self) -> bool;
}

macro_rules! released {
    ($type:ident, $capsule:literal) => {
        impl Released for $type {
            const CAPSULE: &'static CStr = $capsule;

            fn empty() -> $type {
                // SAFETY: all fields are integers, raw pointers and optional function pointers, for which
                // zero is a valid value: 0, null and None.
                unsafe { std::mem::zeroed() }
            }

            fn release(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: the specification requires the owner to call this callback once. It resets
                    // `release`; that is done here too, so that a callback that forgets it is not called
                    // again.
                    unsafe { release(self) };
                    self.release = None;
                }
            }

            fn is_released(&self) -> bool {
                self.release.is_none()
            }
        }

        // A structure that was moved elsewhere is marked as released.
        impl Drop for $type {
            fn drop(&mut self) {
                self.release();
            }
        }
    };
}

released!(Schema, c"arrow_schema");
released!(Array, c"arrow_array");
released!(Stream, c"arrow_array_stream");

// SAFETY: an imported structure is never written to after its import, and the specification allows to
// release it on any thread.
unsafe impl Send for Array {}
// SAFETY: as above; a shared reference only reads.
unsafe impl Sync for Array {}
// SAFETY: as for an array.
unsafe impl Send for Schema {}
// SAFETY: as for an array.
unsafe impl Sync for Schema {}
// SAFETY: the specification allows to call and to release a stream on any thread, by one thread at a time.
unsafe impl Send for Stream {}

/// Moves a structure out of a capsule, as the PyCapsule protocol says.
pub fn take_from_capsule<T: Released>(capsule: &Bound<'_, PyAny>) -> PyResult<T> {
    // SAFETY: the object is alive; a capsule with another name, or another object, returns null and sets an
    // exception.
    let pointer = unsafe { pyo3::ffi::PyCapsule_GetPointer(capsule.as_ptr(), T::CAPSULE.as_ptr()) };
    if pointer.is_null() {
        return Err(PyErr::fetch(capsule.py()));
    }
    // SAFETY: the name of the capsule says that the pointer is a valid T. It is moved: what is left in the
    // capsule is empty, and its destructor releases nothing.
    let moved = unsafe { std::mem::replace(&mut *pointer.cast::<T>(), T::empty()) };
    match moved.is_released() {
        true => Err(PyValueError::new_err("the Arrow capsule was used before: pass a new one")),
        false => Ok(moved),
    }
}

impl Stream {
    /// The type of the chunks.
    pub fn schema(&mut self) -> PyResult<Schema> {
        let mut schema = Schema::empty();
        if let Some(get_schema) = self.get_schema {
            // SAFETY: the stream is not released, and `schema` is a place for the result.
            let code = unsafe { get_schema(self, &mut schema) };
            self.check(code)?;
        }
        Ok(schema)
    }

    /// The next chunk; `None` at the end.
    pub fn next(&mut self) -> PyResult<Option<Array>> {
        let mut array = Array::empty();
        if let Some(get_next) = self.get_next {
            // SAFETY: the stream is not released, and `array` is a place for the result.
            let code = unsafe { get_next(self, &mut array) };
            self.check(code)?;
        }
        Ok(Some(array).filter(|array| !array.is_released()))
    }

    fn check(&mut self, code: c_int) -> PyResult<()> {
        if code == 0 {
            return Ok(());
        }
        let mut message = format!("the Arrow stream failed with code {code}");
        if let Some(get_last_error) = self.get_last_error {
            // SAFETY: the stream is not released; the text is valid until the next call on it.
            let text = unsafe { get_last_error(self) };
            if !text.is_null() {
                // SAFETY: the specification says that it is a C string.
                message = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
            }
        }
        Err(PyValueError::new_err(message))
    }
}

/// A capsule that owns a structure, and releases it if no consumer takes it.
pub fn make_capsule<T: Released>(py: Python<'_>, structure: T) -> PyResult<Bound<'_, PyAny>> {
    unsafe extern "C" fn destroy<T: Released>(capsule: *mut pyo3::ffi::PyObject) {
        // SAFETY: called by Python with a capsule that `make_capsule` made.
        let pointer = unsafe { pyo3::ffi::PyCapsule_GetPointer(capsule, T::CAPSULE.as_ptr()) };
        if !pointer.is_null() {
            // SAFETY: the pointer is that of the box below, and is dropped only here.
            drop(unsafe { Box::from_raw(pointer.cast::<T>()) });
        }
    }
    let pointer = Box::into_raw(Box::new(structure));
    // SAFETY: the pointer is not null, and the name lives as long as the program.
    let capsule = unsafe {
        pyo3::ffi::PyCapsule_New(pointer.cast(), T::CAPSULE.as_ptr(), Some(destroy::<T>))
    };
    // SAFETY: a new reference, or null with an exception.
    unsafe { Bound::from_owned_ptr_or_err(py, capsule) }
}
