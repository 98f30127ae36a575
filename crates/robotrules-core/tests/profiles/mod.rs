//! Shared by the tests: settings by names of switches, and random numbers.
#![allow(dead_code)] // each test file uses a part of it

use robotrules_core::{Document, Role, Settings, Switches};
use std::sync::Arc;

/// Settings with the records of the RFC and these switches.
pub fn settings(switches: &[&str]) -> Settings {
    limited(switches, 512_000, usize::MAX)
}

/// The same with limits.
pub fn limited(switches: &[&str], max_bytes: usize, max_line: usize) -> Settings {
    let mut on = Switches::default();
    for name in switches {
        assert!(on.turn_on(name), "no switch {name}");
    }
    let mut settings = Settings::new(on, max_bytes, max_line);
    settings.add_key(b"user-agent", b"user-agent", Role::Start, true);
    settings.add_key(b"allow", b"allow", Role::Rule, true);
    settings.add_key(b"disallow", b"disallow", Role::Rule, true);
    settings.add_key(b"sitemap", b"sitemap", Role::Other, true);
    settings.add_key(b"Disalow", b"disallow", Role::Rule, true);
    settings.add_key(b"x-name-longer-than-sixteen", b"x-long", Role::Start, false);
    settings
}

/// A parsed file.
pub fn parse<'a>(body: &'a [u8], switches: &[&str]) -> Document<&'a [u8]> {
    Document::parse(body, Arc::new(settings(switches)), true)
}

/// A deterministic random number generator: xorshift64*.
pub struct Random(pub u64);

impl Random {
    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % bound
    }

    /// A random element.
    pub fn choice<'a, T>(&mut self, these: &'a [T]) -> &'a T {
        &these[self.below(these.len())]
    }

    /// Up to `most` random words, concatenated.
    pub fn words(&mut self, these: &[&str], most: usize) -> String {
        (0..self.below(most + 1)).map(|_| *self.choice(these)).collect()
    }
}
