"""Reading the forms that reviewers send, and telling those of this site from those of another."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from starlette.requests import ClientDisconnect, Request

_LONGEST = 64 * 1024  # bytes
_MOST_FIELDS = 32
_KIND = "application/x-www-form-urlencoded"

Form = dict[str, str]


async def read_form(request: Request) -> Form | None:
    """Read a form, the first value of each field; None where it is no small form."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _KIND:
        return None
    body = b""
    try:
        async for part in request.stream():
            body += part
            if len(body) > _LONGEST:
                return None
        fields = parse_qs(body.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except (ClientDisconnect, ValueError):
        return None
    return {name: values[0] for name, values in fields.items()}


def is_own(request: Request) -> bool:
    """Return whether a form was sent from a page of this site, by the browser's word."""
    origin = request.headers.get("origin", "")
    if origin:
        return urlsplit(origin).netloc.lower() == request.headers.get("host", "").lower()
    return request.headers.get("sec-fetch-site") == "same-origin"
