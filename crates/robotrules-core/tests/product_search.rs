//! Product searches: the witness, the number of states, and the rejecting entries.
//!
//! The expected numbers are those of the pure engine (`pure_search.py`): both engines must agree on
//! them, because `max_states` counts states.

mod profiles;

use profiles::settings;
use robotrules_core::languages::{Languages, SearchLimits};
use robotrules_core::product_search::{DecisionList, NO_LIMIT};
use robotrules_core::Kind;

/// Patterns; decision lists of entries that accept (+) or reject (-), and the default; whether to find
/// a shortest path; the path, or nothing; states; and the rejecting entries.
type Case = (&'static str, &'static str, bool, &'static str, i64, &'static str);

const CASES: &[Case] = &[
    ("/*c **ba= /**?ac /**.", "-3 +4 +4 +4 no", true, "/c", 6, "[[]]"),
    ("/*c **ba= /**?ac /**.", "-3 +4 +4 +4 no", false, "/c", 7, "[[]]"),
    (
        "/.cc /*ac.= *./",
        "+1 -0 +3 +3 -0 no | +3 -0 +1 -3 +1 +3 no | +1 -1 -0 -2 no",
        true,
        "/?ac.=",
        22,
        "[[], [], []]",
    ),
    (
        "/.cc /*ac.= *./",
        "+1 -0 +3 +3 -0 no | +3 -0 +1 -3 +1 +3 no | +1 -1 -0 -2 no",
        false,
        "/a./?ac.=",
        20,
        "[[], [], []]",
    ),
    (
        "/a *caa$",
        "-2 +1 yes | -2 -2 +1 +2 +2 +1 no | -1 +1 +2 +2 yes",
        true,
        "",
        39,
        "[[2], [2], [1]]",
    ),
    (
        "/a *caa$",
        "-2 +1 yes | -2 -2 +1 +2 +2 +1 no | -1 +1 +2 +2 yes",
        false,
        "",
        73,
        "[[2], [2], [1]]",
    ),
    ("/*/cc /**? /?", "+1 +1 +2 +1 no | -2 -2 +1 -3 -3 yes | +3 no", true, "", 4, "[[], [2], []]"),
    (
        "*.$ *?a?= */b /ac.? /*=*",
        "-3 yes | -0 +3 -5 +2 yes | +1 +2 +3 +2 +3 -5 no",
        true,
        "/ac.?",
        31,
        "[[3], [], []]",
    ),
    (
        "*.$ *?a?= */b /ac.? /*=*",
        "-3 yes | -0 +3 -5 +2 yes | +1 +2 +3 +2 +3 -5 no",
        false,
        "/ac.?",
        53,
        "[[3], [], []]",
    ),
    ("/aaa* /?ac /*a$ **b/?", "+1 +1 -4 +2 +4 no | +1 -4 no", true, "/aaa", 4, "[[], []]"),
    ("/aaa* /?ac /*a$ **b/?", "+1 +1 -4 +2 +4 no | +1 -4 no", false, "/aaa", 4, "[[], []]"),
    ("*= /*$", "+1 -2 -1 +1 no | +2 -1 -0 +1 no", true, "/?=", 8, "[[], [1]]"),
    ("*= /*$", "+1 -2 -1 +1 no | +2 -1 -0 +1 no", false, "/?=", 8, "[[], [1]]"),
    ("/*c /=*.$", "-1 -2 -2 -2 +2 no", true, "", 25, "[[2]]"),
    ("/*c /=*.$", "-1 -2 -2 -2 +2 no", false, "", 25, "[[2]]"),
    ("/*b /= /*?*$", "+3 +1 +2 -1 +1 +3 no | -1 +1 -1 no", true, "", 47, "[[], [1]]"),
    ("/*b /= /*?*$", "+3 +1 +2 -1 +1 +3 no | -1 +1 -1 no", false, "", 16, "[[], [1]]"),
    (
        "/*.**$ /a /b**b",
        "+2 -1 -2 -3 no | -3 +1 +2 +1 +3 no | +1 +1 +1 yes",
        true,
        "/bb",
        13,
        "[[], [], []]",
    ),
    (
        "/*.**$ /a /b**b",
        "+2 -1 -2 -3 no | -3 +1 +2 +1 +3 no | +1 +1 +1 yes",
        false,
        "/bb",
        6,
        "[[], [], []]",
    ),
    (
        "/c*a* /*a=$ ///a$ *?bc? /ac*",
        "+1 +2 +5 +5 +5 yes | +4 -2 +4 +3 no | +5 +2 -4 +5 no",
        false,
        "/ac?a=",
        17,
        "[[], [], []]",
    ),
    ("/a /=", "-1 +1 -0 -1 -2 no | +2 -1 -2 +1 +1 no", true, "", 7, "[[1], [1]]"),
    ("/a /=", "-1 +1 -0 -1 -2 no | +2 -1 -2 +1 +1 no", false, "", 7, "[[1], []]"),
    (
        "// /. /a?*b",
        "+1 -0 -3 +1 +2 yes | +3 -3 +1 +3 no | +1 +3 -1 +3 +3 yes",
        true,
        "/a?b",
        11,
        "[[3], [], []]",
    ),
    (
        "// /. /a?*b",
        "+1 -0 -3 +1 +2 yes | +3 -3 +1 +3 no | +1 +3 -1 +3 +3 yes",
        false,
        "/a?b",
        13,
        "[[3], [], []]",
    ),
    (
        "**?ac /aa/ /*c$ *b",
        "+1 +1 +2 +1 -4 yes | +4 +2 -4 +3 +3 +3 no",
        true,
        "/c",
        14,
        "[[4], []]",
    ),
    (
        "**?ac /aa/ /*c$ *b",
        "+1 +1 +2 +1 -4 yes | +4 +2 -4 +3 +3 +3 no",
        false,
        "/b?ac",
        19,
        "[[4], []]",
    ),
    ("/ca** *a= /*b$ */c/ *. /cb.b", "+1 +3 no", false, "/ca", 4, "[[]]"),
    ("/*/*aa /?.$ /*ba= /*c", "+2 -1 -2 no | +4 +3 -4 +2 yes", true, "/?ba=", 10, "[[], []]"),
    ("/*/*aa /?.$ /*ba= /*c", "+2 -1 -2 no | +4 +3 -4 +2 yes", false, "/?ba=", 10, "[[], []]"),
    (
        "/==a$ /.ba$ *ac /c$ ** /=*a=",
        "+3 +1 +1 -5 -0 +3 no | -2 +2 yes",
        false,
        "/.ba",
        5,
        "[[], []]",
    ),
    (
        "*/b. */a*$ *.cc$ *cb=",
        "-0 yes | -2 +1 -4 -4 +2 -0 no | +4 +1 +1 +4 +1 +3 no",
        true,
        "/a",
        6,
        "[[], [], []]",
    ),
    (
        "/=$ **b? /***",
        "+3 +1 +1 +3 +3 yes | +2 no | -3 +2 -2 -2 +3 no",
        true,
        "",
        7,
        "[[], [], [3]]",
    ),
    (
        "/=$ **b? /***",
        "+3 +1 +1 +3 +3 yes | +2 no | -3 +2 -2 -2 +3 no",
        false,
        "",
        7,
        "[[], [], [3]]",
    ),
    ("/c*?$ *.b*b /..c$ /a**c /cc", "+2 +3 -4 -4 no", false, "/.bb", 12, "[[]]"),
    ("/*b /*bb", "-2 +1 +2 -1 +1 no", true, "", 44, "[[2]]"),
    ("/*b /*bb", "-2 +1 +2 -1 +1 no", false, "", 78, "[[2]]"),
    (
        "*/c/$ /a.*/ /. /*/*?c /=a$ /*b",
        "+1 +3 +6 +6 -4 +4 no | +3 +2 -3 +3 +3 +2 yes",
        false,
        "//?c",
        14,
        "[[], []]",
    ),
    ("*a /*/?a. /*b /*c*/a", "-2 +1 -2 +3 +3 +2 no | -4 +3 yes", false, "/b", 42, "[[], [4]]"),
    ("/*a$ /*bc*$", "+2 -1 -1 no", false, "/a", 6, "[[]]"),
    ("/*a */*/b$ /*bac* /*a", "+4 no | +1 -3 -1 +3 no", true, "/a/b", 26, "[[], [3]]"),
    ("/a.a /*bb.$ /a?*", "-3 -3 +2 +2 no", true, "/a.a", 4, "[[]]"),
    (
        "*c*/b /**$ /b=$ /.= /b/ /*a",
        "+1 -1 +2 +3 no | +1 +3 -2 yes",
        true,
        "/b%3D",
        45,
        "[[], [2]]",
    ),
    (
        "/*?$ ** /** //",
        "+3 +4 +2 +1 -1 +3 no | -4 +3 +3 +1 +1 no | -0 +1 no",
        true,
        "/?",
        5,
        "[[], [], []]",
    ),
    (
        "/*?$ ** /** //",
        "+3 +4 +2 +1 -1 +3 no | -4 +3 +3 +1 +1 no | -0 +1 no",
        false,
        "/?",
        5,
        "[[], [], []]",
    ),
    (
        "/*ab*? /*a*$ /ab /*a.a$ *=.= /?aa",
        "-0 -5 -4 +1 -2 yes | -1 +3 -0 no | -3 -5 +5 +1 -2 no",
        true,
        "",
        27,
        "[[5], [], [3]]",
    ),
    (
        "/*ab*? /*a*$ /ab /*a.a$ *=.= /?aa",
        "-0 -5 -4 +1 -2 yes | -1 +3 -0 no | -3 -5 +5 +1 -2 no",
        false,
        "",
        25,
        "[[], [], [3]]",
    ),
    ("*a.*a$ /.=a/ /*=c *.", "-2 +2 -4 -3 +4 no | +2 +1 -4 yes", true, "", 158, "[[2, 4], [4]]"),
    ("*a.*a$ /.=a/ /*=c *.", "-2 +2 -4 -3 +4 no | +2 +1 -4 yes", false, "", 89, "[[2, 4], []]"),
    (
        "*.c? *a*/$ /*aa?$",
        "-1 +3 -2 +2 -2 no | -1 yes | +2 +1 +1 -0 +2 -2 yes",
        true,
        "/.c?",
        36,
        "[[2], [], []]",
    ),
    ("/*a* /?$ **a$ /*?/", "+3 +2 -3 +2 +4 +4 no | +2 +4 no", false, "/a", 6, "[[], []]"),
    (
        "/*.*a?$ /*= /?*a* /*b/$",
        "+4 -4 +1 -0 +1 -2 no | +2 -4 -1 +3 no | -4 -3 -1 +2 no",
        true,
        "",
        153,
        "[[], [], [4, 1]]",
    ),
    (
        "//*a /?aba$ /*baa$ /a?*? /** /*c.",
        "-3 +1 +5 +5 no | +4 -4 +1 +2 +1 -6 no | -3 -3 +2 -4 -3 no",
        true,
        "",
        5,
        "[[], [], []]",
    ),
    (
        "//*a /?aba$ /*baa$ /a?*? /** /*c.",
        "-3 +1 +5 +5 no | +4 -4 +1 +2 +1 -6 no | -3 -3 +2 -4 -3 no",
        false,
        "",
        15,
        "[[], [], []]",
    ),
    (
        "*cc? /c /acb *=c* /. **.a.$",
        "-0 +1 -2 +5 yes | -2 +2 +5 +6 +3 +3 no | +6 -5 -1 +5 -5 no",
        false,
        "/.x",
        10,
        "[[], [], [5]]",
    ),
    ("/*a *= /*? *=bc?", "-2 +2 no | +4 +3 no | -4 +4 +4 +1 +2 no", true, "", 115, "[[2], [], []]"),
    ("/*a *= /*? *=bc?", "-2 +2 no | +4 +3 no | -4 +4 +4 +1 +2 no", false, "", 58, "[[2], [], []]"),
    ("/**$ *aa *b?", "-1 +2 no | +3 -3 no | +2 -1 +1 +2 no", true, "", 34, "[[1], [], []]"),
    ("/*=$ /*?b.. *abxb. /*?=a /*ab", "+5 +5 +3 +1 no | +4 no", true, "/?ab=", 37, "[[], []]"),
    ("/ab.y *b*ax$ /*/*ab", "+2 +1 no | -1 +1 +3 no", false, "/ab.y/ab", 138, "[[], [1]]"),
];

fn languages(patterns: &str) -> Languages {
    let patterns: Vec<_> =
        patterns.split(' ').map(|value| (value.as_bytes(), Kind::Allow)).collect();
    Languages::new(&patterns, &settings(&[]))
}

fn list(text: &str) -> DecisionList {
    let (mut clauses, mut default) = (vec![], false);
    for word in text.split(' ') {
        match word.split_at(1) {
            ("+", entry) => clauses.push(entry.parse::<u32>().unwrap() << 1 | 1),
            ("-", entry) => clauses.push(entry.parse::<u32>().unwrap() << 1),
            _ => default = word == "yes",
        }
    }
    (clauses, default)
}

#[test]
fn agrees_with_the_pure_engine() {
    for &(patterns, lists, shortest, path, states, rejecting) in CASES {
        let limits = SearchLimits { max_states: 100_000, shorter_than: NO_LIMIT, shortest };
        let found = languages(patterns)
            .find_witness(lists.split(" | ").map(list).collect(), limits)
            .unwrap();
        let shown = String::from_utf8(found.path.unwrap_or_default()).unwrap();
        let all = (shown.as_str(), found.states, format!("{:?}", found.rejecting));
        assert_eq!(all, (path, states, rejecting.to_string()), "{patterns} {lists} {shortest}");
    }
}

/// `max_states` bounds all product searches of a witness search together.
#[test]
fn max_states_bounds_all_searches() {
    for &(patterns, lists, shortest, _, states, _) in CASES.iter().filter(|q| q.4 < 60) {
        let made = languages(patterns);
        for max_states in 0..states + 2 {
            let limits = SearchLimits { max_states, shorter_than: NO_LIMIT, shortest };
            let found = made.find_witness(lists.split(" | ").map(list).collect(), limits).unwrap();
            assert_eq!(found.states, states.min(max_states), "{patterns} {lists} {max_states}");
            assert_eq!(found.decided, max_states >= states, "{patterns} {lists} {max_states}");
        }
    }
}
