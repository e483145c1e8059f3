"""Bars: on a terminal, on the stream of errors, gone when the work is done; silent in a pipe."""

import pytest

from mensura.cli.asking import asking_bar
from mensura.cli.progress import progress_bar
from mensura.llm import Standing


def work():
    with progress_bar("worlds", 3) as advance:
        for _ in range(3):
            advance()


def ask():
    with asking_bar("asking") as advance:
        advance(Standing(done=3, total=3, stored=0, failed=0, cost=0.5, rate=2.0, seconds_left=None))


@pytest.mark.parametrize(("run", "words"), [(work, ("worlds", "3/3")), (ask, ("asking", "3/3", "2.0/s · $0.50"))])
def test_a_bar_is_drawn_on_a_terminal_and_cleared_in_the_end(run, words, monkeypatch, capsys):
    run()
    assert "".join(capsys.readouterr()).strip() == ""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1")
    run()
    shown = capsys.readouterr()
    assert shown.out == ""
    assert [word for word in words if word not in shown.err] == []
    assert shown.err.endswith("\x1b[2K")
