"""One contract for every provider: counts as the service gives them, failures named, connections closed."""

import asyncio
import inspect
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from mensura.llm import Question, Settings, endpoint, providers
from mensura.llm.endpoint import EndpointProvider, open_endpoint
from mensura.llm.protocol import CallError, Reply, Trouble
from mensura.llm.providers import InspectProvider, RecordedProvider, read_recording

TEXT, TOKENS = '{"level": 3}', (12, 3)
FAILURES = {"busy": Trouble.BUSY, "broken": Trouble.PASSING, "dropped": Trouble.PASSING, "long": Trouble.QUESTION}


def direct(url, _folder):
    return EndpointProvider(open_endpoint("mine", url, 5.0)[0], Settings("mine"))


def through_inspect(url, _folder):
    pytest.importorskip("inspect_ai", reason="the extra llm is not installed")
    pytest.importorskip("openai", reason="the extra llm is not installed")
    return InspectProvider(Settings("openai-api/local/mine"), base_url=url, timeout=5.0, concurrency=4, batch=False)


def recorded(_url, folder):
    (folder / "told.csv").write_text(
        f'item,answer,tokens_in,tokens_out\nplain,"{TEXT.replace(chr(34), chr(34) * 2)}",12,3\n'
    )
    return RecordedProvider(read_recording(f"recorded/{folder}/told.csv"))


class WrongCounts(EndpointProvider):
    """A senseless provider: it counts twice the tokens."""

    async def complete(self, question):
        reply = await super().complete(question)
        return replace(reply, tokens_out=2 * reply.tokens_out)


class Swallowing(EndpointProvider):
    """A senseless provider: a failed call is an empty answer."""

    async def complete(self, question):
        try:
            return await super().complete(question)
        except CallError:
            return Reply("", 0, 0)


class Confusing(EndpointProvider):
    """A senseless provider: every failure is one of the question."""

    async def complete(self, question):
        try:
            return await super().complete(question)
        except CallError as failure:
            raise CallError(Trouble.QUESTION, failure.message) from None


class NeverClosing(EndpointProvider):
    """A senseless provider: it keeps its connections."""

    async def close(self):
        pass


PROVIDERS = {
    EndpointProvider: pytest.param(direct, FAILURES, id="direct"),
    InspectProvider: pytest.param(
        through_inspect,
        FAILURES,
        id="inspect",
        marks=[pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")],
    ),
    RecordedProvider: pytest.param(recorded, {"busy": Trouble.MISSING}, id="recorded"),
}
"""Every provider: how a test makes one, and what the words of a question mean for it."""


@pytest.fixture
def served(serve, monkeypatch):
    """A server whose questions say what goes wrong with them, with and without the right key."""
    monkeypatch.setenv("LOCAL_API_KEY", "a-key-for-tests-0123")
    server = serve(answer=lambda *_: TEXT)
    plain = server.completion
    usage = {"prompt_tokens": TOKENS[0], "completion_tokens": TOKENS[1], "total_tokens": sum(TOKENS)}
    server.completion = lambda request: {**plain(request), "usage": usage}
    server.faults.kind = lambda prompt, _time: prompt if prompt in FAILURES else ""
    server.refuse = lambda prompt: prompt == "long"
    return server, serve(key="another-key-0123456789")


async def keep_the_contract(make, failures, served, folder):
    """Assert all that the queue relies on."""
    server, locked = served
    provider = make(server.url, folder)
    reply = await provider.complete(Question("plain", about={"item": "plain"}))
    assert (reply.text, reply.tokens_in, reply.tokens_out) == (TEXT, *TOKENS), "counts are those of the service"
    for prompt, trouble in failures.items():
        with pytest.raises(CallError) as failure:
            await provider.complete(Question(prompt, about={"item": prompt}))
        assert failure.value.trouble is trouble, f"{prompt}: {failure.value.trouble}"
        assert failure.value.message
        sent = server.log.requests[prompt]
        assert sent == (failures is FAILURES), f"{prompt}: sent {sent} times; the queue alone tries again"
    await provider.close()
    until = time.monotonic() + 2
    while server.connections and time.monotonic() < until:
        await asyncio.sleep(0.01)
    assert not server.connections, "close closes the connections"
    if failures is FAILURES:
        refused = make(locked.url, folder)
        with pytest.raises(CallError) as failure:
            await refused.complete(Question("plain"))
        assert failure.value.trouble is Trouble.FATAL, "a wrong key stops everything"
        await refused.close()


@pytest.mark.parametrize(("make", "failures"), PROVIDERS.values())
def test_a_provider_keeps_the_contract(make, failures, served, tmp_path):
    asyncio.run(keep_the_contract(make, failures, served, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("senseless", [WrongCounts, Swallowing, Confusing, NeverClosing])
def test_a_senseless_provider_breaks_the_contract(senseless, served, tmp_path):
    endpoints = []

    def make(url, _folder):
        endpoints.append(open_endpoint("mine", url, 5.0)[0])
        return senseless(endpoints[-1], Settings("mine"))

    async def tried():
        try:
            await keep_the_contract(make, FAILURES, served, tmp_path)
        finally:
            await asyncio.gather(*(one.close() for one in endpoints))

    with pytest.raises((AssertionError, pytest.fail.Exception)):
        asyncio.run(tried())


def test_every_provider_is_in_the_table():
    classes = {
        made
        for module in (endpoint, providers)
        for _, made in inspect.getmembers(module, inspect.isclass)
        if hasattr(made, "complete") and hasattr(made, "close") and made.__module__.startswith("mensura.llm.")
    }
    assert classes == set(PROVIDERS)


def output(completion="3", *, stop="stop", error=None, usage=(5, 2)):
    """An output as inspect-ai gives it."""
    counts = usage and SimpleNamespace(input_tokens=usage[0], output_tokens=usage[1])
    return SimpleNamespace(completion=completion, stop_reason=stop, error=error, usage=counts)


def test_an_output_of_inspect_is_a_reply_or_an_error_of_its_question():
    assert providers._reply(output()) == Reply("3", 5, 2, False, "")
    assert providers._reply(output(usage=None)) == Reply("3", None, None)
    assert [providers._reply(output(stop=stop)).cut for stop in ("max_tokens", "model_length", "stop")] == [
        *(True, True, False)
    ]
    assert providers._reply(output(stop="content_filter")).withheld == "filtered"
    for stop, message in (("stop", "x" * 300), ("content_filter", f"{endpoint.FILTERED} ({'x' * 300})")):
        with pytest.raises(CallError) as failure:
            providers._reply(output(stop=stop, error="x" * 301))
        assert (failure.value.trouble, failure.value.message) == (Trouble.QUESTION, message)


class ServiceError(Exception):
    """An error of a provider's package, with its status."""

    def __init__(self, message="why", status=None):
        super().__init__(message)
        self.status_code = status


class RetryError(Exception):
    """What retries of other packages raise."""

    def __init__(self, cause):
        super().__init__("wrapped")
        self.last_attempt = SimpleNamespace(exception=lambda: cause)


def failure_of(fault, *, decision=None, batch=False):
    """What a failed call through inspect-ai means, where its own advice is ``decision``."""
    provider = InspectProvider.__new__(InspectProvider)
    provider._name, provider._batch = "m", batch
    provider._model = SimpleNamespace(api=SimpleNamespace(should_retry=lambda _: decision))
    failure = provider._failure(fault)
    return failure.trouble, failure.message, failure.wait, failure.billed


def test_a_failure_through_inspect_is_judged_by_its_status_and_inspects_advice():
    for status, words in ((401, "the key is missing or wrong"), (402, "no credit"), (403, "may not use this model")):
        trouble, message, _, billed = failure_of(ServiceError(status=status))
        assert (trouble, billed) == (Trouble.FATAL, False) and words in message and "(ServiceError: why)" in message
    gone = "there is no such model, or the account has no credit"
    for fault in (ServiceError(status=404), RetryError(RetryError(ServiceError(status=404)))):
        assert failure_of(fault)[:2] == (Trouble.FATAL, f"{gone} (ServiceError: why)")
    spent = failure_of(ServiceError("insufficient_quota", 429))
    assert spent[:2] == (Trouble.FATAL, f"{gone} (ServiceError: insufficient_quota)")
    why, busy = "ServiceError: why", SimpleNamespace(kind="rate_limit", retry_after=7.0)
    assert failure_of(ServiceError(status=500)) == (Trouble.QUESTION, why, None, False)
    assert failure_of(ServiceError()) == (Trouble.QUESTION, why, None, True)
    assert failure_of(ServiceError(status=500), batch=True, decision=True) == (Trouble.QUESTION, why, None, True)
    assert failure_of(ServiceError(status=429), decision=busy) == (Trouble.BUSY, why, 7.0, False)
    assert failure_of(ServiceError(status=500), decision=True) == (Trouble.PASSING, why, None, True)
    _, long, _, _ = failure_of(ServiceError(f"a\n {'x' * 400}"))
    assert long == f"ServiceError: a {'x' * 283}"


def test_why_a_model_cannot_be_opened_is_said_in_inspects_words():
    words = providers._hindrance(RuntimeError("ERROR: [bold]No key:[/bold]\n\nset it"))
    assert words == "No key: set it"
    assert providers._hindrance(ValueError("unknown")).startswith("unknown Names are openai/NAME, anthropic/NAME")
    assert str(providers._cause(KeyboardInterrupt("x"))) == "x"


def test_a_question_without_a_schema_adds_nothing():
    assert providers._schema_option(Question("p")) == {}
