//! Memory of a parsed file beyond its body, and of deciding its first URL.

mod profiles;

use profiles::settings;
use robotrules_core::{Decision, Document};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

/// The system allocator, with a count of allocated octets and its maximum.
struct Counting;

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let taken = ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(taken, Ordering::Relaxed);
        System.alloc(layout)
    }

    unsafe fn dealloc(&self, octets: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        System.dealloc(octets, layout);
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One test, so that no other test allocates at the same time.
#[test]
fn memory() {
    memory_for_records();
    memory_for_the_first_url();
}

fn memory_for_records() {
    let settings = Arc::new(settings(&[]));
    let rules = "disallow: /a/path/of/some/octets\n".repeat(10_000);
    let comments = format!("{}disallow: /\n", "# a comment that is no record\n".repeat(10_000));
    let short = "a:b\n".repeat(10_000);
    for (body, records, limit, at_most) in [
        (rules, 10_000, 2 * 28 * 10_000, 100 * 10_000),
        (comments, 1, 1_000, 100 * 10_000),
        (short, 10_000, 2 * 28 * 10_000, 100 * 10_000),
    ] {
        let before = ALLOCATED.load(Ordering::Relaxed);
        PEAK.store(before, Ordering::Relaxed);
        let document = Document::parse(body.as_bytes(), settings.clone(), true);
        let kept = ALLOCATED.load(Ordering::Relaxed) - before;
        assert_eq!(document.records().len(), records);
        assert!(kept <= limit, "{kept} octets for {records} records");
        let most = PEAK.load(Ordering::Relaxed) - before;
        assert!(most <= at_most, "{most} octets while {records} records were read");
    }
}

/// The first URL is decided in the memory of one pattern, for any number of patterns.
fn memory_for_the_first_url() {
    let rules: String = (0..10_000).map(|number| format!("disallow: /%c3%a9{number}\n")).collect();
    let body = format!("user-agent: *\n{rules}");
    let document = Document::parse(body.as_bytes(), Arc::new(settings(&[])), true);
    let before = ALLOCATED.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let decided = document.decide_once(&[0], "/é9999".as_bytes());
    let most = PEAK.load(Ordering::Relaxed) - before;
    assert_eq!(decided, Some(Decision::Disallow(9_999)));
    assert!(most < 10_000, "{most} octets");
}
