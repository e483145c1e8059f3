"""Describe a folder of data for machines: Croissant, schema.org and DataCite."""

from __future__ import annotations

import hashlib
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from mensura.intake.shared_writing import to_json

CREATOR, LICENCE = "The Mensura founders", "https://creativecommons.org/licenses/by/4.0/"
_MEDIA = {
    ".csv": "text/csv",
    ".json": "application/json",
    ".jsonl": "application/jsonlines",
    ".parquet": "application/vnd.apache.parquet",
    ".yaml": "application/yaml",
    ".md": "text/markdown",
}
_KINDS = {pl.Int64: "sc:Integer", pl.Float64: "sc:Float", pl.Boolean: "sc:Boolean", pl.Date: "sc:Date"}
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "recordSet": "cr:recordSet",
    "source": "cr:source",
}
MOST_FILES = 200
"""Files of a folder that a description lists one by one."""


class Description(NamedTuple):
    """What a description says of a folder: its name, what it is, its address and identifier where they are given."""

    name: str
    about: str
    day: date
    version: str
    url: str | None = None
    doi: str | None = None


def describe_folder(folder: Path, said: Description) -> dict[str, str]:
    """Return the text of ``croissant.json``, ``schema_org.json`` and, with a DOI, ``datacite.json``."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix in _MEDIA)
    files = [path for path in files if path.name not in NAMES][:MOST_FILES]
    named = {path.relative_to(folder).as_posix(): path for path in files}
    creator = {"@type": "Organization", "name": CREATOR}
    facts = {
        "name": said.name,
        "description": said.about,
        "license": LICENCE,
        "creator": creator,
        "datePublished": said.day.isoformat(),
        "version": said.version,
        "url": said.url or "./",
    }
    objects = [
        {
            "@type": "cr:FileObject",
            "@id": name,
            "name": name,
            "contentUrl": _address(said.url, name),
            "encodingFormat": _MEDIA[path.suffix],
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
        for name, path in named.items()
    ]
    croissant = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        **facts,
        "citeAs": f"{CREATOR} ({said.day.year}). {said.name}. Version {said.version}.",
        "distribution": objects,
        "recordSet": [_records(name, path) for name, path in named.items() if path.suffix in (".csv", ".parquet")],
    }
    downloads = [
        {"@type": "DataDownload", "encodingFormat": one["encodingFormat"], "contentUrl": one["contentUrl"]}
        for one in objects
    ]
    identifier = {"identifier": f"https://doi.org/{said.doi}"} if said.doi else {}
    schema = {"@context": "https://schema.org/", "@type": "Dataset", **facts, **identifier, "distribution": downloads}
    texts = {"croissant.json": to_json(croissant), "schema_org.json": to_json(schema)}
    return texts | ({"datacite.json": to_json(_datacite(said))} if said.doi else {})


NAMES = ("croissant.json", "schema_org.json", "datacite.json")


def _address(url: str | None, name: str) -> str:
    return name if url is None else f"{url.rstrip('/')}/{name}"


def _records(name: str, path: Path) -> dict[str, Any]:
    """Return the columns of a table."""
    is_csv = path.suffix == ".csv"
    scan = pl.scan_csv(path, glob=False) if is_csv else pl.scan_parquet(path, glob=False)
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{name}/{column}",
            "name": column,
            "dataType": _KINDS.get(type_.base_type(), "sc:Text"),
            "source": {"fileObject": {"@id": name}, "extract": {"column": column}},
        }
        for column, type_ in scan.collect_schema().items()
    ]
    return {"@type": "cr:RecordSet", "@id": f"{name}#records", "name": Path(name).stem, "field": fields}


def _datacite(said: Description) -> dict[str, Any]:
    return {
        "doi": said.doi,
        "creators": [{"name": CREATOR, "nameType": "Organizational"}],
        "titles": [{"title": said.name}],
        "publisher": {"name": CREATOR},
        "publicationYear": said.day.year,
        "types": {"resourceTypeGeneral": "Dataset", "resourceType": "Evaluation results"},
        "schemaVersion": "http://datacite.org/schema/kernel-4",
        **({"url": said.url} if said.url else {}),
        "version": said.version,
        "rightsList": [{"rightsIdentifier": "cc-by-4.0", "rightsUri": LICENCE}],
        "descriptions": [{"description": said.about, "descriptionType": "Abstract"}],
    }
