"""How options are declared: paths are checked, and a mistyped option is answered with the right one."""

import pytest

from mensura.cli.options import check_input, check_output
from mensura.core.errors import MensuraError


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["stitch", "--ridge", "5"], "--ridge: no such option; write --set ridge=VALUE"),
        (["stitch", "--rigde", "5"], "--rigde: no such option; write --set ridge=VALUE"),
        (["stitch", "--anchr", "a=1"], "--anchr: no such option; did you mean --anchor?"),
        (["iq", "--model", "gpt-5"], "--model: no such option; write the model alone, as a word of its own"),
        (["extrapolate", "example", "--base-url=http://localhost"], "write --set base_url=VALUE"),
        (["responses", "read", "a.csv", "--no-header"], "write --set header=false"),
    ],
)
def test_an_option_that_is_mistyped_is_refused_with_the_right_one(words, hint, mensura_command):
    run = mensura_command(*words)
    assert run.code == 2
    assert hint in " ".join(run.err.split())


def test_a_file_to_read_must_be_there_and_an_address_is_left_to_its_reader(tmp_path):
    assert check_input([tmp_path]) == [tmp_path]
    assert check_input("https://example.org/a.csv") == "https://example.org/a.csv"
    with pytest.raises(MensuraError, match=r"none.csv: no such file or folder; check the path"):
        check_input([tmp_path, tmp_path / "none.csv"])


def test_a_place_to_write_may_be_new_but_not_below_a_file_or_a_dead_link(tmp_path):
    assert check_output(tmp_path / "new" / "deep") == tmp_path / "new" / "deep"
    (tmp_path / "file").touch()
    with pytest.raises(MensuraError, match="file is a file, so nothing can be written below it"):
        check_output(tmp_path / "file" / "below")
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    with pytest.raises(MensuraError, match="link: a link that leads nowhere"):
        check_output(tmp_path / "link")


def test_an_option_that_counts_once_is_refused_when_given_twice(mensura_command):
    run = mensura_command("scale", "--iq", "100", "--iq=110")
    assert (run.code, "--iq: given 2 times; expected once." in " ".join(run.err.split())) == (2, True)
