//! What a parsed file costs beside its body: room for its records, and little more; and what it takes to
//! ask it once.

mod profiles;

use profiles::settings;
use robotrules_core::{Decision, Document};
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

/// One test, so that no other takes memory meanwhile.
#[test]
fn room() {
    for_records();
    for_a_first_question();
}

fn for_records() {
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

/// The first question is answered in the room of one pattern, however many there are.
fn for_a_first_question() {
    let rules: String = (0..10_000).map(|number| format!("disallow: /%c3%a9{number}\n")).collect();
    let body = format!("user-agent: *\n{rules}");
    let document = Document::parse(body.as_bytes(), Arc::new(settings(&[])), true);
    let before = TAKEN.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let decided = document.decide_once(&[0], "/é9999".as_bytes());
    let most = MOST.load(Ordering::Relaxed) - before;
    assert_eq!(decided, Some(Decision::Disallow(9_999)));
    assert!(most < 10_000, "{most} octets");
}
