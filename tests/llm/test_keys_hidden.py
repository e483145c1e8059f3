"""A key is in no journal, error, export or output, even when a server throws it back."""

import logging

import pytest

from mensura.core.errors import MensuraError
from mensura.llm import Question, open_asker, write_audit
from tests.llm.conftest import questions, read_level

pytestmark = pytest.mark.slow

KEY = "sk-test-4f1b2c3d4e5f6a7b8c9d"


def everything_in(folder) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def unpacked(journal, tmp_path) -> str:
    write_audit(journal, tmp_path / "audit.csv")
    write_audit(journal, tmp_path / "audit.html")
    return (tmp_path / "audit.csv").read_text() + (tmp_path / "audit.html").read_text()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of inspect-ai's own dependencies
@pytest.mark.parametrize("interface", ["direct", "inspect"])
def test_a_server_that_echoes_the_key_reveals_it_nowhere(serve, tmp_path, monkeypatch, caplog, capfd, interface):
    if interface == "inspect":
        pytest.importorskip("inspect_ai")
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("LOCAL_API_KEY", KEY)
    journal = tmp_path / "j.sqlite"
    server = serve(key=KEY, answer=lambda prompt, _: f'{{"level": 1, "why": "your key is {KEY}"}}')
    settings = {"journal": journal, "base_url": server.url, "interface": interface}
    with open_asker("openai-api/local/mine", **settings) as asker:
        answers = asker.ask([Question(f"I hold {KEY}.", about={"item": KEY}), *questions(2)], read_level)
    assert [answer.rationale for answer in answers] == ["your key is [key]"] * 3
    server.key = "another-key-0123456789"
    with open_asker("openai-api/local/mine", **settings) as asker, pytest.raises(MensuraError) as told:
        asker.ask(questions(5), read_level)
    assert "[key]" in str(told.value)
    shown = capfd.readouterr()
    chain = [told.value, told.value.__cause__, told.value.__context__]
    seen = [repr(chain), unpacked(journal, tmp_path), caplog.text, shown.out, shown.err]
    assert all(KEY not in text for text in seen)
    assert KEY.encode() not in everything_in(tmp_path)


def test_a_key_in_the_address_is_not_shown(tmp_path, monkeypatch):
    monkeypatch.setattr("mensura.llm.pacing.MOST_ATTEMPTS", 1)
    url = f"http://user:{KEY}@127.0.0.1:9/v1"
    with open_asker("mine", journal=tmp_path / "j.sqlite", base_url=url) as asker:
        (answer,) = asker.ask(questions(1), read_level)
    assert "http://127.0.0.1:9/v1" in answer.error
    assert KEY not in answer.error + unpacked(tmp_path / "j.sqlite", tmp_path)
