"""The whole report, live: paths and bytes of the folder, the interface against its schema, pages in a browser."""

import json

import jsonschema
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from starlette.testclient import TestClient

from mensura.serve import LiveEdition, SiteRenewal, find_origin, live_app
from mensura.site.api import openapi_document
from tests.serve.conftest import fetch_all, listening

pytestmark = pytest.mark.slow

PATIENCE = 120  # seconds to wait for anything on a page: a busy machine is no fault of the page


@pytest.fixture(scope="module")
def edition(report):
    return LiveEdition.from_folder(report, "abcd")


@pytest.fixture(scope="module")
def live(edition):
    return app_of(edition)


def app_of(edition):
    """The application that shows the report of all tests; one serves a single event loop."""

    async def build(origin, scratch, shown):
        return edition

    renewal = SiteRenewal(find_origin(None), build=build)
    renewal.publish(edition)
    return live_app(renewal)


def test_the_live_site_has_the_paths_and_bytes_of_the_static_one(live, report):
    files = [path for path in report.rglob("*") if path.is_file() and path.name != ".mensura.json"]
    assert len(files) > 300
    answers = fetch_all(live, [f"/{path.relative_to(report).as_posix()}" for path in files])
    for path, (status, _, body) in zip(files, answers.values(), strict=True):
        assert status == 200
        assert body == path.read_bytes()


def test_the_openapi_document_is_of_the_files_that_are_there(live, report):
    document = TestClient(live).get("/api/v1/openapi.json").json()
    charts = sorted(path.stem for path in (report / "api/v1/charts").glob("*.json"))
    assert document == json.loads(json.dumps(openapi_document(charts)))
    listed = {path for path in document["paths"] if "{" not in path}
    assert listed == {f"/{path.relative_to(report).as_posix()}" for path in (report / "api/v1").glob("*.json")}
    [name] = document["paths"]["/api/v1/charts/{name}.json"]["parameters"]
    assert name["schema"]["enum"] == charts


def test_every_file_of_the_interface_follows_the_document(live):
    document = TestClient(live).get("/api/v1/openapi.json").json()
    for path, operations in document["paths"].items():
        names = operations.get("parameters", [{"schema": {"enum": [""]}}])[0]["schema"]["enum"]
        schema = operations["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        whole = schema | {"components": document["components"]}
        kind = jsonschema.validators.validator_for(whole)
        kind.check_schema(whole)
        for _, headers, body in fetch_all(live, [path.replace("{name}", name) for name in names]).values():
            assert headers["content-type"] == "application/json"
            kind(whole).validate(json.loads(body))


@pytest.mark.slow
def test_schemathesis_finds_no_fault_with_the_interface(live):
    """Calls as the document allows them, and on the one address that takes an argument also calls it does not allow."""
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed (extra: fuzz)")
    allowed, against = schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE
    tried = []
    for result in schemathesis.openapi.from_asgi("/api/v1/openapi.json", live).get_all_operations():
        operation = result.ok()
        for mode in (allowed, against) if "{" in operation.path else (allowed,):

            @given(case=operation.as_strategy(generation_mode=mode))
            @settings(max_examples=20, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
            def check(case):
                case.call_and_validate()

            check()
            tried.append((operation.path, mode))
    assert ("/api/v1/models.json", allowed) in tried
    assert ("/api/v1/charts/{name}.json", against) in tried


@pytest.fixture(scope="module")
def address(edition):
    with listening(app_of(edition)) as address:
        yield address


def test_pages_run_under_the_policy_without_a_complaint(browser, address):
    """A violation of the content security policy is an error on the console."""
    context = browser.new_context()
    context.set_default_timeout(1000 * PATIENCE)
    page = context.new_page()
    faults = []
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda fault: faults.append(str(fault)))
    for name in ("index.html", "stitched.html", "models/gpt-5.5.html"):
        page.goto(f"{address}/{name}")
        page.wait_for_selector(".chart svg")
        assert page.evaluate("document.fonts.ready.then(() => document.fonts.check('16px \"Mensura Sans\"'))")
        assert faults == [], name
    context.close()
    assert faults == []
