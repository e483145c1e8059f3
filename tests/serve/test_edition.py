"""Reading the live site: conditional requests, packed bodies, stamps, and what is not there."""

import base64
import gzip
import hashlib

import pytest
from starlette.testclient import TestClient

from mensura.serve import LiveEdition, SiteRenewal, find_origin, live_app
from mensura.serve.edition import HeldFile, accepts_gzip, names_tag
from tests.serve.conftest import small_edition


def test_the_root_is_the_overview_and_every_file_has_its_path(reader):
    assert reader.get("/").text == reader.get("/index.html").text
    assert "<title>first</title>" in reader.get("/").text
    assert reader.get("/models/a.html").headers["content-type"] == "text/html; charset=utf-8"
    assert reader.get("/api/v1/models.json").json() == {"version": "v1", "models": []}
    assert reader.get("/data/scores.parquet").headers["content-type"] == "application/octet-stream"


def test_every_answer_names_its_evidence_version(reader):
    tag = reader.get("/").headers["etag"]
    for answer in (reader.get("/"), reader.get("/nowhere"), reader.get("/", headers={"if-none-match": tag})):
        assert answer.headers["mensura-evidence"] == "aaaa"


def test_who_has_the_file_is_told_so_without_a_body(reader):
    first = reader.get("/")
    again = reader.get("/", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    assert "content-type" not in again.headers
    listed = reader.get("/", headers={"if-none-match": f'"other", W/{first.headers["etag"]}'})
    assert listed.status_code == 304
    assert reader.get("/", headers={"if-none-match": "*"}).status_code == 304
    assert reader.get("/", headers={"if-none-match": '"other"'}).status_code == 200


def test_the_policy_of_a_page_names_its_own_style_sheet():
    """The sheet of the first page differs from build to build: a policy with a fixed hash once refused it."""
    sheet = ".wide{width:9em}" * 30
    page = HeldFile.of("index.html", f"<style>{sheet}</style><p>here".encode())
    digest = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
    renewal = SiteRenewal(find_origin(None))
    renewal.publish(LiveEdition("aaaa", {**small_edition().files, "index.html": page}))
    reader = TestClient(live_app(renewal))
    for coding in ("gzip", "identity"):
        first = reader.get("/", headers={"accept-encoding": coding})
        again = reader.get("/", headers={"accept-encoding": coding, "if-none-match": first.headers["etag"]})
        assert again.status_code == 304
        for answer in (first, again):
            assert f"style-src 'self' 'sha256-{digest}';" in answer.headers["content-security-policy"]
            assert len(answer.headers.get_list("content-security-policy")) == 1
    assert "style-src 'self';" in reader.get("/models/a.html").headers["content-security-policy"]


def test_bodies_are_packed_for_those_who_take_them_and_each_form_has_its_own_tag(reader):
    packed = reader.get("/", headers={"accept-encoding": "gzip"})
    plain = reader.get("/", headers={"accept-encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.content == plain.content
    assert int(packed.headers["content-length"]) < int(plain.headers["content-length"]) == len(plain.content)
    assert packed.headers["etag"] != plain.headers["etag"]
    assert packed.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"
    assert (
        reader.get("/", headers={"accept-encoding": "gzip", "if-none-match": plain.headers["etag"]}).status_code == 200
    )
    assert "content-encoding" not in reader.get("/data/scores.parquet").headers, "packing would make it larger"


def test_a_packed_body_is_the_file():
    file = small_edition().files["index.html"]
    assert gzip.decompress(file.packed.body) == file.plain.body
    digits = hashlib.sha256(file.plain.body).hexdigest()[:32]
    assert (file.plain.tag, file.packed.tag) == (f'"{digits}"'.encode(), f'"{digits}-gzip"'.encode())


@pytest.mark.parametrize(
    ("header", "taken"),
    [
        (b"gzip", True),
        (b"deflate, gzip;q=0.5, br", True),
        (b"GZIP", True),
        (b"*", True),
        (b"gzip;q=0, *", False),
        (b"gzip; q=0.000", False),
        (b"gzip;q=nonsense", False),
        (b"identity", False),
        (b"br", False),
        (b"", False),
        (b"\xff\xfe;;;,,,=", False),
    ],
)
def test_accept_encoding_is_read_as_written(header, taken):
    assert accepts_gzip(header) is taken


def test_of_a_header_a_thousand_letters_are_read():
    """What stands beyond is not understood: no visitor keeps the server busy with a long one."""
    assert accepts_gzip(b"x" * 995 + b",gzip")
    assert not accepts_gzip(b"x" * 996 + b",gzip")
    tag = b'"tag"'
    assert names_tag(b'"' + b"x" * 992 + b'",' + tag, tag)
    assert not names_tag(b'"' + b"x" * 993 + b'",' + tag, tag)


def test_a_head_request_gets_the_headers_of_a_get(reader):
    got, asked = reader.get("/"), reader.head("/")
    assert asked.content == b""
    assert {**asked.headers} == {**got.headers}
    assert reader.head("/nowhere").status_code == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
@pytest.mark.parametrize("path", ["/", "/api/v1/models.json", "/nowhere"])
def test_nothing_can_be_written(reader, method, path):
    answer = reader.request(method, path)
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize(
    "path",
    [
        "/nowhere.html",
        "/models",
        "/models/",
        "/../../etc/passwd",
        "/models/../../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/models/..%2f..%2fetc%2fpasswd",
        "/static/state.js%00.html",
        "/index.html/",
        "/.mensura.json",
    ],
)
def test_what_is_no_file_of_the_site_is_not_found(reader, path):
    answer = reader.get(path)
    assert answer.status_code == 404
    assert answer.text == "There is no such page.\n"


def test_stamped_addresses_are_kept_for_ever_and_others_asked_again(renewal, reader):
    stamp = renewal.current.stamp
    kept = reader.get(f"/static/state.js?v={stamp}")
    assert kept.headers["cache-control"] == "public, max-age=31536000, immutable"
    for query in ("", "?w=1", "?"):
        assert reader.get(f"/static/state.js{query}").headers["cache-control"] == "no-cache"
    missing = reader.get("/static/state.js?v=0000-0.0.0")
    assert (missing.status_code, missing.headers["cache-control"]) == (404, "no-store")


def test_a_page_that_is_being_read_finds_its_scripts_after_a_swap(renewal, reader):
    old = renewal.current.stamp
    renewal.publish(small_edition("bbbb", "second"))
    assert "second" in reader.get("/").text
    assert "second" in reader.get(f"/static/state.js?v={renewal.current.stamp}").text
    kept = reader.get(f"/static/state.js?v={old}")
    assert "first" in kept.text
    assert kept.headers["mensura-evidence"] == "aaaa"
    renewal.publish(small_edition("cccc", "third"))
    assert reader.get(f"/static/state.js?v={old}").status_code == 404, "two editions are kept, no more"


def test_before_the_first_edition_readers_are_told_when_to_come_back():
    reader = TestClient(live_app(SiteRenewal(find_origin(None))))
    answer = reader.get("/")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert reader.get("/healthz").status_code == 503
    assert reader.get("/healthz").json() == {"status": "starting", "evidence": None}
