"""Real leaderboard formats, in small files of our own: what the shipped mappings take from them and what they leave."""

from pathlib import Path

import pytest

import mensura
from mensura.ledger import extract_update, init_ledger, read_mapping, shipped_names
from tests.ledger.small import ANN

BOARDS = Path(__file__).parent / "boards"


@pytest.fixture(scope="session")
def embedded_ledger(tmp_path_factory):
    return init_ledger(tmp_path_factory.mktemp("ledger") / "store.sqlite", **ANN)


@pytest.fixture
def extracted(embedded_ledger):
    """The update that a shipped mapping makes of its small file."""

    def extract(name):
        [file] = BOARDS.glob(f"{name}.*")
        ident = embedded_ledger.add_capture(file.read_bytes(), source=name, address=str(file.name), **ANN)
        return extract_update(embedded_ledger.capture(ident), read_mapping(name), embedded_ledger.cells())

    return extract


def scores(update, table="scores", field="score"):
    """The new figures of an update: subject and benchmark → value and line."""
    return {
        change.row[:2]: (change.new, change.line)
        for change in update.changes
        if (change.table, change.field) == (table, field)
    }


def notes(update):
    return {
        change.row[0]: change.new for change in update.changes if change.field == "note" and change.table == "scores"
    }


def reasons(update):
    return {skipped.line: skipped.reason for skipped in update.skipped}


@pytest.mark.slow
def test_every_shipped_mapping_has_a_small_file_and_gives_an_update_that_applies(embedded_ledger, extracted, tmp_path):
    assert len(shipped_names()) >= 4 and {read_mapping(name).layout.form for name in shipped_names()} == {
        "csv",
        "json",
        "html",
        "text",
    }
    for name in shipped_names():
        update = extracted(name)
        assert update.changes, name
        embedded_ledger.with_update(update)
        assert type(update).parse(update.text()) == update


def test_swe_marathon_takes_the_best_agents_row_and_names_the_agent(extracted):
    update = extracted("swe_marathon")
    assert scores(update) == {("gpt-5.5", "swe_marathon"): ("31", 8), ("claude-opus-4.8", "swe_marathon"): ("30", 10)}
    assert notes(update) == {"gpt-5.5": "best row: Codex CLI", "claude-opus-4.8": "best row: Claude Code"}
    assert reasons(update)[9] == "gpt-5.5 has a better row, line 8, by Codex CLI"
    assert "several models" in reasons(update)[11]
    [name] = update.unmatched
    assert (name.name, name.lines, name.near[0]) == ("Claud Opus 4.7", (12,), "claude-opus-4.7")


def test_a_blank_figure_stays_unknown(extracted):
    update = extracted("swe_marathon")
    assert not [change for change in update.changes if change.row[0] == "kimi-k2.6"]


def test_frontiercode_takes_the_score_at_the_best_effort_and_archives_the_rest(extracted):
    update = extracted("frontiercode")
    assert scores(update) == {
        ("claude-fable-5", "frontiercode_diamond"): ("14.2", 4),
        ("gpt-5.5", "frontiercode_diamond"): ("11.8", 5),
    }
    assert reasons(update) == {
        6: "a lower effort (low) of gpt-5.5; line 5 has it at its highest",
        7: "the source's own; no model of the evidence",
        8: "not the Diamond subset",
        9: "grok-4.3 at low effort alone; only high or more stands for the model",
    }


def test_swe_bench_takes_single_models_of_the_verified_board(extracted):
    update = extracted("swe_bench_verified")
    assert scores(update) == {
        ("gpt-5", "swe_bench_verified"): ("71.2", 8),
        ("claude-opus-4.5", "swe_bench_verified"): ("79.2", 17),
    }
    assert notes(update)["gpt-5"] == "best row: Other agent"
    kept = reasons(update)
    assert kept[10] == "several attempts at each issue" and "several models" in kept[12]
    assert kept[14] == "no model is named" and kept[15] == "the source warns of this row"


def test_agents_last_exam_takes_full_overall_rows_of_substantial_coverage(extracted):
    update = extracted("agents_last_exam")
    assert scores(update) == {
        ("gpt-5.5", "agents_last_exam"): ("18.4", 2),
        ("claude-opus-4.8", "agents_last_exam"): ("17.9", 5),
    }
    kept = reasons(update)
    assert kept[4] == "one category only" and "coverage below 90%" in kept[6] and kept[7] == "not the full exam"
    assert [name.name for name in update.unmatched] == ["Mystery-1"]


def test_artificial_analysis_keeps_hard_apart_and_proposes_what_is_new(extracted):
    update = extracted("artificial_analysis")
    read = scores(update)
    assert read["gpt-5.5", "terminal_bench_hard"][0] == "0.605"
    assert read["gpt-5.5", "critpt"][0] == "0.121"  # the other rows do not have it
    assert not [pair for pair in read if pair[1] == "terminal_bench_2"]
    assert ("gpt-5.5", "livecodebench") not in read  # null stays blank, and medium does not fill in
    assert "a lower effort (medium) of gpt-5.5" in reasons(update)[5]
    [proposal] = update.proposals
    assert (proposal.table, proposal.accept) == ("models", False)
    assert proposal.row == {
        "subject": "nova-3-pro",
        "name": "Nova 3 Pro",
        "provider": "Amazon",
        "released": "2026-11-02",
        "reasoning": "",
    }
    assert ("nova-3-pro", "gpqa_diamond", "aa_api") in {change.row for change in proposal.changes}
    assert update.unmatched[0].name == "Nova 3 Pro"


def test_arc_prize_reads_percents_and_leaves_people_and_prize_systems_out(extracted):
    update = extracted("arc_prize")
    assert scores(update) == {("gpt-5.5", "arc_agi_1"): ("94", 4), ("gpt-5.5", "arc_agi_2"): ("71.2", 4)}
    kept = reasons(update)
    assert "a lower effort (high)" in kept[5] and "16k effort alone" in kept[6]
    assert "not one model" in kept[3] and "not one model" in kept[7]


def test_epoch_says_the_effort_after_an_underscore(extracted):
    update = extracted("epoch_gpqa")
    assert scores(update) == {
        ("gpt-5.4", "gpqa_diamond"): ("0.9318", 2),
        ("claude-sonnet-4.6", "gpqa_diamond"): ("0.8737", 4),
        ("claude-sonnet-4", "gpqa_diamond"): ("0.6616", 5),
    }
    assert notes(update)["claude-sonnet-4"] == "Standard error 0.0268"
    assert notes(update)["gpt-5.4"] == "Standard error 0.0159; effort: xhigh"
    kept = reasons(update)
    assert kept[3] == "a lower effort (medium) of gpt-5.4; line 2 has it at its highest"
    assert kept[6] == "claude-opus-4 at 8k effort alone; only 16k or more stands for the model"
    assert not [change for change in update.changes if change.row[0] == "o3"], "a blank stays unknown"
    [new] = update.proposals
    assert (new.row["subject"], new.row["provider"], new.row["released"]) == ("nova-3-pro", "Amazon", "2026-11-02")


def test_arc_agi_2_takes_shown_rows_of_one_model_on_the_semi_private_set(extracted):
    update = extracted("arc_agi_2")
    assert scores(update) == {("gpt-5.5", "arc_agi_2"): ("0.768055555556", 3)}
    assert notes(update) == {"gpt-5.5": "1.44 dollars per task; effort: xhigh"}
    kept = reasons(update)
    assert "a lower effort (medium)" in kept[4] and kept[5] == "the source does not show this row"
    assert kept[6] == "not the semi-private set" and "not one model" in kept[2] and "not one model" in kept[7]


def test_a_column_that_is_null_in_every_row_is_there(embedded_ledger):
    """The real file of SWE-bench has ``warning: null`` everywhere, most of the time."""
    text = (BOARDS / "swe_bench_verified.json").read_text(encoding="utf-8")
    file = text.replace('"Results were withdrawn"', "null").encode()
    ident = embedded_ledger.add_capture(file, source="swe_bench_verified", address="data/leaderboards.json", **ANN)
    capture = embedded_ledger.capture(ident)
    update = extract_update(capture, read_mapping("swe_bench_verified"), embedded_ledger.cells())
    assert ("claude-opus-4.5", "swe_bench_verified") in scores(update)
    renamed = embedded_ledger.add_capture(
        file.replace(b'"warning"', b'"remark"'), source="x", address="data/leaderboards.json", **ANN
    )
    with pytest.raises(mensura.MensuraError, match=r"no row has 'warning'; the source may have changed its format"):
        extract_update(embedded_ledger.capture(renamed), read_mapping("swe_bench_verified"), embedded_ledger.cells())


def test_terminal_bench_reads_pasted_lines_without_their_errors(extracted):
    update = extracted("terminal_bench")
    assert scores(update) == {
        ("gpt-5.5", "terminal_bench_2"): ("77.3", 8),
        ("claude-opus-4.8", "terminal_bench_2"): ("70", 29),
    }
    assert reasons(update)[22].startswith("several models")


def test_the_same_board_again_changes_nothing(embedded_ledger, extracted, tmp_path):
    update = extracted("agents_last_exam")
    again = init_ledger(tmp_path / "again.sqlite", **ANN)
    again.apply(update, **ANN)
    capture = embedded_ledger.capture(update.capture)
    assert extract_update(capture, read_mapping("agents_last_exam"), again.cells()).changes == ()


def test_a_primary_score_of_another_source_steps_back_and_that_is_listed(extracted, embedded_ledger):
    update = extracted("swe_marathon")
    before = embedded_ledger.evidence().primary_scores.filter(benchmark="swe_marathon", subject="gpt-5.5")
    stepped = [change for change in update.changes if change.field == "primary" and change.old == "yes"]
    assert len(stepped) == sum(
        embedded_ledger.evidence().primary_scores.filter(benchmark="swe_marathon", subject=subject).height
        for subject in ("gpt-5.5", "claude-opus-4.8")
    )
    after = embedded_ledger.with_update(update).primary_scores.filter(benchmark="swe_marathon", subject="gpt-5.5")
    assert after["source"].to_list() == ["swe_marathon_board"] and before.height <= 1


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("epoch_frontiermath", {("gpt-5.4", "frontiermath_t1_3"): ("0.7521", 2)}),
        (
            "epoch_frontiermath_4",
            {("gpt-5.4", "frontiermath_t4"): ("0.2683", 2), ("claude-opus-4.5", "frontiermath_t4"): ("0.0488", 3)},
        ),
        ("epoch_hle", {("o3", "hle"): ("0.2032", 2)}),
        (
            "epoch_webdev_arena",
            {("gpt-5.4", "arena_webdev"): ("1461.2", 2), ("claude-opus-4.5", "arena_webdev"): ("1470.5", 3)},
        ),
        ("epoch_deepswe", {("gpt-5.4", "deepswe_1_1"): ("0.41", 2)}),
        ("lmarena", {("gpt-5.5", "arena_overall"): ("1471.5", 6)}),
        (
            "designarena_frontend",
            {
                ("claude-opus-4.7", "designarena_frontend"): ("1347", 2),
                ("gpt-5.5", "designarena_frontend"): ("1251", 3),
            },
        ),
        (
            "designarena_fullstack",
            {
                ("claude-opus-4.7", "designarena_fullstack"): ("1288", 2),
                ("gpt-5.5", "designarena_fullstack"): ("1173", 3),
            },
        ),
        ("mcp_atlas", {("claude-opus-4.7", "mcp_atlas"): ("79.1", 2), ("gpt-5.5", "mcp_atlas"): ("75.3", 3)}),
        (
            "swe_bench_pro",
            {("gpt-5.4", "swe_bench_pro"): ("59.1", 2), ("claude-opus-4.6", "swe_bench_pro"): ("51.9", 3)},
        ),
        (
            "eq_bench_3",
            {
                ("claude-opus-4.8", "eq_bench_3"): ("2031.8", 2),
                ("gpt-5.5", "eq_bench_3"): ("1577.9", 3),
                ("glm-5.1", "eq_bench_3"): ("1567.5", 4),
            },
        ),
    ],
)
def test_a_board_gives_the_scores_of_known_models_at_their_highest_effort(extracted, name, found):
    assert scores(extracted(name)) == found


def test_boards_with_other_rows_leave_them_with_a_reason(extracted):
    assert reasons(extracted("lmarena"))[7] == "fewer than 1,000 votes"
    assert reasons(extracted("designarena_frontend"))[4] == "fewer than 300 votes"
    assert reasons(extracted("mcp_atlas"))[5] == "Scale retired this row"
    assert [one.name for one in extracted("designarena_frontend").unmatched] == ["obsidian"]
    assert [one.name for one in extracted("eq_bench_3").unmatched] == ["HiveLabsAI/hivemind-32b-preview"]
    assert notes(extracted("epoch_webdev_arena"))["gpt-5.4"] == "95% interval 1450 to 1472; effort: high"
    assert "a lower effort (low) of gpt-5.4" in reasons(extracted("epoch_deepswe"))[3]
