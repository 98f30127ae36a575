//! Arrow columns without a copy: the Arrow C Data Interface and its PyCapsule protocol.
//!
//! `import.rs` reads columns of strings, `export.rs` hands out columns that this crate made, `ffi.rs` has
//! the structures of both. Other modules see only [`Texts`] and [`Column`], which are safe.
//!
//! Why not a crate: a build of `pyo3-arrow` 0.20 takes 76 seconds more than ours, and the `arrow-array`
//! crates 60 take 13 more on two cores, for the dozen types that are needed here. The unsafe code of this
//! crate is in this folder, and each block says what it relies on.

mod export;
mod ffi;
mod import;

pub use export::{dictionary, pack_bits, Column, NativeColumn, Validity};
pub use import::{import_numbers, import_texts, TextColumn, Texts};

/// The number of threads to use: `threads`, or one per core if it is zero; at least `rows_each` rows per
/// thread.
pub fn thread_count(threads: usize, rows: usize, rows_each: usize) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let wanted = if threads == 0 { cores() } else { threads };
    wanted.min(rows / rows_each.max(1)).clamp(1, 256)
}
