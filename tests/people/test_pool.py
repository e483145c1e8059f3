"""Item pools: the tidy folder read, checked, written; faults refused by name."""

import gzip
from dataclasses import replace

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from mensura.core.errors import MensuraError
from mensura.people import Administration, ItemPool
from mensura.people.pool import is_pool

ITEMS = pl.DataFrame({"item": ["01", "02"], "domain": ["math", "math"], "n_options": [4, None]})
RATES = pl.DataFrame(
    {
        "item": ["01", "02", "01", "02"],
        "covariate": ["all", "all", "sex", "sex"],
        "group": ["all", "all", "sex=f", "sex=f"],
        "n": [100, 100, 40, 40],
        "n_correct": [50, 20, 30, 8],
        "rate": [0.5, 0.2, 0.75, 0.2],
        "se": [0.05, 0.04, 0.0685, 0.0632],
    }
)
ANSWERS = pl.DataFrame(
    {"person": [1, 1, 2, 2, 3], "item": ["01", "02", "01", "02", "01"], "correct": [1, 0, 0, None, 1]}
)


def folder_of(path, **tables):
    path.mkdir(exist_ok=True)
    for name, table in tables.items():
        table.write_csv(path / f"{name}.csv")
    return path


def test_reads_published_rates_and_keeps_item_names_as_text(tmp_path):
    pool = ItemPool.read(folder_of(tmp_path / "p", items=ITEMS, group_rates=RATES))
    assert pool.items["item"].to_list() == ["01", "02"]
    assert pool.rates.columns[:7] == ["item", "covariate", "group", "n", "correct", "rate", "se"]
    assert pool.rates_of("sex=f")["rate"].to_list() == [0.75, 0.2]
    assert pool.groups.rows() == [("all", "all", 2, 100.0), ("sex", "sex=f", 2, 40.0)]
    assert "2 items, published rates, 2 groups" in str(pool)


def test_counts_rates_from_answers_where_none_are_published(tmp_path):
    persons = pl.DataFrame({"person": [1, 2, 3], "sex": ["f", "m", None], "age": [15.5, 16.0, 15.0]})
    pool = ItemPool.read(folder_of(tmp_path / "p", items=ITEMS, persons=persons, responses=ANSWERS))
    assert pool.rates_of("all").select("item", "n", "correct").rows() == [("01", 3, 2), ("02", 1, 0)]
    assert pool.rates_of("sex=f")["n"].to_list() == [1, 1]


def test_writes_what_it_reads(tmp_path):
    persons = pl.DataFrame({"person": [1, 2, 3], "sex": ["f", "m", None]})
    pool = ItemPool.from_answers("p", ITEMS, ANSWERS, persons, by=["sex"])
    pool.write(tmp_path / "copy")
    again = ItemPool.read(tmp_path / "copy")
    assert again.rates.equals(pool.rates)
    assert again.answers().sort("person", "item").equals(pool.answers().sort("person", "item"))


def test_a_pool_written_over_another_replaces_it_whole_and_keeps_foreign_files(tmp_path):
    persons = pl.DataFrame({"person": [1, 2, 3], "sex": ["f", "m", None]})
    ItemPool.from_answers("old", ITEMS, ANSWERS, persons, by=["sex"]).write(tmp_path / "p")
    (tmp_path / "p" / "README.md").write_text("mine", encoding="utf-8")
    ItemPool.from_rates("new", ITEMS, RATES).write(tmp_path / "p")
    again = ItemPool.read(tmp_path / "p")
    assert again.responses is None, "the answers of the old pool are gone"
    assert again.persons is None
    assert again.rates_of("sex=f")["n"].to_list() == [40, 40]
    assert (tmp_path / "p" / "README.md").read_text(encoding="utf-8") == "mine"


def test_a_pool_is_not_written_over_files_of_others(tmp_path):
    folder = folder_of(tmp_path / "p", items=ITEMS)
    with pytest.raises(MensuraError, match=r"items\.csv: exists and was not written by mensura"):
        ItemPool.from_rates("p", ITEMS, RATES).write(folder)


def test_a_pool_prints_shortly_and_hands_out_its_tables(tmp_path):
    pool = ItemPool.from_rates("p", ITEMS, RATES)
    assert repr(pool).startswith("<p: 2 items, published rates, 2 groups")
    assert len(repr(pool).splitlines()) < 30
    assert "<table" in pool._repr_html_()
    assert list(pool.tables()) == ["items", "rates", "exclusions"]
    pool.write(tmp_path / "p")
    assert ItemPool.of(pool) is pool
    assert ItemPool.of(str(tmp_path / "p")).rates.equals(pool.rates)
    with pytest.raises(MensuraError, match="an ItemPool or the path of its folder, got list"):
        ItemPool.of([1])


def test_accepts_wide_answers_and_pandas():
    wide = pl.DataFrame({"person": [1, 2], "01": [1, 0], "02": [None, 1]}, schema_overrides={"02": pl.Int8})
    pool = ItemPool.from_answers("p", ITEMS.to_pandas(), wide)
    assert pool.rates_of()["n"].to_list() == [2, 1]


def test_answers_that_are_not_scored_are_refused_with_the_first_of_them():
    table = {"person": ["a", "b", "c"], "q1": [1, 0, 1], "q2": [None, "yes", "no"]}
    with pytest.raises(MensuraError, match="item 'q2': answers must be 0, 1 or null, got 'yes'; score them first"):
        ItemPool.from_answers("p", {"item": ["q1", "q2"]}, table).rates_of("all")


def test_an_item_without_a_row_is_kept_and_named(tmp_path):
    pool = ItemPool.read(folder_of(tmp_path / "p", items=ITEMS.head(1), group_rates=RATES))
    assert pool.items["item"].to_list() == ["01", "02"]
    assert "1 item without a row in the item table, so without a domain: 02" in pool.warnings[0]


def test_rows_without_answers_are_left_out_and_counted():
    rates = pl.concat(
        [RATES, RATES.head(1).with_columns(group=pl.lit("sex=m"), n=0, n_correct=0, rate=None, se=None)],
        how="vertical_relaxed",
    )
    pool = ItemPool.from_rates("p", ITEMS, rates)
    assert pool.rates.height == 4
    assert pool.warnings == ("1 rows with n = 0 left out of the rates",)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rate": 1.2}, "rate must lie between 0 and 1"),
        ({"n": -5}, "n must be a number above 0"),
        ({"n": None}, "n must be a number above 0"),
        ({"n_correct": 200}, "n_correct must lie between 0 and n"),
        ({"n_correct": 90}, "rate and n_correct / n disagree"),
        ({"item": "02"}, "an item has two rows for one group"),
        ({"rate": "many"}, "must be numbers"),
    ],
)
def test_impossible_rates_are_refused_by_row(change, message):
    first = {**RATES.row(0, named=True), **change}
    rows = [first, *RATES.rows(named=True)[1:]]
    with pytest.raises(MensuraError, match=message):
        ItemPool.from_rates("p", ITEMS, pl.DataFrame(rows, strict=False))


def test_weighted_rates_beside_plain_counts_are_kept_with_a_warning():
    rates = RATES.with_columns(rate=pl.Series([0.54, 0.2, 0.75, 0.2]))
    pool = ItemPool.from_rates("p", ITEMS, rates)
    assert pool.rates["rate"][0] == 0.54
    assert pool.warnings == ("1 rates differ from n_correct / n, as weighted rates do; the rates are used",)


def test_covariates_are_read_off_the_groups_and_ambiguous_groups_refused():
    assert ItemPool.from_rates("p", ITEMS, RATES.drop("covariate")).groups["covariate"].to_list() == ["all", "sex"]
    part = RATES.filter(pl.col("group") == "sex=f").with_columns(group=pl.lit("yes"))
    twice = pl.concat([RATES, *(part.with_columns(covariate=pl.lit(name)) for name in "ab")])
    with pytest.raises(MensuraError, match="group 'yes' occurs under a, b"):
        ItemPool.from_rates("p", ITEMS, twice).rates_of("yes")


def test_missing_numbers_that_follow_from_others_are_filled():
    pool = ItemPool.from_rates("p", ITEMS, RATES.drop("n_correct", "se"))
    assert pool.rates["correct"].to_list() == [50, 20, 30, 8]
    assert pool.rates["se"][0] == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"items": ITEMS}, "neither group_rates nor responses"),
        ({"group_rates": RATES}, "no items.csv or items.parquet"),
        ({"items": pl.concat([ITEMS, ITEMS]), "group_rates": RATES}, "item '01' occurs more than once"),
        ({"items": ITEMS.drop("item"), "group_rates": RATES}, "missing column 'item'"),
        (
            {"items": ITEMS, "responses": pl.concat([ANSWERS, ANSWERS.head(1)])},
            "person 1 answers item '01' more than once",
        ),
        ({"items": ITEMS, "responses": ANSWERS.with_columns(correct=2)}, "must be 0, 1 or empty, got 2"),
        (
            {"items": ITEMS, "responses": ANSWERS, "persons": pl.DataFrame({"person": [1, 1], "sex": ["f", "m"]})},
            "person 1 occurs more than once",
        ),
    ],
)
def test_damaged_folders_are_refused(tmp_path, tables, message):
    with pytest.raises(MensuraError, match=message):
        ItemPool.read(folder_of(tmp_path / "p", **tables))


@pytest.mark.parametrize("form", ["tsv", "json", "xlsx", "arrow", "csv.gz"])
def test_a_folder_of_tables_in_any_format_is_a_pool(form, tmp_path):
    tables = {"items": ITEMS, "group_rates": RATES}
    expected = ItemPool.read(folder_of(tmp_path / "csv", **tables))
    other = tmp_path / "other"
    other.mkdir()
    for name, table in tables.items():
        path = other / f"{name}.{form}"
        match form:
            case "tsv":
                table.write_csv(path, separator="\t")
            case "json":
                path.write_text(table.write_json(), encoding="utf-8")
            case "xlsx":
                pytest.importorskip("xlsxwriter")
                table.write_excel(path)
            case "arrow":
                table.write_ipc(path)
            case _:
                path.write_bytes(gzip.compress(table.write_csv().encode()))
    found = ItemPool.read(other)
    assert_frame_equal(found.rates, expected.rates)
    assert found.items["item"].to_list() == expected.items["item"].to_list()
    ITEMS.write_csv(other / "items.csv")
    with pytest.raises(MensuraError, match=r"both items\.\w+ and items\."):
        ItemPool.read(other)


def test_another_encoding_is_read_and_torn_files_are_refused(tmp_path):
    folder = folder_of(tmp_path / "p", group_rates=RATES)
    (folder / "items.csv").write_bytes("item,domain\n01,Ökonomie\n".encode("latin-1"))
    assert ItemPool.read(folder).items["domain"][0] == "Ökonomie"
    (folder / "items.csv").write_text("item,domain\n01,math\n")
    (folder / "responses.parquet").write_bytes(b"PAR1 torn")
    with pytest.raises(MensuraError, match="not readable as a table"):
        ItemPool.read(folder)


def test_unknown_group_and_missing_answers_say_what_there_is():
    pool = ItemPool.from_rates("p", ITEMS, RATES)
    with pytest.raises(MensuraError, match="no group 'sex=x'; expected one of all, sex=f"):
        pool.rates_of("sex=x")
    with pytest.raises(MensuraError, match=r"published rates only, no answers to count; add responses\.csv"):
        pool.tabulate(["sex"])
    with pytest.raises(MensuraError, match="no folder"):
        ItemPool.read("nowhere")


@pytest.mark.slow
@pytest.mark.shared
def test_every_development_pool_is_read_and_recounted(shared):
    for folder in sorted((shared / "data/human").iterdir()):
        if not folder.is_dir():
            continue
        pool = ItemPool.read(folder)
        if pool.responses is None or folder.name == "icar_sapa":
            continue
        covariates = [name for name in pool.groups["covariate"].unique() if name in pool.persons.columns]
        both = pool.tabulate(covariates).join(pool.rates, on=["item", "group"])
        assert both.height > 0
        assert (both["n"] == both["n_right"]).all()
        assert (both["rate"] - both["rate_right"]).abs().max() < 1e-6


def test_a_pool_keeps_year_language_and_mode(tmp_path):
    rates = {"item": ["a"], "group": ["all"], "n": [100], "rate": [0.5]}
    pool = replace(
        ItemPool.from_rates("p", {"item": ["a"]}, rates), administration=Administration(2009, "German", "paper")
    )
    pool.write(tmp_path / "p")
    again = ItemPool.read(tmp_path / "p")
    assert again.administration == Administration(2009, "German", "paper")
    assert "2009, German, paper" in again.heading
    assert ItemPool.from_rates("q", {"item": ["a"]}, rates).administration == Administration()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("year,mode\n2009,phone\n", "unknown mode 'phone'; expected one of paper, computer"),
        ("year\n12\n", "year must lie between 1900 and 2100, got 12"),
        ("year\nlong ago\n", "year must be a whole number, got 'long ago'"),
        ("year,place\n2009,Rome\n", "unknown column 'place'; expected year, language, mode"),
        ("year\n2009\n2010\n", "one row is needed"),
    ],
)
def test_a_faulty_administration_is_refused(tmp_path, text, fault):
    ItemPool.from_rates("p", {"item": ["a"]}, {"item": ["a"], "group": ["all"], "n": [100], "rate": [0.5]}).write(
        tmp_path / "p"
    )
    (tmp_path / "p" / "administration.csv").write_text(text)
    with pytest.raises(MensuraError, match=fault):
        ItemPool.read(tmp_path / "p")


def test_persons_and_answers_of_other_types_are_matched_as_text():
    persons = pl.DataFrame({"person": ["1", "2"], "sex": ["f", "m"]})
    pool = ItemPool.from_answers("p", ITEMS, pl.DataFrame({"person": [1, 2], "01": [1, 0]}), persons, by=["sex"])
    assert pool.rates_of("sex=f").select("item", "correct").rows() == [("01", 1)]
    assert pool.persons["sex"].to_list() == ["f", "m"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: ItemPool.from_answers("p", {"item": ["a", "a"]}, {"person": [1], "a": [1]}),
            "^items: item 'a' occurs",
        ),
        (lambda: ItemPool.from_answers("p", {"item": ["a"]}, {"person": [1, 1], "a": [1, 0]}), "^responses: person 1"),
        (
            lambda: ItemPool.from_answers("p", {"item": ["a"]}, {"person": [1], "a": [1]}, {"person": [1, 1]}),
            "^persons: person 1 occurs more than once; each person has one row",
        ),
        (lambda: ItemPool.from_rates("p", {"item": ["a", "a"]}, RATES), "^items: item 'a' occurs"),
        (lambda: ItemPool.from_rates("p", ITEMS, {"item": ["a"]}), "^rates: missing column"),
    ],
)
def test_a_table_at_fault_is_named(make, message):
    with pytest.raises(MensuraError, match=message):
        make()


def test_covariates_of_2_to_60_levels_are_groups_and_weights_are_none():
    size = 130
    persons = pl.DataFrame(
        {
            "person": range(size),
            "sixty": [f"l{n % 60}" for n in range(size)],
            "more": [f"l{n % 61}" for n in range(size)],
            "one": ["x", None] * (size // 2),
            "two": ["x", "y"] * (size // 2),
            "weight": [1.0, 2.0] * (size // 2),
            "mass": [1.0, 2.0] * (size // 2),
        }
    )
    answers = pl.DataFrame({"person": range(size), "a": [1, 0] * (size // 2)})
    pool = ItemPool.from_answers("p", {"item": ["a"]}, answers, persons)
    assert set(pool.groups["covariate"]) == {"all", "sixty", "two", "mass"}
    weighted = ItemPool.from_answers("p", {"item": ["a"]}, answers, persons, weight="mass")
    assert set(weighted.groups["covariate"]) == {"all", "sixty", "two"}
    assert weighted.rates_of("all")["rate"][0] == pytest.approx(1 / 3)
    assert pool.tabulate([("two", "mass")])["group"].unique().sort().to_list() == [
        "all",
        "two_mass=x_1.0",
        "two_mass=y_2.0",
    ]


def test_a_heading_counts_what_a_pool_has():
    one = ItemPool.from_rates("p", {"item": ["a"]}, {"item": ["a"], "group": ["all"], "n": [9], "rate": [0.5]})
    assert one.heading == "p: 1 item, published rates, 1 group"
    log = pl.DataFrame([("item", "b", "why")], ["kind", "id", "reason"], orient="row")
    assert replace(one, exclusions=log).heading.endswith("1 group, 1 exclusion (see .exclusions)")
    assert one.shown.equals(one.groups)
    assert ItemPool.from_answers("q", {"item": ["a"]}, {"person": [1, 2], "a": [1, 0]}).heading == (
        "q: 1 item, 2 persons, 1 group"
    )


def test_a_pool_is_known_by_its_type_or_its_folder(tmp_path):
    one = ItemPool.from_rates("p", ITEMS, RATES)
    one.write(tmp_path / "p")
    assert is_pool(one) and is_pool(tmp_path / "p") and is_pool(str(tmp_path / "p"))
    assert not is_pool(tmp_path) and not is_pool(ITEMS)
