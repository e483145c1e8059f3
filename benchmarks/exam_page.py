"""The page of an exam in a real browser: ``python -m benchmarks.exam_page [--sittings 10] [--changes 10]``.

Each sitting has two devices, on which a person changes answers in turn. Meanwhile the clocks of the devices and of the
server are set back and forth, the connection breaks, requests are refused (408, 429, 500), delayed, or answered by
somebody else, replies are lost, and pages are loaded again or closed. In the end the store must contain the last change
of each answer. Wherever a page shows "Saved.", the store must contain what it shows. The whole run is ``--sittings 200
--changes 20``. To run it in parts, give each its ``--first`` sitting; after ``--seconds`` no sitting begins.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import shutil
import socket
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn
from playwright.async_api import Browser, BrowserContext, Error, Page, TimeoutError as PageTimeout, async_playwright
from starlette.responses import HTMLResponse, JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from benchmarks.exam_load import EXAM
from benchmarks.measured import record, take_option
from mensura.exam import AnswerStore
from mensura.exam.records import Sitting
from mensura.exam.scoring import Given
from mensura.serve.exam_app import exam_app
from mensura.serve.exam_takers import COOKIE, given_in
from mensura.serve.serving import server_settings

AT_ONCE = 6  # sittings
PATIENCE = 60_000.0  # milliseconds for anything on a page; the machine may be busy
NEAR = 4  # first items, among which pages are opened: both devices often change the same ones
SWITCH = 1.0  # seconds that a person needs at least from one device to the other
FAULTS = {
    "429": JSONResponse({"saved": False}, 429),
    "429 for a second": JSONResponse({"saved": False}, 429, {"retry-after": "1"}),
    "408": JSONResponse({"saved": False}, 408),
    "500": HTMLResponse("<h1>Internal server error</h1>", 500),
    "sign-in page": HTMLResponse("<h1>Sign in to this network</h1>"),
}
FAULT_RATE = 0.35
CLOCK_RATE = 0.01  # chance that somebody sets the server's clock before it is read
# A device's clock: set anew with each page, and moved while it is open.
CLOCK = """const real = Date.now; let moved = 0;
    Date.now = () => { moved += 36e5 * (Math.random() - .5); return real() + moved; };"""
SHOWN = """() => { const form = document.getElementById('item'); const saved = document.getElementById('saved');
    return form && [Object.fromEntries(new FormData(form)), saved.textContent]; }"""
NOTHING_WAITS = "() => !Object.keys(localStorage).some((key) => key.startsWith('mensura-exam:'))"


class BadNetwork:
    """An application whose answers to ``POST /answer`` get lost at random, but for sittings in ``calm``."""

    def __init__(self, app: ASGIApp, rng: random.Random) -> None:
        self.app, self.rng = app, rng
        self.calm: set[str] = set()
        self.counts: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or do to it what a network does."""
        is_calm = any(code.encode() in value for _, value in scope.get("headers", ()) for code in self.calm)
        if scope.get("path") != "/answer" or is_calm or self.rng.random() > FAULT_RATE:
            await self.app(scope, receive, send)
            return
        name = self.rng.choice([*FAULTS, "delay", "lost reply"])
        self.counts[name] += 1
        if name == "delay":
            await asyncio.sleep(3.0 * self.rng.random())
            await self.app(scope, receive, send)
        elif name == "lost reply":
            await self.app(scope, receive, _drop)
            await FAULTS["500"](scope, receive, send)
        else:
            await FAULTS[name](scope, receive, send)


async def _drop(message: Message) -> None:
    """Lose a reply."""


@dataclass
class Device:
    """A browser of a person; its storage outlives its pages."""

    context: BrowserContext
    page: Page
    is_offline: bool = False

    async def connect(self, *, is_offline: bool) -> None:
        """Break the connection, or restore it."""
        self.is_offline = is_offline
        await self.context.set_offline(is_offline)

    async def open(self, address: str) -> None:
        """Open a page; a device without connection gets it back first."""
        await self.connect(is_offline=False)
        for _ in range(5):  # the browser itself loads a page again that failed without connection
            with suppress(Error):
                await self.page.goto(address)
                return
            await asyncio.sleep(SWITCH)
        await self.page.goto(address)


@dataclass
class Person:
    """One sitting: what its person changed last, where and when."""

    address: str
    store: AnswerStore
    code: str
    sitting: Sitting
    devices: list[Device]
    rng: random.Random
    last: dict[str, tuple[Given, Device, float]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def some_address(self) -> str:
        """The page of some item."""
        return f"{self.address}/sit?n={self.rng.randint(1, NEAR)}"

    async def shown(self, device: Device) -> tuple[str, Given, str] | None:
        """Return item, answer and message of the page on a device; None where it shows no item."""
        try:
            found: Any = await device.page.evaluate(SHOWN)
        except Error:
            return None  # a page that is just being left
        if found is None:
            return None
        fields, message = found
        return fields["item"], given_in(fields, self.sitting.form.options[fields["item"]]), message

    async def check(self, device: Device) -> None:
        """Count a false "Saved.": the person made the last change here, and the store does not contain it."""
        found = await self.shown(device)
        if found is None or not found[2].startswith("Saved") or self.last.get(found[0], (0, None))[1] is not device:
            return
        self.counts["checked"] += 1
        stored = self.store.answers(self.sitting).get(found[0])
        self.counts["false_saved"] += stored is None or stored.given != found[1]

    async def change(self) -> None:
        """Change one answer on one device, and go on as people do."""
        rng, device = self.rng, self.rng.choice(self.devices)
        if rng.random() < 0.3 or await self.shown(device) is None:
            await device.open(self.some_address)
        await device.connect(is_offline=rng.random() < (0.6 if device.is_offline else 0.15))
        item = await device.page.locator("input[name=item]").get_attribute("value") or ""
        _, there, at = self.last.get(item, (None, device, 0.0))
        if there is not device:
            await asyncio.sleep(max(0.0, at + SWITCH - time.monotonic()))
        await self._edit(device.page)
        found = await self.shown(device)
        if found is None or found[0] != item:
            raise SystemExit("the page moved on by itself")
        self.last[item] = (found[1], device, time.monotonic())
        self.counts["changes"] += 1
        try:
            await self._go_on(device)
        except PageTimeout:
            self.counts["stuck"] += 1
            await device.open(self.some_address)
        for one in self.devices:
            await self.check(one)

    async def _edit(self, page: Page) -> None:
        text = page.locator("#text")
        if await text.count():
            await text.fill(f"answer {self.rng.randrange(10**6)}")
            return
        choices = page.locator(".choice input:not(:checked), .choice input[type=checkbox]")
        await choices.nth(self.rng.randrange(await choices.count())).click()

    async def _go_on(self, device: Device) -> None:
        kind = self.rng.choice(
            ["stay", "reload", "close"]
            if device.is_offline
            else ["wait", "wait", "next", "next", "stay", "reload", "close"]
        )
        self.counts[kind] += 1
        page = device.page
        if kind == "wait":
            await page.wait_for_function("() => document.getElementById('saved').textContent.startsWith('Saved')")
        elif kind == "next":
            before = page.url
            await page.locator("#next").click()
            await page.wait_for_url(lambda address: address != before)
        elif kind == "reload":
            if not device.is_offline:
                await page.reload()
                return
            with suppress(Error):  # the browser's own page, without connection
                await page.reload()
            await device.open(self.some_address)
        elif kind == "close":
            await page.close()
            device.page = await device.context.new_page()
            await device.open(self.some_address)

    async def settle(self) -> None:
        """Let each device send what still waits in it, then count the answers that are lost."""
        for device in self.devices:
            await device.open(f"{self.address}/sit?n=1")
            with suppress(PageTimeout):
                await device.page.wait_for_function(NOTHING_WAITS)
        stored = self.store.answers(self.sitting)
        for item, (given, _, _) in self.last.items():
            present: Given = stored[item].given if item in stored else ""
            self.counts["lost"] += (present or "") != (given or "")


async def sit(
    browser: Browser, network: BadNetwork, address: str, store: AnswerStore, changes: int, seed: int
) -> Counter[str]:
    """Let one person make changes on two devices; return the counts."""
    code, sitting = store.begin()
    store.describe(sitting, {})
    store.start(sitting)
    devices = []
    for width in (1280, 360):
        context = await browser.new_context(viewport={"width": width, "height": 800})
        context.set_default_timeout(PATIENCE)
        await context.add_init_script(CLOCK)
        await context.add_cookies([{"name": COOKIE, "value": code, "url": address}])
        devices.append(Device(context, await context.new_page()))
    person = Person(address, store, code, sitting, devices, random.Random(seed))
    for _ in range(changes):
        await person.change()
    network.calm.add(code)
    await person.settle()
    for device in devices:
        await device.context.close()
    return person.counts


async def run(sittings: int, changes: int, first: int, seconds: float) -> dict[str, Any]:
    """Run all sittings and return the figures."""
    rng, begun = random.Random(first), time.perf_counter()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    total: Counter[str] = Counter()
    moved = 0.0

    def clock() -> float:
        nonlocal moved
        if rng.random() < CLOCK_RATE:
            moved = 4 * 3600.0 * (rng.random() - 0.5)
        return time.time() + moved

    with tempfile.TemporaryDirectory() as folder:
        store = AnswerStore(Path(folder) / "answers.db", EXAM, clock=clock)
        network = BadNetwork(exam_app(EXAM, store), rng)
        server = uvicorn.Server(server_settings(network, host="127.0.0.1", port=port))
        serving = asyncio.create_task(server.serve())
        async with async_playwright() as driver:
            browser = await driver.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
            )
            free = asyncio.Semaphore(AT_ONCE)

            async def one(seed: int) -> None:
                async with free:
                    if time.perf_counter() - begun > seconds:
                        return
                    total["sittings"] += 1
                    total.update(await sit(browser, network, address, store, changes, seed))

            await asyncio.gather(*(one(seed) for seed in range(first, first + sittings)))
            await browser.close()
        server.should_exit = True
        await serving
        store.close()
    names = (
        "sittings",
        "changes",
        "lost",
        "checked",
        "false_saved",
        "stuck",
        "wait",
        "next",
        "stay",
        "reload",
        "close",
    )
    figures: dict[str, Any] = {name: total[name] for name in names}
    return figures | {"faults": dict(network.counts), "seconds": round(time.perf_counter() - begun, 1)}


def main() -> None:
    take_option()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sittings", type=int, default=10)
    parser.add_argument("--changes", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="number of the first sitting")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no sitting after this time")
    given = parser.parse_args()
    figures = asyncio.run(run(given.sittings, given.changes, given.first, given.seconds))
    rows = {"sittings": figures["sittings"], "changes": figures["changes"]}
    rows |= {f"requests that met: {name}": n for name, n in sorted(figures["faults"].items())}
    rows |= {'times that "Saved." was compared with the store': figures["checked"]}
    rows |= {'false "Saved." (bar 0)': figures["false_saved"], "lost answers (bar 0)": figures["lost"]}
    rows |= {"pages that neither saved nor moved on": figures["stuck"]}
    for name, n in rows.items():
        print(f"{name:<50}{n:>6}")
    record("exam.page", f"{figures['lost']} lost answers and {figures['false_saved']} false")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
