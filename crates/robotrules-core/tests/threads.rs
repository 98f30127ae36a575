//! Thread safety and unwind safety of the public types.

use robotrules_core::lines::{Line, Lines, Preparation};
use robotrules_core::notes::{Code, Note};
use robotrules_core::pattern::{Arena, Pattern};
use robotrules_core::records::Record;
use robotrules_core::{Decision, Document, Kind, Role, RuleSet, Settings, Switches};
use std::fmt::Debug;
use std::panic::{RefUnwindSafe, UnwindSafe};

fn is_shared<T: Send + Sync + UnwindSafe + RefUnwindSafe>() {}
fn is_debug<T: Debug>() {}

/// Checked by the compiler.
#[test]
fn public_types_are_sync_and_debug() {
    is_shared::<Document<Vec<u8>>>();
    is_shared::<RuleSet>();
    is_shared::<Settings>();
    is_shared::<Switches>();
    is_shared::<Decision>();
    is_shared::<Kind>();
    is_shared::<Role>();
    is_shared::<Record>();
    is_shared::<Note>();
    is_shared::<Code>();
    is_shared::<Line>();
    is_shared::<Lines<'static>>();
    is_shared::<Preparation>();
    is_shared::<Arena>();
    is_shared::<Pattern>();
    is_debug::<Document<Vec<u8>>>();
    is_debug::<RuleSet>();
    is_debug::<Settings>();
    is_debug::<Note>();
}

/// Threads that check while the index is built get the same decisions as a single thread.
#[test]
fn threads_get_the_same_decisions() {
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
