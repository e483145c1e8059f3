"""Forty files as people bring them, each with what must come of it: the scores read, a question, or a refusal.

``read`` lists (subject, benchmark, score, unit); ``asked`` and ``refused`` hold words of the message. A file is *asked
about* where one more word from its bringer would do (a unit, a name), *refused* where it must be repaired.
"""

from __future__ import annotations

import io
import json
import zipfile
from typing import NamedTuple

from mensura.evidence import NewModel

OPUS, GPT = "claude-opus-4.8", "gpt-5.5"
BOTH = ((OPUS, "gpqa_diamond", 70.4, "percent"), (GPT, "hle", 21.5, "percent"))
TIDY = f"subject,benchmark,score\n{OPUS},gpqa_diamond,70.4\n{GPT},hle,21.5\n"


class Messy(NamedTuple):
    """One file: its name, its bytes, and what must come of it."""

    file: str
    data: bytes
    read: tuple[tuple[str, str, float, str], ...] = ()
    asked: str = ""
    refused: str = ""
    options: dict[str, object] = {}  # noqa: RUF012


def text(file: str, content: str, *read: tuple[str, str, float, str], **how: object) -> Messy:
    return Messy(file, content.encode("utf-8"), read, **how)  # type: ignore[arg-type]


def inspect_log(status: str = "success", model: str = "openai/gpt-5.5") -> dict[str, object]:
    return {
        "version": 2,
        "status": status,
        "eval": {"task": "inspect_evals/gpqa_diamond", "model": model, "dataset": {"samples": 198}},
        "results": {
            "completed_samples": 198,
            "scores": [{"name": "choice", "metrics": {"accuracy": {"value": 0.875}, "stderr": {"value": 0.02}}}],
        },
    }


def archive(members: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            packed.writestr(name, content)
    return buffer.getvalue()


HARNESS = {
    "model_name": "gpt-5.5",
    "results": {
        "gpqa_diamond": {"alias": "gpqa", "acc,none": 0.8, "acc_stderr,none": 0.01, "acc_norm,none": 0.7},
        "mmlu_pro": {"exact_match,custom-extract": 0.66},
        "mmlu_pro_law": {"exact_match,custom-extract": 0.5},
    },
    "group_subtasks": {"mmlu_pro": ["mmlu_pro_law"]},
    "n-samples": {"gpqa_diamond": {"original": 198, "effective": 198}},
}

NEW_HARNESS = json.dumps({"model_name": "acme/rocket-1", "results": {"hle": {"acc,none": 0.25}}}).encode()
OWN_HARNESS = json.dumps({"model_name": "gpt-5.5", "results": {"knitting": {"acc,none": 0.25}}}).encode()
NEW_INSPECT = archive({"header.json": json.dumps(inspect_log(model="acme/rocket-1"))})
RELEASED: dict[str, object] = {"new_model": NewModel(released="2026-11-01")}

FILES = (
    text("tidy.csv", TIDY, *BOTH),
    text("header_variants.csv", f"Model Name,Task,Accuracy\n{OPUS},gpqa_diamond,70.4\n{GPT},hle,21.5\n", *BOTH),
    text("shouting.csv", f"MODEL,BENCHMARK,SCORE\n{OPUS},GPQA_DIAMOND,70.4\n{GPT},HLE,21.5\n", *BOTH),
    text("display_names.csv", "Model,Benchmark,Score\nClaude Opus 4.8,GPQA Diamond,70.4\nGPT-5.5,HLE,21.5\n", *BOTH),
    text("long_names.csv", f"model,benchmark,score\n{GPT},Humanity's Last Exam,21.5\n", BOTH[1]),
    text("aime.csv", f"model,benchmark,score\n{GPT},AIME 2025,94\n", (GPT, "aime_2025", 94, "percent")),
    text("short_year.csv", f"model,benchmark,score\n{GPT},AIME25,94\n", (GPT, "aime_2025", 94, "percent")),
    text("short_year_apart.csv", f"model,benchmark,score\n{GPT},AIME '24,94\n", (GPT, "aime_2024", 94, "percent")),
    text("other_year.csv", f"model,benchmark,score\n{GPT},AIME 2026,94\n", asked="--new 'AIME 2026'"),
    text(
        "other_year_near.csv",
        f"model,benchmark,score\n{GPT},AIME 2026,94\n",
        asked="--new 'AIME 2026'",
        options={"accept_near": {"HLE": "hle"}},
    ),
    text(
        "other_year_new.csv",
        f"model,benchmark,score,unit\n{GPT},AIME 2026,94,percent\n",
        (GPT, "AIME 2026", 94, "percent"),
        options={"accept_near": {"HLE": "hle"}, "new": ("AIME 2026",)},
    ),
    text("version.csv", f"model,benchmark,score\n{GPT},LiveCodeBench v6,80.5\n", asked="did you mean livecodebench"),
    text("dashes.csv", "model,benchmark,score\nclaude-opus-4-8,gpqa-diamond,70.4\n", BOTH[0]),
    text("provider.csv", "model,benchmark,score\nanthropic/claude-opus-4.8,gpqa_diamond,70.4\n", BOTH[0]),
    text("percent_signs.csv", f"subject,benchmark,score\n{OPUS},gpqa_diamond,70.4%\n{GPT},hle,21.5 %\n", *BOTH),
    text(
        "percent_header.csv",
        f"model,benchmark,Score (%)\n{OPUS},gpqa_diamond,0.4\n",
        (OPUS, "gpqa_diamond", 0.4, "percent"),
    ),
    text("percent_unit.csv", f"model,benchmark,score,unit\n{OPUS},gpqa_diamond,70.4,%\n", BOTH[0]),
    text(
        "fractions.csv",
        f"model,benchmark,score\n{OPUS},gpqa_diamond,0.704\n",
        asked="--unit fraction or --unit percent",
    ),
    text(
        "fractions_said.csv",
        f"model,benchmark,score\n{OPUS},gpqa_diamond,0.704\n",
        (OPUS, "gpqa_diamond", 0.704, "fraction"),
        options={"unit": "fraction"},
    ),
    text(
        "mixed_units.csv",
        f"model,benchmark,score\n{OPUS},gpqa_diamond,0.704\n{GPT},hle,21.5\n",
        asked="gpqa_diamond: all values lie within 0 to 1",
    ),
    text(
        "own_fraction.csv",
        f"model,benchmark,score\n{OPUS},swe_bench_pro,0.6\n",
        (OPUS, "swe_bench_pro", 0.6, "fraction"),
    ),
    text("zero.csv", f"model,benchmark,score\n{OPUS},critpt,0\n", (OPUS, "critpt", 0, "percent")),
    text("elo.csv", f"model,benchmark,score\n{OPUS},arena_webdev,1510\n", (OPUS, "arena_webdev", 1510, "elo")),
    text("thousands.csv", f'model,benchmark,score\n{OPUS},arena_webdev,"1,510"\n', (OPUS, "arena_webdev", 1510, "elo")),
    text("semicolons.csv", f"Model;Benchmark;Score\n{OPUS};gpqa_diamond;70,4\n{GPT};hle;21,5\n", *BOTH),
    text("tabs.tsv", f"model\tbenchmark\tscore\n{OPUS}\tgpqa_diamond\t70.4\n{GPT}\thle\t21.5\n", *BOTH),
    Messy("bom.csv", TIDY.encode("utf-8-sig"), BOTH),
    Messy("utf16.csv", TIDY.encode("utf-16"), BOTH),
    Messy("utf16_no_mark.csv", TIDY.encode("utf-16-le"), BOTH),
    Messy("windows.csv", f"model,benchmark,score,note\n{OPUS},gpqa_diamond,70.4,naïve\n".encode("cp1252"), BOTH[:1]),
    text("carriage_returns.csv", TIDY.replace("\n", "\r\n"), *BOTH),
    text(
        "blanks.csv",
        f"model,benchmark,score\n{OPUS},gpqa_diamond,70.4\n{GPT},gpqa_diamond,\n\n{GPT},hle,21.5\n{OPUS},hle,n/a\n",
        *BOTH,
    ),
    text("errors_behind.csv", f"model,benchmark,score\n{OPUS},gpqa_diamond,70.4 ± 1.2\n{GPT},hle,21.5 (0.8)\n", *BOTH),
    text("wide.csv", f"Model,GPQA Diamond,HLE\n{OPUS},70.4,\n{GPT},-,21.5\n", *BOTH),
    text("wide_percent.csv", f"model,GPQA Diamond (%),HLE %\n{OPUS},70.4,\n{GPT},,21.5\n", *BOTH),
    text("wide_no_corner.csv", f",gpqa_diamond,hle\n{OPUS},70.4,\n{GPT},,21.5\n", *BOTH),
    text("turned.csv", "Benchmark,Claude Opus 4.8,GPT-5.5\nGPQA Diamond,70.4,\nHLE,,21.5\n", *BOTH),
    Messy(
        "harness.json",
        json.dumps(HARNESS).encode(),
        ((GPT, "gpqa_diamond", 0.8, "fraction"), (GPT, "mmlu_pro", 0.66, "fraction")),
    ),
    Messy("inspect.json", json.dumps(inspect_log()).encode(), ((GPT, "gpqa_diamond", 0.875, "fraction"),)),
    Messy(
        "inspect.eval", archive({"header.json": json.dumps(inspect_log())}), ((GPT, "gpqa_diamond", 0.875, "fraction"),)
    ),
    Messy("harness_new_model.json", NEW_HARNESS, asked="needs its release date (--released"),
    Messy("harness_released.json", NEW_HARNESS, (("acme/rocket-1", "hle", 0.25, "fraction"),), options=RELEASED),
    Messy("harness_own_test.json", OWN_HARNESS, ((GPT, "knitting", 0.25, "fraction"),), options={"new": ("knitting",)}),
    Messy("inspect_new_model.eval", NEW_INSPECT, asked="needs its release date (--released"),
    Messy(
        *("inspect_released.eval", NEW_INSPECT, (("acme/rocket-1", "gpqa_diamond", 0.875, "fraction"),)),
        options=RELEASED,
    ),
    Messy(
        "records.json", json.dumps([{"model": OPUS, "task": "gpqa_diamond", "accuracy": "70.4%"}]).encode(), BOTH[:1]
    ),
    Messy("unfinished.eval", archive({"header.json": json.dumps(inspect_log("error"))}), refused="status 'error'"),
    text("near.csv", f"model,benchmark,score\n{OPUS},GPQA,70.4\n", asked="did you mean gpqa_diamond"),
    text(
        "near_accepted.csv",
        f"model,benchmark,score\n{OPUS},GPQA,70.4\n",
        BOTH[0],
        options={"accept_near": {"GPQA": "gpqa_diamond"}},
    ),
    text("unknown_benchmark.csv", f"model,benchmark,score\n{OPUS},Knitting,70.4\n", asked="--new 'Knitting'"),
    text(
        "new_benchmark.csv",
        f"model,benchmark,score,unit\n{OPUS},Knitting,70.4,percent\n",
        (OPUS, "Knitting", 70.4, "percent"),
        options={"new": ("Knitting",)},
    ),
    text(
        "unknown_model.csv",
        "model,benchmark,score\nhal-9000,hle,21.5\n",
        asked="needs its release date (--released, or a column released)",
    ),
    text(
        "new_model.csv",
        "model,benchmark,score,Release Date\nhal-9000,hle,21.5,2026-01-12\n",
        ("hal-9000", "hle", 21.5, "percent"),
    ),
    text("people_too.csv", f"{TIDY}Human experts,hle,90\naverage_human,hle,5\n", *BOTH),
    text(
        "named_after_people.csv",
        "model,benchmark,score,released\npeople-llm,hle,21.5,2026-01-12\n",
        ("people-llm", "hle", 21.5, "percent"),
    ),
    text("own_test_percent.csv", f"Model,Knitting Bench (%)\n{GPT},70.4\n", (GPT, "Knitting Bench", 70.4, "percent")),
    text("own_test_signs.csv", f"model,benchmark,score\n{GPT},Knitting,70.4%\n", (GPT, "Knitting", 70.4, "percent")),
    text("only_people.csv", "model,benchmark,score\nHumans,hle,90\n", refused="use mensura add --people FILE"),
    text("title_above.csv", f"Results of May,,\n,,\n{TIDY}", refused="row 3: looks like the header"),
    text("words.csv", f"model,benchmark,score\n{OPUS},gpqa_diamond,good\n", refused="row 2, column score: got 'good'"),
    text("no_score.csv", f"model,benchmark\n{OPUS},gpqa_diamond\n", refused="expected columns model, benchmark, score"),
    text("two_scores.csv", f"model,benchmark,score,accuracy\n{OPUS},hle,1,2\n", refused="both look like the score"),
    text("empty.csv", "", refused="no rows"),
    text("header_only.csv", "model,benchmark,score\n", refused="no rows"),
    text("all_blank.csv", f"model,benchmark,score\n{OPUS},hle,\n", refused="no row has a model, a benchmark"),
    text(
        "strange_column.csv", f"model,benchmark,score,colour\n{OPUS},hle,21.5,red\n", refused="unknown column 'colour'"
    ),
    text("ragged.csv", f"model,benchmark,score\n{OPUS},hle,21,5\n", refused="row 2: 4 cells under a header of 3"),
    Messy("sheet.xlsx", b"PK", refused="not a readable spreadsheet"),
    Messy("broken.json", b'{"results": ', refused="not readable as JSON"),
    Messy("not_a_zip.eval", b"hello", refused="not an Inspect log"),
)
