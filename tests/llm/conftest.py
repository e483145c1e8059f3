"""A model of ours to ask, a reader, and questions."""

import json
import subprocess
import sys
from contextlib import contextmanager

import pytest

from mensura.llm import AnswerReading, Prices, Question, UnreadableError, open_asker
from tests.llm.server import ChatServer, Faults, serving


def read_level(text: str) -> AnswerReading:
    try:
        told = json.loads(text)
        return AnswerReading(told["level"], told["why"])
    except (ValueError, KeyError, TypeError):
        raise UnreadableError("no level") from None


def questions(count: int, word: str = "item") -> list[Question]:
    return [Question(f"How hard is {word} {number}?", about={"item": f"{word}{number}"}) for number in range(count)]


@contextmanager
def locked_elsewhere(path):
    """Let another process hold the lock of a journal; killed in the end, it gives the lock up."""
    code = "import sys\nfrom mensura.llm import Journal\nJournal(sys.argv[1]).lock()\nprint(flush=True)\ninput()\n"
    other = subprocess.Popen([sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    other.stdout.readline()
    try:
        yield
    finally:
        other.kill()
        other.communicate()


@pytest.fixture
def serve():
    """Start servers that end with the test: ``serve(busy=0.1)`` returns one that misbehaves so."""
    from contextlib import ExitStack

    with ExitStack() as stack:

        def start(*, answer=None, key=None, most_at_once=None, usage=True, **faults) -> ChatServer:
            more = {} if answer is None else {"answer": answer}
            server = ChatServer(Faults(**faults), key=key, most_at_once=most_at_once, usage=usage, **more)
            return stack.enter_context(serving(server))

        yield start


@pytest.fixture
def journal(serve, tmp_path):
    """A journal of two models: four answers, one of them unreadable, a failure, and a hostile question."""
    server = serve(answer=lambda prompt, _: "no level" if "item 3?" in prompt else '{"level": 2, "why": "<b>two</b>"}')
    server.refuse = lambda prompt: "item 4?" in prompt
    path = tmp_path / "j.sqlite"
    with open_asker("mine", journal=path, base_url=server.url, prices=Prices(1, 10)) as asker:
        asker.ask(questions(5), read_level)
    with open_asker("other", journal=path, base_url=server.url, temperature=0.5) as asker:
        asker.ask([Question("<script>alert(1)</script>", system="S", about={"item": "x"})], read_level)
    return path
