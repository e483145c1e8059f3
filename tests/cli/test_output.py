"""Bars: on a terminal, on the stream of errors, gone when the work is done; silent in a pipe."""

import io
import sys
import time

import pytest

from mensura.cli import main, output
from mensura.cli.asking import asking_bar
from mensura.cli.output import console, print_json, progress_bar, waiting
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
    be_a_terminal(monkeypatch)
    run()
    shown = capsys.readouterr()
    assert shown.out == ""
    assert [word for word in words if word not in shown.err] == []
    assert shown.err.endswith("\x1b[2K")


def be_a_terminal(monkeypatch):
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm-256color", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)


class Screen(io.StringIO):
    """What a terminal gets, from both streams in turn."""

    def wait_for(self, text, *, after=0):
        for _ in range(2000):
            if text in self.getvalue()[after:]:
                return
            time.sleep(0.01)
        raise AssertionError(f"{text} never came")


def run_silently(monkeypatch, command):
    """Run ``command`` as ``mensura where`` on a terminal that loses its patience at once; return what it got."""
    screen = Screen()
    be_a_terminal(monkeypatch)
    monkeypatch.setattr(output, "SILENCE", 0.01)
    monkeypatch.setattr(sys, "argv", ["mensura", "where"])
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(main, "run", lambda _: command(screen))
    main.main()
    return screen.getvalue()


@pytest.mark.parametrize("answer", [lambda: console.print("the answer"), lambda: print_json({"the answer": 42})])
def test_every_silent_command_shows_a_bar_that_goes_before_the_answer(monkeypatch, answer):
    def slow(screen):
        screen.wait_for("mensura where ━")
        answer()

    before, _, after = run_silently(monkeypatch, slow).partition("the answer")
    assert before.endswith(("\x1b[2K", '\x1b[2K{"'))
    assert "mensura where" not in after


def test_the_bar_comes_back_when_a_command_is_silent_again(monkeypatch):
    def slow_twice(screen):
        screen.wait_for("━")
        console.print("half")
        screen.wait_for("━", after=len(screen.getvalue()))

    assert run_silently(monkeypatch, slow_twice).endswith("\x1b[2K")


def test_a_bar_with_a_count_stands_alone(monkeypatch):
    def counted(screen):
        screen.wait_for("mensura where ━")
        with progress_bar("worlds", 3):
            screen.wait_for("worlds")
            seen = len(screen.getvalue())
            time.sleep(0.2)
            assert "mensura where" not in screen.getvalue()[seen:]

    run_silently(monkeypatch, counted)


def test_a_server_and_a_question_show_no_bar(monkeypatch):
    def serve(screen):
        with waiting.paused():
            time.sleep(0.2)

    assert "mensura" not in run_silently(monkeypatch, serve)
