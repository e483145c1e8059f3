"""The rules of the method as data: read from a file a user can copy, edit and give back."""

import pytest

import mensura
from mensura.iq import read_rules
from mensura.iq.rules import DATA


def test_rank_status_follows_the_share_measured():
    status = read_rules().status
    assert [status.of(share / 32, composite=True) for share in (32, 24, 23, 8, 7, 0)] == [
        *("Full", "Full", "Partial", "Partial", "Provisional", "Provisional")
    ]
    assert status.of(1.0, composite=False) == "Unranked"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("band = 4.0", "bond = 4.0"), "dimension.bond = 4.0: Unexpected keyword argument"),
        (("band = 4.0", 'band = "wide"'), "dimension.band = 'wide': Input should be a valid number"),
        (("band = 4.0", "band = -1.0"), "dimension.band = -1.0: Input should be greater than or equal to 0"),
        (("band = 4.0", ""), "dimension.band: Field required"),
        (("[peers]\npercentile = 25", "[peers]\npercentile = 125"), "peers.percentile = 125: Input should be less"),
        (('method = "joint"', 'method = "magic"'), "method = 'magic': Input should be 'waterfall' or 'joint'"),
        (("full = 0.75", "full = 75"), "status.full = 75: Input should be less than or equal to 1"),
        (("[status]", "[statuses]"), "status: Field required"),
        (("[status]", "[status"), "not a readable TOML file"),
        (("band = 4.0", "band = nan"), "dimension.band = nan: Input should be"),
        (("comparable = 3", "comparable = 0"), "dimension.comparable = 0: Input should be greater than or equal to 1"),
        (
            ("[dimensions.reliability]", '[dimensions."../reliability"]'),
            "dimensions: got '../reliability'; expected an id",
        ),
        (("zeros_suffice = false", "zeros_suffice = 1"), "zeros_suffice = 1: Input should be a valid boolean"),
        (("comparable = 3", "comparable = true"), "dimension.comparable = True: Input should be a valid integer"),
    ],
)
def test_bad_rules_are_refused(tmp_path, change, message):
    text = (DATA / "rules.toml").read_text(encoding="utf-8").replace(*change)
    (tmp_path / "bad.toml").write_text(text, encoding="utf-8")
    with pytest.raises(mensura.MensuraError) as fault:
        read_rules(tmp_path / "bad.toml")
    assert message in str(fault.value)
    assert "bad.toml" in str(fault.value)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("full = 0.75", "full = 1.0"),
        ("band = 4.0", "band = 0.0"),
        ("[peers]\npercentile = 25", "[peers]\npercentile = 100"),
    ],
)
def test_settings_may_lie_at_the_ends_of_their_range(tmp_path, before, after):
    text = (DATA / "rules.toml").read_text(encoding="utf-8")
    assert before in text
    (tmp_path / "mine.toml").write_text(text.replace(before, after), encoding="utf-8")
    assert read_rules(tmp_path / "mine.toml") != read_rules()


def test_a_block_that_is_no_block_is_refused(tmp_path):
    text = (DATA / "rules.toml").read_text(encoding="utf-8")
    cut = text[: text.index("[peers]")] + text[text.index("[", text.index("[peers]") + 7) :]
    (tmp_path / "bad.toml").write_text("peers = 3\n" + cut, encoding="utf-8")
    with pytest.raises(mensura.MensuraError, match="peers = 3: Input should be a dictionary"):
        read_rules(tmp_path / "bad.toml")


def test_every_rule_is_documented():
    import tomllib
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs" / "iq.md").read_text(encoding="utf-8")
    blocks = tomllib.loads((DATA / "rules.toml").read_text(encoding="utf-8"))
    blocks["dimensions"] = next(iter(blocks["dimensions"].values()))
    missing = [f"{block}.{name}" for block, settings in blocks.items() for name in settings if f"`{name}`" not in page]
    assert missing == []
