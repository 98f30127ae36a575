"""Surveys: counts by hand, denominators, strata, panels, forms of input, misuse and odd data."""

from __future__ import annotations

import json
import random
import re
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robotrules.bulk.surveys import Survey, survey
from robotrules.bulk.surveys.inputs import read_ranks
from robotrules.bulk.surveys.partitions import SitePartitions
from tests.bulk.survey_facts import CRAWLERS, SCHEMA, day, make_facts, make_row, site


def rows_of(found: Survey, table: str, **wanted: object) -> list[dict[str, Any]]:
    """Return the rows of a table that have these values."""
    rows = found.tables[table].to_pylist()
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def row_of(found: Survey, table: str, **wanted: object) -> dict[str, Any]:
    """Return the only row of a table that has these values; `stratum` is `all` unless given."""
    if table != "changes":
        wanted = {"stratum": "all"} | wanted
    (row,) = rows_of(found, table, **wanted)
    return row


# --- Counts ---------------------------------------------------------------------------------------


def test_shares_of_a_crawler_are_counted_by_hand() -> None:
    """10 of 100 sites disallow GPTBot: 10 %, 5.52 % to 17.44 %; unreachable ones are apart."""
    facts = make_facts(
        [
            *(make_row(site(n), {"GPTBot": "none"}, named=["GPTBot"]) for n in range(6)),
            *(make_row(site(n), "none") for n in range(6, 10)),
            *(make_row(site(n), {"GPTBot": "some"}) for n in range(10, 35)),
            *(make_row(site(n), access="unavailable") for n in range(35, 100)),
            *(make_row(site(n), "none", access="unreachable") for n in range(100, 130)),
            *(
                make_row(site(n), dict.fromkeys(CRAWLERS), access="missing")
                for n in range(130, 135)
            ),
        ]
    )
    found = survey(facts)
    row = row_of(found, "crawlers", crawler="GPTBot")
    assert (row["none"], row["some"], row["all"], row["of"]) == (10, 25, 65, 100)
    assert (row["named"], row["none_named"], row["undecided"]) == (6, 6, 0)
    assert row["none_share"] == 0.1
    assert [round(row[f"none_{end}"] * 100, 2) for end in ("low", "high")] == [5.52, 17.44]
    assert row["operator"] == "OpenAI"
    assert row["purpose"] == "ai-training"
    sites = row_of(found, "sites")
    assert [sites[name] for name in ("sites", "success", "unavailable", "unreachable")] == [
        *(135, 35, 65, 30),
    ]
    assert (sites["missing"], sites["unknown"], sites["counted"]) == (5, 0, 100)
    access = rows_of(found, "access")
    assert sum(row["sites"] for row in access) == 135
    assert sum(row["share"] for row in access) == pytest.approx(1)
    assert found.counts == {
        "rows": 135,
        "rows_without_origin": 0,
        "sites": 135,
        "counted": 100,
        "files": 35,
    }
    assert any("30 unreachable, 5 missing" in remark for remark in found.remarks)


def test_the_denominator_can_be_sites_with_a_file() -> None:
    """denominator="file" leaves out sites that have no file."""
    facts = make_facts(
        [
            make_row(site(1), "none"),
            make_row(site(2)),
            *(make_row(site(n), access="unavailable") for n in range(3, 9)),
        ]
    )
    assert row_of(survey(facts), "crawlers", crawler="CCBot")["of"] == 8
    row = row_of(survey(facts, denominator="file"), "crawlers", crawler="CCBot")
    assert (row["none"], row["of"], row["none_share"]) == (1, 2, 0.5)


def test_purposes_count_sites_and_not_crawlers() -> None:
    """At least one, all, and at least one by name; crawlers that ignore `*` do not count."""
    ai = [name for name in CRAWLERS if name in ("GPTBot", "ClaudeBot")]
    facts = make_facts(
        [
            make_row(site(1), {"GPTBot": "none"}, named=["gptbot"]),
            make_row(site(2), dict.fromkeys(ai, "none"), named=ai),
            make_row(site(3), "none"),
            make_row(site(4), {"GPTBot": "some"}, named=["GPTBot"]),
            make_row(site(5)),
        ]
    )
    found = survey(facts)
    counts = {
        row["disallows"]: (row["sites"], row["of"])
        for row in rows_of(found, "purposes", purpose="ai-training")
    }
    assert counts == {
        "at least one": (3, 5),
        "all": (2, 5),
        "at least one by name": (2, 5),
    }
    assert rows_of(found, "purposes", purpose="ads") == []
    (row,) = rows_of(found, "purposes", purpose="search", disallows="all")
    assert (row["sites"], row["crawlers"]) == (1, 2)


def test_undecided_crawlers_are_left_out() -> None:
    """A null state counts as undecided; a purpose is undecided if the rest does not decide it."""
    facts = make_facts(
        [
            make_row(site(1), {"GPTBot": None}),
            make_row(site(2), {"GPTBot": None, "ClaudeBot": "none"}),
            make_row(site(3), {"GPTBot": "none", "ClaudeBot": "none"}),
        ]
    )
    found = survey(facts)
    row = row_of(found, "crawlers", crawler="GPTBot")
    assert (row["of"], row["none"], row["undecided"]) == (1, 1, 2)
    by_question = {
        row["disallows"]: (row["sites"], row["of"])
        for row in rows_of(found, "purposes", purpose="ai-training")
    }
    assert by_question["at least one"] == (2, 2)
    assert by_question["all"] == (1, 2)


def test_what_files_contain() -> None:
    """Features, sizes, delays, preferences, notes and user agents, of sites with a file."""
    facts = make_facts(
        [
            make_row(
                site(1),
                size=2_000,
                sitemaps=["https://s1.example/a.xml", "https://s1.example/b.xml"],
                crawl_delay=10.0,
                content_signal=[("ai-train", "no"), ("search", "yes")],
                notes=[("typo", 3)],
                user_agents=["*", "GPTBot", "gptbot", "MyBot"],
            ),
            make_row(site(2), size=0, disallow_rules=0, crawl_delay=0.5, notes=[("typo", 1)]),
            make_row(site(3), content_usage=[("train-ai", "n")], app_directives=2),
            make_row(site(4), access="unavailable"),
        ]
    )
    found = survey(facts)

    def feature(name: str) -> tuple[int, int]:
        row = row_of(found, "features", feature=name)
        return row["sites"], row["of"]

    assert feature("sitemap") == (1, 3)
    assert feature("crawl-delay") == (2, 3)
    assert feature("content-signal") == feature("content-usage") == (1, 3)
    assert feature("app-directives") == feature("no-rules") == (1, 3)
    assert feature("notes") == (2, 3)
    assert feature("truncated") == feature("purposes") == (0, 3)
    sizes = row_of(found, "files", measure="size")
    assert (sizes["files"], sizes["smallest"], sizes["median"], sizes["largest"]) == (
        3,
        0,
        100,
        2_000,
    )
    delays = {row["seconds"]: row["sites"] for row in rows_of(found, "crawl_delays")}
    assert delays["up to 1"] == delays["over 5 to 10"] == 1
    assert sum(delays.values()) == 2
    preferences = {(row["record"], row["preference"]) for row in rows_of(found, "preferences")}
    assert preferences == {
        ("Content-Signal", "ai-train=no"),
        ("Content-Signal", "search=yes"),
        ("Content-Usage", "train-ai=n"),
    }
    note = row_of(found, "notes", note="typo")
    assert (note["sites"], note["occurrences"], note["of"]) == (2, 4, 3)
    agents = {
        row["user_agent"]: (row["sites"], row["is_known"]) for row in rows_of(found, "user_agents")
    }
    assert agents == {"*": (3, False), "GPTBot": (1, True), "mybot": (1, False)}


def test_a_name_in_two_spellings_counts_once() -> None:
    """A file names GPTBot or does not."""
    facts = make_facts([make_row(site(1), "none", named=["GPTBot", "gptbot"])])
    row = row_of(survey(facts), "crawlers", crawler="GPTBot")
    assert (row["named"], row["none_named"]) == (1, 1)


# --- Sites and strata -----------------------------------------------------------------------------


def test_a_site_counts_once_with_its_last_fetch() -> None:
    """The latest time wins in any order of rows; of equal and unknown times, the later row."""
    rows = [
        make_row(site(1), "none", at=day(2024, 5)),
        make_row(site(1), "all", at=day(2023, 5)),
        make_row(site(1), "all", at=None),
        make_row(site(2), "all"),
        make_row(site(2), "some"),
        make_row(site(3), "all", at=day(2024)),
        make_row(site(3), "some", at=day(2024)),
    ]
    row = row_of(survey(make_facts(rows)), "crawlers", crawler="GPTBot")
    assert (row["of"], row["none"], row["some"], row["all"]) == (3, 1, 2, 0)


@pytest.mark.parametrize(
    ("by", "labels"),
    [
        ("year", ("2023", "2024", "not known")),
        ("quarter", ("2023-Q1", "2023-Q4", "2024-Q1", "not known")),
        ("month", ("2023-03", "2023-12", "2024-01", "not known")),
    ],
)
def test_by_time_each_period_has_the_last_fetch_of_a_site(by: str, labels: tuple[str, ...]) -> None:
    """A period's share is of the sites fetched in it; all sites count once."""
    facts = make_facts(
        [
            make_row(site(1), "none", at=day(2023, 3, 1)),
            make_row(site(1), "all", at=day(2023, 3, 31)),
            make_row(site(2), "none", at=day(2023, 12)),
            make_row(site(1), "none", at=day(2024, 1)),
            make_row(site(3), "none", at=None),
        ]
    )
    found = survey(facts, by=by)
    assert found.strata == labels
    first = row_of(found, "crawlers", crawler="GPTBot", stratum=labels[0])
    assert (first["none"], first["of"]) == ((1, 2) if by == "year" else (0, 1))
    assert row_of(found, "crawlers", crawler="GPTBot")["of"] == 3
    assert row_of(found, "sites", stratum=labels[0])["first_fetch"] is not None
    assert row_of(found, "sites", stratum="not known")["first_fetch"] is None


def test_changes_compare_the_same_sites() -> None:
    """Only sites with an answer in both periods count; McNemar's test is of those that changed."""
    rows = []
    for number in range(40):
        rows.append(
            make_row(site(number), {"GPTBot": "none" if number < 3 else "all"}, at=day(2023))
        )
        after = "none" if 1 <= number < 20 else "some"
        rows.append(make_row(site(number), {"GPTBot": after}, at=day(2024)))
    rows += [make_row(site(100 + number), "none", at=day(2024)) for number in range(50)]
    rows += [
        make_row(site(200), "all", at=day(2023)),
        make_row(site(200), "none", at=day(2024), access="unreachable"),
    ]
    found = survey(make_facts(rows), by="year")
    row = row_of(found, "changes", kind="crawler", name="GPTBot", before="2023", after="2024")
    assert (row["of"], row["started"], row["stopped"]) == (40, 17, 1)
    assert (row["before_share"], row["after_share"]) == (3 / 40, 19 / 40)
    assert row["difference"] == pytest.approx(0.4)
    assert 0 < row["low"] < 0.4 < row["high"]
    assert row["p"] == pytest.approx((2 * 19 - 18) / 2**18)
    assert row["p_holm"] >= row["p"]
    purpose = row_of(found, "changes", kind="purpose", name="ai-training")
    assert (purpose["started"], purpose["stopped"]) == (17, 1)
    still = row_of(found, "changes", kind="crawler", name="Googlebot")
    assert (still["started"], still["stopped"], still["p"]) == (0, 0, None)
    # A site that was not decided in one of the periods does not count.
    more = [make_row(site(300), {"GPTBot": None}, at=day(2023)), make_row(site(300), at=day(2024))]
    again = survey(make_facts([*rows, *more]), by="year")
    assert row_of(again, "changes", kind="crawler", name="GPTBot") == row
    # Three periods: each step, and first to last.
    third = survey(make_facts([*rows, make_row(site(1), at=day(2025))]), by="year")
    pairs = Counter((r["before"], r["after"]) for r in rows_of(third, "changes"))
    assert list(pairs) == [("2023", "2024"), ("2024", "2025"), ("2023", "2025")]


def test_by_rank() -> None:
    """Strata are ranges of ranks, of a column or of a list; hosts match with and without www."""
    facts = make_facts(
        [
            make_row("https://a.example", "none", rank=1),
            make_row("https://www.b.example", rank=1_000),
            make_row("https://c.example", rank=1_001),
            make_row("https://d.example", rank=2_000_000),
            make_row("http://e.example:8080", rank=None),
        ]
    )
    found = survey(facts, by="rank")
    labels = ("top 1,000", "1,001 to 10,000", "over 1,000,000", "not ranked")
    assert found.strata == labels
    assert [row_of(found, "sites", stratum=label)["sites"] for label in labels] == [2, 1, 1, 1]
    ranks = {"a.example": 1, "b.example": 1_000, "https://c.example": 1_001, "d.example": 2_000_000}
    assert survey(facts.drop_columns("rank"), by="rank", ranks=ranks) == found
    two = survey(facts, by="rank", rank_bounds=(10,))
    assert two.strata == ("top 10", "over 10", "not ranked")


def test_ranks_can_be_a_table_or_a_list_like_trancos(tmp_path: Path) -> None:
    """A CSV file with rank and domain, or a table; the best rank of a name counts."""
    file = tmp_path / "tranco.csv"
    file.write_text("1,a.example\r\n2,b.example\n7,a.example\nrubbish\n", encoding="utf-8")
    expected = {"a.example": 1, "b.example": 2}
    assert read_ranks(file) == expected
    table = pa.table({"domain": ["A.example", "b.example", None], "rank": [1, 2, 3]})
    assert read_ranks(table) == expected
    with pytest.raises(ValueError, match="need a column 'rank'"):
        read_ranks(table.drop_columns("rank"))
    with pytest.raises(TypeError, match="ranks must be a mapping"):
        read_ranks(3)
    file.write_text("nothing\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"like '1,example\.com'"):
        read_ranks(file)


def test_by_a_column() -> None:
    """Strata of a column: the most sites first, unknown ones last."""
    facts = make_facts(
        [
            make_row(site(1), "none", country="DE"),
            *(make_row(site(n), country="US") for n in range(2, 5)),
            *(make_row(site(n), country=None) for n in range(5, 15)),
        ]
    )
    found = survey(facts, by="country")
    assert found.strata == ("US", "DE", "not known")
    assert row_of(found, "crawlers", crawler="GPTBot", stratum="DE")["none_share"] == 1
    assert survey(facts, by="status").strata == ("not known",)
    assert survey(facts, by="truncated").strata == ("false",)


def test_a_population_corrects_the_intervals() -> None:
    """A complete count of a stratum has no interval; others keep theirs."""
    facts = make_facts(
        [make_row(site(n), "none" if n % 3 else "all", country="DE") for n in range(30)]
        + [make_row(site(n), country="US") for n in range(30, 60)]
    )
    found = survey(facts, by="country", population={"DE": 30})
    row = row_of(found, "crawlers", crawler="GPTBot", stratum="DE")
    assert row["none_low"] == row["none_share"] == row["none_high"]
    plain = survey(facts, by="country")
    key = {"crawler": "GPTBot", "stratum": "US"}
    assert row_of(found, "crawlers", **key) == row_of(plain, "crawlers", **key)
    assert any("finite population" in remark for remark in found.remarks)
    assert any("FR" in r for r in survey(facts, by="country", population={"FR": 9}).remarks)
    # Of a complete count, shares of a part are complete too.
    half = [make_row(site(n), access="unavailable") for n in range(60, 120)]
    whole = survey(make_facts([*facts.to_pylist(), *half]), population=120)
    complete = row_of(whole, "features", feature="no-rules")
    assert (complete["of"], complete["high"]) == (60, 0.0)
    narrow = row_of(survey(facts, population=100), "crawlers", crawler="GPTBot")
    wide = row_of(plain, "crawlers", crawler="GPTBot")
    assert wide["none_low"] < narrow["none_low"] < narrow["none_share"]


# --- Properties -----------------------------------------------------------------------------------

STATES = st.sampled_from(["none", "some", "all", None])
ROWS = st.lists(
    st.builds(
        lambda number, state, other, access, month, named: {
            "site": number,
            "states": {"GPTBot": state, "Googlebot": other},
            "access": access,
            "month": month,
            "named": named,
        },
        st.integers(0, 12),
        STATES,
        STATES,
        st.sampled_from(["success", "unavailable", "unreachable", "missing", None, "odd"]),
        st.integers(0, 5),
        st.lists(st.sampled_from(CRAWLERS), max_size=3, unique=True),
    ),
    max_size=40,
)


def facts_of(drawn: list[dict[str, Any]]) -> Any:
    """Return facts in which no site has two rows at the same time."""
    return make_facts(
        [
            make_row(
                site(item["site"]),
                item["states"],
                access=item["access"],
                at=day(2024, 1 + item["month"], 1 + number % 28).replace(microsecond=number),
                named=item["named"],
            )
            for number, item in enumerate(drawn)
        ]
    )


@settings(max_examples=20, deadline=None)
@given(ROWS, st.sampled_from([None, "month", "country"]))
def test_shares_add_up(drawn: list[dict[str, Any]], by: str | None) -> None:
    """Shares of states sum to 1, intervals contain their share, counts stay within `of`."""
    found = survey(facts_of(drawn), by=by)
    for row in rows_of(found, "crawlers"):
        assert row["none"] + row["some"] + row["all"] == row["of"]
        if row["of"]:
            assert row["none_share"] + row["some_share"] + row["all_share"] == pytest.approx(1)
        assert row["none_named"] <= min(row["none"], row["named"])
        assert (
            row["of"] + row["undecided"]
            == row_of(found, "sites", stratum=row["stratum"])["counted"]
        )
    for name, table in found.tables.items():
        for row in table.to_pylist():
            if "share" in row:
                assert row["sites"] <= row["of"], name
                if row["of"]:
                    assert 0 <= row["low"] <= row["share"] <= row["high"] <= 1
                else:
                    assert row["share"] is None
    found.to_markdown()
    json.dumps(found.as_dict())


@settings(max_examples=20, deadline=None)
@given(ROWS.filter(bool), st.randoms(use_true_random=False), st.integers(1, 7))
def test_order_and_batches_do_not_matter(
    drawn: list[dict[str, Any]], chance: random.Random, size: int
) -> None:
    """Shuffled, divided differently, or on disk: the survey is equal."""
    facts = facts_of(drawn)
    expected = survey(facts, by="month")
    assert survey(facts.to_batches(max_chunksize=size), by="month") == expected
    assert survey(facts, by="month", memory_limit=1) == expected
    places = list(range(len(facts)))
    chance.shuffle(places)
    assert survey(facts.take(pa.array(places, pa.int64())), by="month") == expected


# --- Input ----------------------------------------------------------------------------------------


def sample() -> Any:
    """Return some facts."""
    return make_facts(
        [
            make_row(
                site(n), "none" if n % 4 == 0 else "all", at=day(2024, 1 + n % 3), named=["GPTBot"]
            )
            for n in range(200)
        ]
    )


def test_facts_in_every_form_give_the_same_survey(tmp_path: Path) -> None:
    """Table, batches, reader, stream, dataset, Parquet file, folder, list of files."""
    facts = sample()
    expected = survey(facts, by="month")
    folder = tmp_path / "parts"
    folder.mkdir()
    pa.parquet.write_table(facts.slice(0, 90), folder / "part-0.parquet")
    pa.parquet.write_table(facts.slice(90), folder / "part-1.parquet")
    (folder / "manifest.json").write_text("{}", encoding="utf-8")
    single = tmp_path / "facts.parquet"
    pa.parquet.write_table(facts, single)

    class Stream:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return facts.__arrow_c_stream__(requested_schema)

    forms: list[Any] = [
        facts.to_batches(max_chunksize=7),
        iter(facts.to_batches(max_chunksize=50)),
        [facts.slice(0, 10), facts.slice(10)],
        facts.to_reader(max_chunksize=11),
        facts.combine_chunks().to_batches()[0],
        Stream(),
        pa.dataset.dataset(single),
        single,
        str(folder),
        sorted(folder.glob("*.parquet")),
    ]
    for form in forms:
        assert survey(form, by="month") == expected


def test_polars_and_plain_types_are_read() -> None:
    """String views, categories, large lists, and pairs as structs."""
    polars = pytest.importorskip("polars")
    facts = sample().append_column("plain", pa.array(["x"] * 200))
    frame = polars.from_arrow(facts.drop_columns(["content_signal", "content_usage", "notes"]))
    found = survey(frame, by="plain")
    expected = survey(facts, by="plain")
    assert found.tables["crawlers"] == expected.tables["crawlers"]
    assert found.tables["user_agents"] == expected.tables["user_agents"]
    assert any("no column content_signal, content_usage, notes" in r for r in found.remarks)
    texts = pa.struct([(name, pa.large_string()) for name in CRAWLERS])
    column = pa.array(facts["crawlers"].to_pylist(), texts)
    place = facts.schema.get_field_index("crawlers")
    plain = facts.set_column(place, "crawlers", column)
    assert survey(plain).tables["crawlers"] == survey(facts).tables["crawlers"]


def test_crawlers_can_be_selected() -> None:
    """Only these are in the tables, in the spelling of the facts."""
    found = survey(sample(), crawlers=["gptbot", "CCBot"])
    assert {row["crawler"] for row in rows_of(found, "crawlers")} == {"GPTBot", "CCBot"}
    with pytest.raises(ValueError, match="no crawler 'NoSuchBot'"):
        survey(sample(), crawlers=["NoSuchBot"])
    with pytest.raises(TypeError, match=r"pass \['GPTBot'\]"):
        survey(sample(), crawlers="GPTBot")


def test_a_crawler_that_is_not_in_the_registry_has_another_purpose() -> None:
    """Facts about crawlers of one's own."""
    states = pa.array([{"MyBot": "none"}, {"MyBot": "all"}])
    facts = pa.table({"origin": [site(1), site(2)], "access": ["success"] * 2, "crawlers": states})
    found = survey(facts)
    row = row_of(found, "crawlers", crawler="MyBot")
    assert (row["purpose"], row["operator"], row["none_share"]) == ("other", None, 0.5)
    assert "MyBot" in found.charts()["crawlers"]


# --- Misuse ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"by": "planet"}, ValueError, "by='planet' is not a column of facts"),
        ({"by": "origin"}, ValueError, "more than 1,000 different values"),
        ({"by": "crawlers"}, TypeError, "cannot be a grouping"),
        ({"by": ["month"]}, TypeError, "by must be one name"),
        ({"denominator": "all"}, ValueError, "pass 'answered' or 'file'"),
        ({"confidence": 95}, ValueError, "between 0 and 1"),
        ({"population": 0}, ValueError, "must be a number of sites"),
        ({"population": {"DE": -1}}, ValueError, "must be a number of sites"),
        ({"rank_bounds": (10, 5)}, ValueError, "increasing ranks"),
        ({"most": 0}, ValueError, "at least 1"),
        ({"memory_limit": 0}, ValueError, "number of bytes"),
        ({"ranks": {"a.example": 1}}, ValueError, "needs by='rank'"),
    ],
)
def test_misuse_raises(options: dict[str, Any], error: type[Exception], message: str) -> None:
    """The message says what is wrong and what to pass."""
    facts = make_facts([make_row(site(number)) for number in range(1_001)])
    with pytest.raises(error, match=re.escape(message)):
        survey(facts, **options)


def test_wrong_facts_raise(tmp_path: Path) -> None:
    """Other tables, types and files are misuse; the message names what is there."""
    with pytest.raises(ValueError, match="no column 'origin' \\(columns: 'url'\\)"):
        survey(pa.table({"url": ["https://a.example/"]}))
    with pytest.raises(TypeError, match="facts must be the table"):
        survey(3)
    with pytest.raises(TypeError, match="not an iterable of int"):
        survey([1, 2])
    with pytest.raises(TypeError, match="facts must be the table"):
        survey({"origin": []})
    with pytest.raises(TypeError, match="the column 'size' of facts has the type string"):
        survey(pa.table({"origin": ["https://a.example"], "size": ["big"]}))
    with pytest.raises(TypeError, match="'crawlers' has the type string"):
        survey(pa.table({"origin": ["https://a.example"], "crawlers": ["none"]}))
    with pytest.raises(TypeError, match="a field of 'crawlers'"):
        survey(pa.table({"origin": ["https://a.example"], "crawlers": [{"a": [1]}]}))
    with pytest.raises(TypeError, match="'rank' has the type string"):
        survey(pa.table({"origin": ["https://a.example"], "rank": ["1"]}), by="rank")
    with pytest.raises(ValueError, match="rank needs a column 'rank'"):
        survey(pa.table({"origin": ["https://a.example"]}), by="rank")
    with pytest.raises(FileNotFoundError, match="no such file"):
        survey(tmp_path / "missing.parquet")
    with pytest.raises(ValueError, match="no Parquet file in the folder"):
        survey(tmp_path)
    (tmp_path / "facts.csv").write_text("origin\n", encoding="utf-8")
    with pytest.raises(ValueError, match="cannot read facts as Parquet"):
        survey(tmp_path / "facts.csv")
    one, two = (
        pa.table({"origin": [site(1)], "crawlers": [{"A": "none"}]}),
        pa.table({"origin": [site(1)], "crawlers": [{"B": "none"}]}),
    )
    assert len(survey([one, two]).tables["crawlers"]) == 1
    with pytest.raises(ValueError, match="different crawlers"):
        survey([one.drop_columns("crawlers"), two])


# --- Odd data -------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", [None, "month", "rank", "country"])
@pytest.mark.parametrize(
    "facts",
    [
        pytest.param([], id="no rows"),
        pytest.param([make_row(None)], id="no origin"),
        pytest.param([make_row(site(1))], id="one site"),
        pytest.param([make_row(site(1), dict.fromkeys(CRAWLERS))], id="no states"),
        pytest.param([make_row(site(1), access="unreachable")], id="unreachable"),
        pytest.param([make_row(site(1), access=None)], id="unknown access"),
        pytest.param([dict.fromkeys(SCHEMA.names)], id="nulls"),
        pytest.param([dict.fromkeys(SCHEMA.names) | {"origin": site(1)}], id="nulls of a site"),
        pytest.param([make_row(site(1), "odd", access="odd", crawl_delay=-1.0)], id="odd values"),
    ],
)
def test_odd_data_never_raises(facts: list[dict[str, Any]], by: str | None, tmp_path: Path) -> None:
    """Every form of a survey can be made of it."""
    found = survey(make_facts(facts), by=by)
    assert len(found.save(tmp_path / "out")) >= 13
    assert found.charts().keys() <= {path.stem for path in (tmp_path / "out").glob("*.svg")}


def test_odd_data_is_said() -> None:
    """The remarks name what is missing."""

    def remarks(rows: list[dict[str, Any]], by: str | None = None) -> str:
        return " ".join(survey(make_facts(rows), by=by).remarks)

    assert "There are no sites" in remarks([])
    nameless = survey(make_facts([make_row(None), make_row(site(1))]))
    assert (nameless.counts["sites"], nameless.counts["rows_without_origin"]) == (1, 1)
    assert "1 rows without an origin" in remarks([make_row(None), make_row(site(1))])
    assert "No row has a time (fetched_at)" in remarks([make_row(site(1))], "month")
    assert "No site has an answer" in remarks([make_row(site(1), access="unreachable")])
    rows = [make_row(site(1), at=day(2023)), make_row(site(2), at=day(2024))]
    assert "No site is in two periods" in remarks(rows, "year")
    bare = survey(pa.table({"origin": [site(1)]}), by="month")
    assert any("no column" in remark and "fetched_at" in remark for remark in bare.remarks)
    assert any("Without the column access" in remark for remark in bare.remarks)


def test_partitions_keep_the_order_of_a_site() -> None:
    """All rows of an origin are in one partition, in the order they were added, also on disk."""
    batches = [
        pa.record_batch({"origin": [site(n) for n in range(100)], "row": [number] * 100})
        for number in range(4)
    ]
    with SitePartitions(memory_limit=3 * batches[0].nbytes) as partitions:
        for batch in batches:
            partitions.add(batch)
        assert partitions.is_on_disk
        partitions.add(batches[0])
        seen: dict[str, list[int]] = {}
        for table in partitions.partitions():
            rows = table.to_pylist()
            assert not {row["origin"] for row in rows} & set(seen)
            for row in rows:
                seen.setdefault(row["origin"], []).append(row["row"])
    assert len(seen) == 100
    assert set(map(tuple, seen.values())) == {(0, 1, 2, 3, 0)}


# A pool must live longer than what it allocated.
KEPT_POOLS: list[Any] = []


def test_memory_does_not_grow_with_rows(tmp_path: Path) -> None:
    """More than twice the rows, on disk, need about the same memory."""
    chunk = make_facts([make_row(site(n), at=day(2024), named=["GPTBot"]) for n in range(2_000)])
    origins = chunk["origin"].to_pylist()

    def batches(times: int) -> Any:
        for number in range(times):
            column = pa.array([f"{origin}.{number}" for origin in origins])
            yield chunk.set_column(0, "origin", column)

    def peak(times: int) -> int:
        pool = pa.proxy_memory_pool(pa.default_memory_pool())
        KEPT_POOLS.append(pool)
        before = pa.default_memory_pool()
        pa.set_memory_pool(pool)
        tracemalloc.start()
        try:
            found = survey(batches(times), memory_limit=1 << 20)
            assert found.counts["sites"] == 2_000 * times
            return int(pool.max_memory()) + tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
            pa.set_memory_pool(before)

    peak(2)
    assert peak(100) < 1.4 * peak(40)
