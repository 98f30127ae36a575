//! What a parsed file costs beside its body: room for its records, and little more.

mod profiles;

use profiles::settings;
use robotrules_core::Document;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

/// The allocator of the system, which counts what is taken and not given back, and the most of it.
struct Counting;

static TAKEN: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let taken = TAKEN.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(taken, Ordering::Relaxed);
        System.alloc(layout)
    }

    unsafe fn dealloc(&self, octets: *mut u8, layout: Layout) {
        TAKEN.fetch_sub(layout.size(), Ordering::Relaxed);
        System.dealloc(octets, layout);
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The only test of this file, so that no other takes memory meanwhile.
#[test]
fn room_for_records() {
    let settings = Arc::new(settings(&[]));
    let rules = "disallow: /a/path/of/some/octets\n".repeat(10_000);
    let comments = format!("{}disallow: /\n", "# a comment that is no record\n".repeat(10_000));
    let short = "a:b\n".repeat(10_000);
    for (body, records, room, at_most) in [
        (rules, 10_000, 2 * 28 * 10_000, 100 * 10_000),
        (comments, 1, 1_000, 100 * 10_000),
        (short, 10_000, 2 * 28 * 10_000, 100 * 10_000),
    ] {
        let before = TAKEN.load(Ordering::Relaxed);
        MOST.store(before, Ordering::Relaxed);
        let document = Document::parse(body.as_bytes(), settings.clone(), true);
        let kept = TAKEN.load(Ordering::Relaxed) - before;
        assert_eq!(document.records().len(), records);
        assert!(kept <= room, "{kept} octets for {records} records");
        let most = MOST.load(Ordering::Relaxed) - before;
        assert!(most <= at_most, "{most} octets while {records} records were read");
    }
}
