"""Annotating over HTTP: an OpenAI-compatible endpoint on this machine, and a second run that asks nothing."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import SimpleNamespace

import polars as pl
import pytest

from tests.demands.conftest import CODES, answering, by_text


def about_of(body):
    """What the question is about, read off the request, as only this test needs to know it."""
    shape = body.get("response_format", {}).get("json_schema", {}).get("schema", {}).get("properties", {})
    return {"protocol": "bundle" if "items" in shape else "item", "dimensions": " ".join(CODES)}


@pytest.fixture
def endpoint():
    """A server that annotates by the length of the text; it keeps the requests it was sent."""
    requests = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            requests.append(body)
            prompt = body["messages"][-1]["content"]
            text = answering(by_text)(SimpleNamespace(prompt=prompt, about=about_of(body), repeat=0))
            reply = json.dumps(
                {
                    "id": "x",
                    "object": "chat.completion",
                    "model": body["model"],
                    "choices": [
                        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
                    ],
                    "usage": {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150},
                }
            ).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_):
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1", requests
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(("protocol", "calls"), [("bundle", 1), ("item", 16)])
def test_annotate_over_an_endpoint_and_again_from_the_journal(mensura_command, tmp_path, endpoint, protocol, calls):
    url, requests = endpoint
    arguments = ["annotate", "example", "--model", "local", "--set", f"base_url={url}", "--protocol", protocol]
    arguments += [
        word
        for one in (f"journal={tmp_path / 'journal.sqlite'}", "price_in=1", "price_out=2")
        for word in ("--set", one)
    ]
    first = mensura_command(*arguments, "--out", tmp_path / "first")
    assert first.code == 0, first.err
    assert len(requests) == calls
    assert all(request["temperature"] == 0 and request["max_tokens"] >= 500 for request in requests)
    assert "response_format" in requests[0]
    demands = pl.read_csv(tmp_path / "first" / "demands.csv")
    assert demands.height == 16 * 18
    assert set(demands["annotator"]) == {"local"}
    second = mensura_command(*arguments, "--json")
    assert len(requests) == calls
    found = json.loads(second.out)
    assert (found["calls"], found["stored"], found["cost"]) == (0, calls, 0)
    assert pl.DataFrame(found["demands"])["level"].to_list() == demands["level"].to_list()
