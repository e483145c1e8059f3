"""The application of one exam, serving it on a port, and the organiser's page behind a secret."""

import sqlite3
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any, cast

import polars as pl
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from mensura.core.errors import MensuraError
from mensura.core.frames import neutral_cells
from mensura.exam import AnswerStore, Exam
from mensura.exam.gathering import people_outcomes, people_takers, summarise, without_free_text
from mensura.exam.settings import english
from mensura.serve.exam_fields import page_facts
from mensura.serve.exam_takers import TakerPages
from mensura.serve.middleware import SiteMiddleware
from mensura.serve.serving import LOOPBACK, run_app, site_names
from mensura.serve.sessions import UNSTORED, Entrance, ReviewerSecret
from mensura.site.templating import STATIC, Templates, style_sheet

HOME = "/organiser"
_SHOWN_CODES = 500  # rows of the page; the download has all
_FONTS = ("fonts/sans.woff2", "fonts/serif.woff2")
_KEPT = {"cache-control": "public, max-age=86400"}
_STATIC = Path(__file__).parent / "static"


def exam_app(
    exam: Exam,
    store: AnswerStore,
    *,
    secret: ReviewerSecret | None = None,
    names: Collection[str] = (),
    tokens: Collection[str] = (),
    proxies: Collection[str] = (),
) -> ASGIApp:
    """Return the application of an exam.

    ``secret`` opens the organiser's page. ``tokens``: the invitations, of which each lets one person in once; empty
    for an exam that is open to everybody. ``proxies``: addresses or networks whose X-Forwarded-For and
    X-Forwarded-Proto are believed.
    """
    routes = TakerPages(exam, store, tokens).routes()
    if secret is not None:
        routes += OrganiserPages(exam, store, secret).routes()
    texts = {
        "style.css": ("text/css", style_sheet("fonts/") + (_STATIC / "exam.css").read_text(encoding="utf-8")),
        "exam.js": ("text/javascript", (_STATIC / "exam.js").read_text(encoding="utf-8")),
    }

    async def static(request: Request) -> Response:
        name = request.path_params["name"]
        if name in _FONTS:
            return FileResponse(STATIC / name, media_type="font/woff2", headers=_KEPT)
        if name not in texts:
            return PlainTextResponse("There is no such file.\n", 404)
        media, text = texts[name]
        return Response(text, media_type=media, headers={"cache-control": "no-cache"})

    async def health(_: Request) -> Response:
        try:
            await run_in_threadpool(store.probe)
        except (MensuraError, sqlite3.Error, OSError):
            return PlainTextResponse("the store of answers cannot be written\n", 503, headers=UNSTORED)
        return PlainTextResponse("ok\n", headers=UNSTORED)

    routes += [Route("/static/{name:path}", static), Route("/healthz", health)]
    app: Any = SiteMiddleware(Starlette(routes=routes), names)
    behind_proxy: Any = ProxyHeadersMiddleware(app, list(proxies)) if proxies else app
    return cast("ASGIApp", behind_proxy)


def serve_exam(
    exam: Exam, store: Path, *, host: str = LOOPBACK, port: int = 8000, names: Collection[str] = (), **access: Any
) -> None:
    """Serve an exam until interrupted; ``access``: secret, tokens and proxies of :func:`exam_app`."""
    answers = AnswerStore(store, exam)
    try:
        run_app(exam_app(exam, answers, names=site_names(host, names), **access), host=host, port=port)
    finally:
        answers.close()


class OrganiserPages:
    """The pages of one exam's organiser: how the exam is going; close, reopen, download."""

    def __init__(self, exam: Exam, store: AnswerStore, secret: ReviewerSecret) -> None:
        self._exam, self._store = exam, store
        self._templates = Templates("mensura.serve")
        self._entrance = Entrance(secret, HOME, "mensura_organiser", self._enter_page)

    def routes(self) -> list[Route]:
        """Return every address under ``/organiser``."""
        return [
            Route(HOME, self._home, methods=["GET"]),
            Route(f"{HOME}/enter", partial(self._entrance.enter, name="organiser"), methods=["POST"]),
            Route(f"{HOME}/leave", self._entrance.leave, methods=["POST"]),
            Route(f"{HOME}/close", self._closing(True), methods=["POST"]),
            Route(f"{HOME}/reopen", self._closing(False), methods=["POST"]),
            Route(f"{HOME}/{{table}}.csv", self._download, methods=["GET"]),
        ]

    def _page(self, template: str, facts: dict[str, Any], status: int = 200) -> HTMLResponse:
        common = page_facts(self._exam.settings, english())
        return HTMLResponse(self._templates.get_template(template).render(common | facts), status, headers=UNSTORED)

    def _enter_page(self, facts: dict[str, Any], status: int) -> HTMLResponse:
        return self._page("organiser_enter.html", facts, status)

    async def _home(self, request: Request) -> Response:
        session = self._entrance.session(request)
        if session is None:
            return self._enter_page({}, 401)
        counts, tables = await run_in_threadpool(summarise, self._exam, self._store)
        tables["codes"] = (await run_in_threadpool(self._store.codes)).head(_SHOWN_CODES)
        facts = {"session": session, "counts": counts, "closed": self._store.is_closed}
        shown = {name: table.to_dicts() for name, table in tables.items()}
        return self._page("organiser_home.html", facts | {"tables": shown})

    def _closing(self, closed: bool) -> Callable[[Request], Any]:
        async def act(request: Request) -> Response:
            if await self._entrance.signed(request) is None:
                return self._entrance.refusal()
            await run_in_threadpool(self._store.set_closed, closed)
            return RedirectResponse(HOME, 303, headers=UNSTORED)

        return act

    async def _download(self, request: Request) -> Response:
        if self._entrance.session(request) is None:
            return self._enter_page({}, 401)
        name = request.path_params["table"]
        if name not in ("takers", "answers", "codes"):
            return PlainTextResponse("There is no such table.\n", 404)

        def write() -> str:
            if name == "codes":
                return neutral_cells(self._store.codes()).write_csv()
            outcomes = people_outcomes(self._exam, self._store)
            table = people_takers(self._exam, self._store, outcomes)
            if name == "answers":
                table = without_free_text(self._exam, outcomes).drop("cost", "repeat")
            return neutral_cells(table.with_columns(pl.selectors.float().round(3))).write_csv()

        headers = {"content-disposition": f'attachment; filename="{name}.csv"', **UNSTORED}
        return Response(await run_in_threadpool(write), media_type="text/csv", headers=headers)
