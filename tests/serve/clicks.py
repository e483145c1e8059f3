"""What a visitor can do on a page: its links and forms, found by the words that people see."""

import html
import re
from typing import NamedTuple


class Form(NamedTuple):
    """A form of a page: where it is sent, and its hidden fields."""

    action: str
    fields: dict[str, str]


def link(page: str, words: str) -> str:
    """The address behind the first link with these words."""
    found = re.findall(r'<a [^>]*?href="?([^"\s>]*)[^>]*>(.*?)</a>', page, flags=re.DOTALL)
    addresses = [address for address, text in found if html.unescape(text) == words]
    assert addresses, f"no link {words!r} among {[text for _, text in found]}"
    return html.unescape(addresses[0])


def form(page: str, button: str) -> Form:
    """The first form with a button of these words."""
    for action, inside in re.findall(r'<form method="post" action="([^"]*)">(.*?)</form>', page, flags=re.DOTALL):
        if re.search(rf"<button [^>]*>{re.escape(button)}", inside):
            hidden = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', inside)
            return Form(html.unescape(action), {name: html.unescape(value) for name, value in hidden})
    raise AssertionError(f"no button {button!r}")
