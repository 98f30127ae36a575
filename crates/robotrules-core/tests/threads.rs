//! What the types promise: they are shared between threads, and safe after a panic elsewhere.

use robotrules_core::lines::{Line, Lines, Preparation};
use robotrules_core::notes::{Code, Note};
use robotrules_core::pattern::{Arena, Pattern};
use robotrules_core::records::Record;
use robotrules_core::{Decision, Document, Kind, Role, RuleSet, Settings, Switches};
use std::fmt::Debug;
use std::panic::{RefUnwindSafe, UnwindSafe};

fn shared<T: Send + Sync + UnwindSafe + RefUnwindSafe>() {}
fn shown<T: Debug>() {}

/// Compiles, or does not.
#[test]
fn public_types_are_shared_and_shown() {
    shared::<Document<Vec<u8>>>();
    shared::<RuleSet>();
    shared::<Settings>();
    shared::<Switches>();
    shared::<Decision>();
    shared::<Kind>();
    shared::<Role>();
    shared::<Record>();
    shared::<Note>();
    shared::<Code>();
    shared::<Line>();
    shared::<Lines<'static>>();
    shared::<Preparation>();
    shared::<Arena>();
    shared::<Pattern>();
    shown::<Document<Vec<u8>>>();
    shown::<RuleSet>();
    shown::<Settings>();
    shown::<Note>();
}

/// Threads that ask while the index is built hear what one alone does.
#[test]
fn threads_hear_the_same() {
    let values: Vec<String> = (0..200).map(|n| format!("/{n}/*x{n}$")).collect();
    let compile = || {
        let patterns = values.iter().map(|value| (value.as_bytes(), Kind::Disallow));
        RuleSet::new(patterns, &Settings::new(Switches::default(), 512_000, usize::MAX))
    };
    let ask = |rules: &RuleSet| -> Vec<Decision> {
        let mut scratch = Vec::new();
        let urls = (0..600).map(|n| format!("/{}/ax{}", n % 200, n % 199));
        urls.map(|url| rules.decide(url.as_bytes(), &mut scratch)).collect()
    };
    let (alone, rules) = (ask(&compile()), compile());
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| ask(&rules))).collect();
        for thread in threads {
            assert_eq!(thread.join().ok(), Some(alone.clone()));
        }
    });
}
