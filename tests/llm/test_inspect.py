"""The same promises through inspect-ai's own providers."""

import pytest

from mensura.core.errors import MensuraError
from mensura.llm import Question, open_asker
from tests.llm.conftest import questions, read_level
from tests.llm.server import level_answer

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of its own dependencies
    pytest.mark.slow,
]


@pytest.fixture(autouse=True)
def needs_inspect():
    """Import the library where it is used: the other processes of a test run need not."""
    pytest.importorskip("inspect_ai", reason="the extra llm is not installed")
    pytest.importorskip("openai", reason="the extra llm is not installed")


@pytest.fixture
def through(monkeypatch, tmp_path):
    monkeypatch.setenv("LOCAL_API_KEY", "a-key-for-inspect-0123")

    def settings(server, **more):
        return {"journal": tmp_path / "j.sqlite", "base_url": server.url, "interface": "inspect", **more}

    return settings


def test_faults_are_outlived_and_every_request_is_counted(serve, through):
    server = serve(busy=0.1, busy_wait=0.02, broken=0.1, dropped=0.05)
    asked = questions(40)
    with open_asker("openai-api/local/mine", **through(server)) as asker:
        answers = asker.ask(asked, read_level)
        assert asker.calls == sum(server.log.requests.values()) > 40
    assert [answer.value for answer in answers] == [read_level(level_answer(q.prompt, {})).value for q in asked]
    assert set(server.log.answers.values()) == {1}
    assert answers[0].tokens_out > 0
    with open_asker("openai-api/local/mine", **through(server, interface="direct")) as asker:
        assert all(answer.stored for answer in asker.ask(asked, read_level)), "the way there is not part of the key"


def test_messages_schema_and_temperature_arrive_and_no_tools(serve, through):
    server = serve()
    schema = {
        "type": "object",
        "properties": {"level": {"type": "integer"}, "why": {"type": "string"}},
        "required": ["level", "why"],
        "additionalProperties": False,
    }
    asked = Question("How hard?", system="You judge.", schema=schema)
    with open_asker("openai-api/local/mine", **through(server, max_tokens=33)) as asker:
        (answer,) = asker.ask([asked], read_level)
    (body,) = server.log.bodies
    assert answer.error == ""
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert body["temperature"] == 0.0
    assert body["max_tokens"] == 33
    assert "tools" not in body
    sent = body["response_format"]["json_schema"]["schema"]
    assert sent["required"] == ["level", "why"]
    assert sent["properties"]["level"]["type"] == "integer"


def test_a_wrong_key_and_an_unknown_provider_say_so(serve, through, tmp_path):
    server = serve(key="the-right-key-0123456789")
    with open_asker("openai-api/local/mine", **through(server)) as asker, pytest.raises(MensuraError, match="key is"):
        asker.ask(questions(20), read_level)
    assert sum(server.log.requests.values()) == 0
    with pytest.raises(MensuraError, match=r"nobody/mine: cannot be opened: Model API nobody .* Names are openai/NAME"):
        open_asker("nobody/mine", journal=tmp_path / "j.sqlite")


@pytest.mark.parametrize("name", ["openai/mine", "grok/mine"])
def test_a_missing_key_or_package_is_said_without_the_marks_of_a_terminal(name, monkeypatch, tmp_path):
    for variable in ("OPENAI_API_KEY", "AZUREAI_OPENAI_API_KEY", "XAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(MensuraError, match=f"^{name}: cannot be opened: ") as told:
        open_asker(name, journal=tmp_path / "j.sqlite")
    assert not set("[]\n") & set(str(told.value))
    assert "ERROR" not in str(told.value)
    assert not (tmp_path / "j.sqlite").exists()


def test_names_of_inspect_ai_find_their_address_in_its_variables(serve, monkeypatch, tmp_path):
    server = serve()
    monkeypatch.setenv("OLLAMA_BASE_URL", server.url)
    with open_asker("ollama/mine", journal=tmp_path / "j.sqlite") as asker:
        (answer,) = asker.ask(questions(1), read_level)
    assert answer.value == read_level(level_answer(questions(1)[0].prompt, {})).value
    assert server.log.bodies[0]["model"] == "mine"
