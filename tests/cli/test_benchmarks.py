"""``mensura benchmarks``: what a score on each counts for."""

import json

import polars as pl


def test_the_benchmarks_of_the_iq_are_listed_with_their_dimension(mensura_command, tmp_path):
    listed = json.loads(mensura_command("benchmarks", "--json").out)["benchmarks"]
    iq = [row for row in listed if row["counts_for"] == "IQ"]
    assert (len(listed), len(iq), len({row["dimension"] for row in iq})) == (44, 32, 7)
    assert listed[:32] == iq
    found = {row["benchmark"]: row for row in listed}
    assert (found["aime_2025"]["counts_for"], found["aime_2025"]["models"]) == ("IQ (few scores)", 29)
    assert "(now 4)" in found["osworld_2"]["because"]
    assert found["arena_overall"]["because"] == "a diagnostic test of emotional-reasoning, never part of the IQ"
    assert found["attunebench"]["counts_for"] == "neither"
    assert found["hle"]["newest"] == "2026-10-07"
    assert mensura_command("benchmarks", "--out", tmp_path / "out").code == 0
    assert pl.read_csv(tmp_path / "out" / "benchmarks.csv").height == 44


def test_a_search_reads_names_as_people_write_them(mensura_command):
    found = json.loads(mensura_command("benchmarks", "--search", "SWE-bench", "--json").out)["benchmarks"]
    assert [row["benchmark"] for row in found] == ["swe_bench_verified", "swe_bench_pro"]
    none = mensura_command("benchmarks", "--search", "nosuch")
    assert (none.code, "no benchmark has 'nosuch'" in none.err) == (2, True)


def test_a_benchmark_of_ones_own_is_listed(mensura_command, tmp_path):
    mine = tmp_path / "mine.csv"
    mine.write_text("model,benchmark,score,unit\ngpt-5.5,my-test,50,percent\n", encoding="utf-8")
    found = json.loads(mensura_command("benchmarks", "--search", "my-test", "--add", mine, "--json").out)["benchmarks"]
    assert [(row["counts_for"], row["models"]) for row in found] == [("neither", 1)]
