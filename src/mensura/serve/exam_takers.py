"""The pages of a taker: consent, questions about the person, instructions, items, review, end, deletion."""

import math
from collections.abc import Awaitable, Callable, Collection
from typing import Any
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from mensura.exam import AnswerStore, Exam
from mensura.exam.design import deadline, rules_text, tools_text
from mensura.exam.items import media_of, render_line, render_markdown
from mensura.exam.records import OvertakenError, RefusedError, Sitting, StoredAnswer, hash_of, plain_code
from mensura.serve.exam_fields import fields_of, given_in, most_items, next_page, number_in, page_facts
from mensura.serve.sessions import UNSTORED, Attempts, Begins, Form, is_over_tls, own_form, visitor_of
from mensura.site.templating import Templates

COOKIE = "mensura_taker"
_COOKIE_SECONDS = 30 * 86_400
_LONGEST_ID = 200
Facts = dict[str, Any]
Endpoint = Callable[[Request], Awaitable[Response]]
Page = Callable[[Request, Sitting, str], Awaitable[Response]]


class TakerPages:
    """The pages of one exam; who is at work is known by a cookie with the code of the sitting."""

    def __init__(self, exam: Exam, store: AnswerStore, tokens: Collection[str]) -> None:
        self._exam, self._store = exam, store
        self._tokens = frozenset(map(hash_of, tokens))  # no time of a look-up tells how near a guess is
        self._begins, self._deletions = Begins(), Attempts()
        self._templates = Templates("mensura.serve")
        self._templates.filters |= {"markdown": render_markdown, "line": render_line}

    def routes(self) -> list[Route]:
        """Return every address of takers."""
        pages: dict[str, Page] = {
            "/sit": self._sit,
            "/review": self._review,
            "/done": self._done,
            "/picture/{item}": self._file,
            "/media/{item}": self._file,
        }
        changes: dict[str, Callable[[Sitting, Form], str | None]] = {
            "/about": self._store.describe,
            "/start": lambda sitting, _: self._store.start(sitting),
            "/finish": self._finish,
        }
        return [
            Route("/", self._welcome, methods=["GET"]),
            Route("/begin", self._begin, methods=["POST"]),
            Route("/resume/{code}", self._resume, methods=["GET", "POST"]),
            Route("/leave", self._leave, methods=["POST"]),
            Route("/answer", self._answer, methods=["POST"]),
            Route("/forget", self._forget, methods=["GET", "POST"]),
            *(Route(path, self._for_taker(page), methods=["GET"]) for path, page in pages.items()),
            *(Route(path, self._changing(change), methods=["POST"]) for path, change in changes.items()),
        ]

    def _page(self, template: str, facts: Facts, status: int = 200) -> HTMLResponse:
        sitting = facts.get("sitting")
        exam = self._exam.translated(sitting.language if sitting else facts.get("language"))
        common = page_facts(exam.settings, exam.texts)
        return HTMLResponse(self._templates.get_template(template).render(common | facts), status, headers=UNSTORED)

    def _refusal(self, key: str, status: int, language: str | None = None, back: str = "/sit") -> HTMLResponse:
        return self._refused(RefusedError(key, status), language=language, back=back)

    def _refused(self, fault: RefusedError, language: str | None = None, back: str = "/sit") -> HTMLResponse:
        reason = self._exam.translated(language).texts(fault.key, **fault.values)
        return self._page("exam_refused.html", {"reason": reason, "language": language, "back": back}, fault.status)

    async def _find(self, request: Request) -> tuple[Sitting | None, str]:
        code = request.cookies.get(COOKIE, "")
        return (await run_in_threadpool(self._store.find, code) if code else None), code

    def _for_taker(self, page: Page) -> Endpoint:
        async def show(request: Request) -> Response:
            sitting, code = await self._find(request)
            return _go("/") if sitting is None else await page(request, sitting, code)

        return show

    # Entering

    async def _welcome(self, request: Request) -> Response:
        sitting, code = await self._find(request)
        name = self._exam.settings.panel_parameter
        panel = request.query_params.get(name, "")[:_LONGEST_ID] if name else ""
        if sitting is not None and (not panel or code == await run_in_threadpool(self._store.code_of, panel)):
            is_left = self._exam.settings.shared_device and sitting.finished is None
            return self._page("exam_other.html", {"sitting": sitting}) if is_left else _go("/sit")
        if await run_in_threadpool(lambda: self._store.is_closed):
            return self._refusal("closed", 403)
        token = request.query_params.get("token", "")[:_LONGEST_ID]
        if not self._is_invited(token):
            return self._refusal("not_invited", 403)
        if name and not panel:
            return self._refusal("no_id", 403)
        self._store.count_visit()
        asked = request.query_params.get("language", "")
        language = asked if asked in self._exam.languages else self._exam.settings.language
        others = {
            self._exam.translated(code).texts("name"): (code, urlencode({**request.query_params, "language": code}))
            for code in self._exam.languages
            if code != language
        }
        facts = {"token": token, "panel": panel, "language": language, "others": others}
        return self._page("exam_consent.html", facts)

    def _is_invited(self, token: str) -> bool:
        return not self._tokens or hash_of(token) in self._tokens

    async def _begin(self, request: Request) -> Response:
        """Open a sitting; a refusal leads back to the first page with the id, the invitation and the language."""
        form, visitor = await own_form(request), visitor_of(request)
        if form is None:
            return self._refusal("not_own", 403)
        name = self._exam.settings.panel_parameter
        token = form.get("token", "")[:_LONGEST_ID]
        panel = form.get("panel", "").strip()[:_LONGEST_ID] if name else ""
        language = form.get("language") if form.get("language") in self._exam.settings.translations else None
        sent = {name: panel, "token": token, "language": language}
        back = "/?" + urlencode({key: value for key, value in sent.items() if key and value})
        if form.get("consent") != "yes":
            return self._refusal("not_agreed", 422, language=language, back=back)
        if not self._is_invited(token):
            return self._refusal("not_invited", 403, language=language, back=back)
        if name and not panel:
            return self._refusal("no_id", 403, language=language, back=back)
        if self._begins.wait(visitor) > 0:
            return self._refusal("too_many_begins", 429, language=language, back=back)
        self._begins.failed(visitor)
        try:
            code, _ = await run_in_threadpool(
                lambda: self._store.begin(token=token if self._tokens else None, panel=panel or None, language=language)
            )
        except RefusedError as fault:
            return self._refused(fault, language=language, back=back)
        return _remember(request, code)

    async def _resume(self, request: Request) -> Response:
        """Go on with the sitting of a link; where the browser has another one, ask before replacing it."""
        code = plain_code(request.path_params["code"])
        sitting = await run_in_threadpool(self._store.find, code)
        if sitting is None:
            return self._refusal("bad_link", 404)
        current, own_code = await self._find(request)
        is_asked = request.method == "POST" and await own_form(request) is not None
        if current is not None and plain_code(own_code) != code and not is_asked:
            return self._page("exam_other.html", {"sitting": sitting, "address": f"/resume/{code}"})
        return _remember(request, code)

    # Sitting

    async def _sit(self, request: Request, sitting: Sitting, code: str) -> Response:
        if sitting.finished is not None:
            return _go("/done")
        view = self._exam.translated(sitting.language)
        shared: Facts = {"sitting": sitting, "code": code, "rules": f"{rules_text(view)} {tools_text(view)}"}
        if sitting.about is None and self._exam.settings.questions:
            return self._page("exam_about.html", shared)
        if sitting.started is None:
            return self._page("exam_start.html", shared | {"n": most_items(self._exam, sitting)})
        return await run_in_threadpool(self._item_page, request.query_params.get("n", ""), sitting, shared)

    def _item_page(self, asked: str, sitting: Sitting, shared: Facts) -> Response:
        answers, items = self._store.answers(sitting), sitting.form.items
        if not (asked.isascii() and asked.isdigit() and len(asked) < 6):
            first = next((at for at, name in enumerate(items, start=1) if name not in answers), len(items) + 1)
            return _go(f"/sit?n={first}")
        at = int(asked) - 1
        if at == len(items):
            sitting = self._store.grow(sitting)
            items = sitting.form.items
        if not 0 <= at < len(items):
            return _go("/review")
        self._store.show(sitting, items[at])
        end = deadline(self._exam, sitting.started or 0.0, self._store.shown(sitting), items[at])
        left = None if math.isinf(end) else max(0, round(end - self._store.now()))
        if self._is_over(sitting):
            return _go("/review")
        view = self._exam.translated(sitting.language)
        item, stored = view.by_name[items[at]], answers.get(items[at])
        facts = {
            "item": item,
            "media": (media_of(item.media) or "").partition("/")[0],
            "at": at + 1,
            "n": most_items(self._exam, sitting),
            "left": left,
            "section": next((one for one in view.settings.sections if one.name == item.section), None),
            "order": sitting.form.options[item.item],
            "version": stored.edit if stored else 0,
            "now": self._store.now(),
            "given": stored.given if stored else "",
            "answered": len(answers),
        }
        return self._page("exam_item.html", shared | facts)

    def _is_over(self, sitting: Sitting) -> bool:
        minutes = self._exam.settings.time.minutes
        return minutes is not None and self._store.now() > (sitting.started or 0.0) + 60.0 * minutes

    async def _answer(self, request: Request) -> Response:
        sitting, _ = await self._find(request)
        form = await own_form(request)
        by_script = request.headers.get("accept", "") == "application/json"
        texts = self._exam.translated(sitting.language if sitting else None).texts
        reply: Facts = {"saved": False, "message": texts("foreign_answer")}
        status = 403
        if sitting is not None and form is not None and form.get("person") in (None, sitting.person):
            try:
                stored = await run_in_threadpool(self._store_answer, sitting, form, by_script)
                reply, status = {"saved": True, "stored": stored.edit, "late": stored.late}, 200
            except OvertakenError as fault:
                name = form["item"]
                fields = fields_of(fault.stored.given, sitting.form.options[name], self._exam.by_name[name].scoring)
                reply |= {"message": texts(fault.key), "stored": fault.stored.edit, "fields": fields}
                reply["newer"], status = fault.is_newer, fault.status
            except RefusedError as fault:
                reply, status = reply | {"message": texts(fault.key, **fault.values)}, fault.status
            if status == 200 and not by_script:
                return _go(next_page(sitting, form, most_items(self._exam, sitting)))
        if by_script:
            return JSONResponse(reply | {"now": self._store.now()}, status, headers=UNSTORED)
        return self._page("exam_refused.html", {"reason": reply["message"], "sitting": sitting, "back": "/sit"}, status)

    def _store_answer(self, sitting: Sitting, form: Form, by_script: bool) -> StoredAnswer:
        """Store the answer of a form. One without scripts is sent by a press, so it is the person's last."""
        name = form.get("item", "")
        seconds, left, after, made = (number_in(form.get(key, "0")) for key in ("seconds", "left", "after", "made"))
        given = given_in(form, sitting.form.options.get(name, []))
        version = int(after) if by_script and "after" in form else None
        return self._store.answer(
            sitting, name, given, seconds=seconds, left=int(left), after=version, made=made or None
        )

    def _finish(self, sitting: Sitting, form: Form) -> str | None:
        """End the sitting; a person whose items are not all answered is asked once before."""
        if form.get("anyway") != "yes" and not self._is_over(sitting) and not all(self._is_answered(sitting)):
            return "/review?finish=asked"
        self._store.finish(sitting)
        return None

    def _is_answered(self, sitting: Sitting) -> list[bool]:
        """Return which items have an answer; an adaptive sitting gets its next item before it can end."""
        answered = self._store.answered(sitting)
        if answered.issuperset(sitting.form.items):
            sitting = self._store.grow(sitting)
        return [name in answered for name in sitting.form.items]

    def _changing(self, change: Callable[[Sitting, Form], str | None]) -> Endpoint:
        """Return the endpoint of a change; it leads to the address that the change returns, or on with the exam."""

        async def act(request: Request) -> Response:
            sitting, _ = await self._find(request)
            form = await own_form(request)
            if sitting is None or form is None:
                return self._refusal("foreign_form", 403)
            try:
                place = await run_in_threadpool(change, sitting, form)
            except RefusedError as fault:
                return self._refused(fault, sitting.language)
            return _go(place or "/sit")

        return act

    async def _review(self, request: Request, sitting: Sitting, code: str) -> Response:
        if sitting.started is None or sitting.finished is not None:
            return _go("/sit")
        done, over = await run_in_threadpool(self._is_answered, sitting), self._is_over(sitting)
        blank = [at for at, is_done in enumerate(done, start=1) if not is_done]
        is_asked = bool(blank) and not over and "finish" in request.query_params
        facts = {"sitting": sitting, "code": code, "done": done, "over": over, "blank": blank, "is_asked": is_asked}
        return self._page("exam_review.html", facts)

    async def _done(self, request: Request, sitting: Sitting, code: str) -> Response:
        if sitting.finished is None:
            return _go("/sit")
        completion = await run_in_threadpool(self._store.earned_code, sitting)
        return self._left(self._page("exam_done.html", {"sitting": sitting, "completion": completion, "code": code}))

    async def _leave(self, request: Request) -> Response:
        """Let a person stop at a shared device: the code is shown once, and the next person begins afresh."""
        sitting, code = await self._find(request)
        form = await own_form(request)
        if form is None:
            return self._refusal("not_own", 403)
        if sitting is None or not self._exam.settings.shared_device:
            return _go("/sit")
        is_others = "next" in form  # the next person must not see the code
        return self._left(_go("/") if is_others else self._page("exam_left.html", {"sitting": sitting, "code": code}))

    def _left(self, answer: Response) -> Response:
        """Return the last page of a sitting; a shared device forgets the sitting with it."""
        if self._exam.settings.shared_device:
            answer.delete_cookie(COOKIE)
        return answer

    async def _file(self, request: Request, sitting: Sitting, code: str) -> Response:
        name = request.path_params["item"]
        item = self._exam.by_name.get(name)
        file = "" if item is None else item.picture if request.url.path.startswith("/picture/") else item.media
        if not file or name not in sitting.form.items or sitting.started is None:
            return self._refusal("no_file", 404)
        kept = UNSTORED if self._exam.settings.shared_device else {"cache-control": "private, max-age=3600"}
        return FileResponse(self._exam.folder / file, media_type=media_of(file), headers=kept)

    # Deleting

    async def _forget(self, request: Request) -> Response:
        if request.method == "GET":
            sitting, code = await self._find(request)
            return self._page("exam_forget.html", {"typed": code, "sitting": sitting})
        form, visitor = await own_form(request), visitor_of(request)
        if form is None:
            return self._refusal("not_own", 403)
        sitting = await run_in_threadpool(self._store.find, form.get("code", ""))
        if await run_in_threadpool(lambda: self._store.is_closed):
            return self._refusal("closed_delete", 403)
        if self._deletions.wait(visitor) > 0:
            return self._refusal("wrong_codes", 429)
        if not await run_in_threadpool(self._store.forget, form.get("code", "")):
            self._deletions.failed(visitor)
            return self._refusal("unknown_code", 404)
        answer = self._page("exam_forgotten.html", {"is_complete": self._store.is_purged, "sitting": sitting})
        answer.delete_cookie(COOKIE)
        return answer


def _go(address: str) -> RedirectResponse:
    return RedirectResponse(address, 303, headers=UNSTORED)


def _remember(request: Request, code: str) -> Response:
    answer, over_tls = _go("/sit"), is_over_tls(request)
    answer.set_cookie(COOKIE, code, max_age=_COOKIE_SECONDS, httponly=True, samesite="lax", secure=over_tls)
    return answer
