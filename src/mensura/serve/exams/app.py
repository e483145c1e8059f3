"""The application of one exam, and serving it on a port."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from mensura.exam import AnswerStore, Exam
from mensura.serve.exams.organiser import OrganiserPages
from mensura.serve.exams.takers import TakerPages
from mensura.serve.guard import SiteGuard
from mensura.serve.metrics import Metrics
from mensura.serve.review import ReviewerSecret
from mensura.serve.serving import LOOPBACK, run_app, site_names
from mensura.site.inlined import style_sheet

_STATIC = Path(__file__).parent / "static"
_KEPT = {"cache-control": "no-cache"}


def exam_app(
    exam: Exam,
    store: AnswerStore,
    *,
    secret: ReviewerSecret | None = None,
    names: Collection[str] = (),
    tokens: Collection[str] = (),
) -> ASGIApp:
    """Return the application of an exam.

    ``secret`` opens the organiser's page. ``tokens``: the invitations, of which each lets one person in once; empty
    for an exam that is open to everybody.
    """
    metrics = Metrics()
    routes = TakerPages(exam, store, tokens).routes()
    if secret is not None:
        routes += OrganiserPages(exam, store, secret, metrics).routes()
    texts = {
        "style.css": ("text/css", style_sheet() + (_STATIC / "exam.css").read_text(encoding="utf-8")),
        "exam.js": ("text/javascript", (_STATIC / "exam.js").read_text(encoding="utf-8")),
    }

    async def static(request: Request) -> Response:
        found = texts.get(request.path_params["name"])
        if found is None:
            return PlainTextResponse("There is no such file.\n", 404)
        return Response(found[1], media_type=found[0], headers=_KEPT)

    async def health(_: Request) -> Response:
        return PlainTextResponse("ok\n", headers={"cache-control": "no-store"})

    routes += [Route("/static/{name}", static), Route("/healthz", health)]
    return SiteGuard(Starlette(routes=routes), metrics, names)


def serve_exam(
    exam: Exam,
    store: Path,
    *,
    secret: ReviewerSecret | None = None,
    host: str = LOOPBACK,
    port: int = 8000,
    names: Collection[str] = (),
    tokens: Collection[str] = (),
) -> None:
    """Serve an exam until interrupted."""
    answers = AnswerStore(store, exam)
    try:
        app = exam_app(exam, answers, secret=secret, names=site_names(host, names), tokens=tokens)
        run_app(app, host=host, port=port)
    finally:
        answers.close()
