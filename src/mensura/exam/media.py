"""Pictures, sounds and films of items: small ones, of kinds that every browser shows and that have no script."""

from __future__ import annotations

from pathlib import Path

MOST_BYTES = 2 * 2**20
MOST_MEDIA = 50 * 2**20
_MEDIA = {
    ".mp3": "audio/mpeg",
    ".ogg": "audio/ogg",
    ".wav": "audio/wav",
    ".m4a": "audio/mp4",
    ".mp4": "video/mp4",
    ".webm": "video/webm",
}
MOST_SIDE = 4000
_KINDS = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp"}
_STARTS = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
}


def media_of(name: str) -> str | None:
    """Return the media type of a picture, sound or film by its ending, None where it is none."""
    return (_KINDS | _MEDIA).get(Path(name).suffix.lower())


def check_media(folder: Path, name: str) -> list[str]:
    """Return what is wrong with the sound or film of an item; nothing where it has none."""
    path = folder / name
    if not name:
        return []
    if Path(name).suffix.lower() not in _MEDIA:
        return [f"{name!r} is no sound or film; expected one of {', '.join(_MEDIA)}. Convert it"]
    if not path.is_file() or not path.resolve().is_relative_to(folder.resolve()):
        return [f"{name!r} is not in the folder of the exam; copy it there"]
    if path.stat().st_size > MOST_MEDIA:
        return [
            f"{name!r} has {path.stat().st_size / 2**20:.1f} MB; expected at most {MOST_MEDIA // 2**20} MB. Shrink it"
        ]
    return []


def check_picture(folder: Path, name: str) -> list[str]:
    """Return what is wrong with the picture of an item; nothing where it has none."""
    if not name:
        return []
    media = _KINDS.get(Path(name).suffix.lower())
    if media is None:
        return [f"{name!r} is no picture; expected one of {', '.join(_KINDS)}. Convert it"]
    path = folder / name
    if not path.is_file() or not path.resolve().is_relative_to(folder.resolve()):
        return [f"{name!r} is not in the folder of the exam; copy it there"]
    if path.stat().st_size > MOST_BYTES:
        return [
            f"{name!r} has {path.stat().st_size / 2**20:.1f} MB; expected at most {MOST_BYTES // 2**20} MB. Shrink it"
        ]
    head = path.read_bytes()[:64]
    if not head.startswith(_STARTS[media]):
        return [f"{name!r} is no {media.partition('/')[2].upper()} file; save it in that format"]
    width, height = picture_size(path.read_bytes(), media)
    if max(width, height) > MOST_SIDE:
        return [f"{name!r} has {width} × {height} pixels; expected at most {MOST_SIDE} on a side. Shrink it"]
    return []


def picture_size(data: bytes, media: str) -> tuple[int, int]:
    """Return width and height in pixels as the header announces them; 0 where it does not."""
    if media == "image/png":
        return int.from_bytes(data[16:20]), int.from_bytes(data[20:24])
    if media == "image/gif":
        return int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")
    if media == "image/jpeg":
        return _jpeg_size(data)
    if data[12:16] == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    return 0, 0


def _jpeg_size(data: bytes) -> tuple[int, int]:
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4])
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return int.from_bytes(data[at + 7 : at + 9]), int.from_bytes(data[at + 5 : at + 7])
        at += 2 + length
    return 0, 0
