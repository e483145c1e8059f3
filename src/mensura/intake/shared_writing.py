"""Write results in the field's exchange formats: records of Every Eval Ever, YAML of Hugging Face, METR's runs, IRW."""

import hashlib
import json
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from statistics import geometric_mean
from typing import Any, NamedTuple

import polars as pl

from mensura.core.errors import MensuraError
from mensura.core.folders import MANIFEST
from mensura.intake.samples import SampleOutcome
from mensura.intake.shared_records import MEASURED_BY

SCHEMA_VERSION = "0.3.0"
_RELATION = {ours: theirs for theirs, ours in MEASURED_BY.items()}
_BOUNDS: dict[str, tuple[object, object]] = {"percent": (0, 100), "fraction": (0, 1)}
_UNIT_WORDS = {"fraction": "proportion"}
_DEVICES = {"con", "prn", "aux", "nul", "data", *(f"{name}{n}" for name in ("com", "lpt") for n in range(1, 10))}
UNDATED = "1970-01-01"
"""The day of results without one: a record needs a time, and the same result must always get the same."""


def portable(text: str) -> str:
    """Return a text as the name of a folder that every system takes."""
    name = re.sub(r'[<>:"\\|?*\x00-\x1f/]+', "_", text).strip(" .") or "unknown"
    return f"{name}_" if name.casefold().split(".")[0] in _DEVICES else name


def score_rows(
    scores: pl.DataFrame, models: pl.DataFrame, sources: pl.DataFrame, subject: str | None = None
) -> list[dict[str, Any]]:
    """Return the scores of an evidence as rows of records, of one subject or of all."""
    facts = models.select("subject", "name", "provider", "open_weights")
    places = sources.select("source", "url", organisation=pl.coalesce("evaluator", "name"))
    chosen = scores if subject is None else scores.filter(subject=subject)
    table = chosen.join(facts, on="subject", how="left", maintain_order="left")
    return table.join(places, on="source", how="left", maintain_order="left").to_dicts()


def ability_rows(
    composites: pl.DataFrame, models: pl.DataFrame, version: str, subject: str | None = None
) -> list[dict[str, Any]]:
    """Return composite IQs with their 90% intervals as rows of records, of one subject or of all."""
    facts = models.select("subject", "name", "provider", "open_weights", date="released")
    chosen = composites if subject is None else composites.filter(subject=subject)
    table = chosen.drop_nulls("iq").select("subject", "low", "high", score="iq")
    about = {"benchmark": "Mensura IQ", "level": 0.9, "unit": "index", "organisation": "Mensura"}
    about["source"] = f"Mensura {version}"
    rows = table.join(facts, on="subject", how="left", maintain_order="left").iter_rows(named=True)
    return [{**row, **about} for row in rows]


def score_records(rows: Iterable[Mapping[str, Any]], version: str) -> dict[str, dict[str, Any]]:
    """Return one record per subject and source, by its path in the store.

    Parameters
    ----------
    rows
        Results with subject, name, provider, open_weights, benchmark, score, unit and source, perhaps n, stderr, low,
        high, level, date, note, variant, measured_by and organisation. Of people also group, persons and details.
    version
        Version of Mensura.

    """
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault((str(row["source"]), str(row["subject"])), []).append(row)
    records = {}
    for (source, subject), those in groups.items():
        first = those[0]
        days = [str(row["date"]) for row in those if row.get("date")]
        stamp = _stamp(max(days, default=UNDATED))
        developer = portable(str(first.get("provider") or "unknown")).replace(" ", "-").lower()
        people = "persons" in first
        record = {
            "schema_version": SCHEMA_VERSION,
            "evaluation_id": f"{portable(source)}/{portable(subject)}/{stamp}",
            "retrieved_timestamp": stamp,
            "source_metadata": {
                "source_name": source,
                "source_type": "documentation",
                "source_organization_name": str(first.get("organisation") or "unknown"),
                "evaluator_relationship": _RELATION.get(str(first.get("measured_by")), "other"),
            },
            "eval_library": {"name": "mensura", "version": version},
            "model_info": {
                "name": str(first.get("name") or subject),
                "id": f"{developer}/{first.get('ident') or subject}",
                "developer": developer,
                "additional_details": {
                    "deployment_type": "unknown",
                    "model_availability": _AVAILABILITY[first.get("open_weights")],
                    **({"subject_kind": "people", "population": str(first["group"])} if people else {}),
                },
            },
            "evaluation_results": [_result(row, place) for place, row in enumerate(those, start=1)],
        }
        digest = hashlib.sha256(f"{record['evaluation_id']} {subject}".encode()).digest()
        name = uuid.UUID(bytes=digest[:16], version=4)
        records[f"data/{portable(source)}/{portable(developer)}/{portable(subject)}/{name}.json"] = record
    return records


_AVAILABILITY = {None: "unknown", True: "open_weights", False: "closed_weights"}


def _stamp(day: str) -> str:
    """Return a day, month or year as Unix seconds."""
    text = f"{day}-01-01"[:10] if len(day) <= 4 else f"{day}-01"[:10]
    return str(int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()))


def _result(row: Mapping[str, Any], place: int) -> dict[str, Any]:
    unit = str(row["unit"])
    low, high = _BOUNDS.get(unit, ("-Infinity", "Infinity"))
    if unit in _BOUNDS and not float(str(low)) <= float(row["score"]) <= float(str(high)):
        low, high = "-Infinity", "Infinity"
    kept = ("note", "variant", "conditions", "part", "metric", "status", "seen", "year", "kind", "grade", "raised_by")
    details = {"unit": unit} | {name: str(row[name]) for name in kept if row.get(name) is not None}
    if row.get("persons") is not None:
        details["persons"] = str(row["persons"])
    scored: dict[str, Any] = {"score": float(row["score"]), "details": details}
    uncertainty: dict[str, Any] = {}
    if row.get("stderr"):
        uncertainty["standard_error"] = {"value": float(row["stderr"])}
    if row.get("low") is not None and row.get("high") is not None:
        interval = {"lower": float(row["low"]), "upper": float(row["high"])}
        uncertainty["confidence_interval"] = interval | ({"confidence_level": row["level"]} if row.get("level") else {})
    if row.get("n"):
        uncertainty["num_samples"] = int(row["n"])
    result = {
        "evaluation_name": str(row["benchmark"]),
        "evaluation_result_id": f"{row['benchmark']}.{place}",
        "source_data": {"dataset_name": str(row["benchmark"]), "source_type": "other"},
        "metric_config": {
            "metric_id": "accuracy" if unit in _BOUNDS else f"mensura.{unit}",
            "metric_name": str(row.get("metric") or ("accuracy" if unit in _BOUNDS else unit)),
            "metric_unit": _UNIT_WORDS.get(unit, unit),
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": low,
            "max_score": high,
        },
        "score_details": scored | ({"uncertainty": uncertainty} if uncertainty else {}),
    }
    return result | ({"evaluation_timestamp": _stamp(str(row["date"]))} if row.get("date") else {})


def result_yaml(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return scores of one model as ``.eval_results`` YAML of Hugging Face: dataset, value, date, source, notes."""
    import yaml  # type: ignore[import-untyped]

    entries = []
    for row in rows:
        source = {"url": row["url"], "name": str(row["source"])} if row.get("url") else None
        entry = {
            "dataset": {"id": f"mensura/{row['benchmark']}", "task_id": str(row["benchmark"])},
            "value": float(row["score"]),
            **({"date": str(row["date"])} if row.get("date") else {}),
            **({"source": source} if source else {}),
            **({"notes": str(row["note"])} if row.get("note") else {}),
        }
        entries.append(entry)
    return str(yaml.safe_dump(entries, sort_keys=False, allow_unicode=True, width=10_000))


def benchmark_yaml(name: str, description: str, task: str) -> str:
    """Return the ``eval.yaml`` that registers a benchmark of ours as a dataset of Hugging Face."""
    import yaml

    fields = {"input": "input", "target": "target"}
    tasks = [{"id": task, "config": "default", "split": "test", "field_spec": fields}]
    document = {"name": name, "description": description, "evaluation_framework": "inspect-ai", "tasks": tasks}
    return str(yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=10_000))


def metr_runs(samples: Sequence[SampleOutcome]) -> list[dict[str, Any]]:
    """Return answers as runs in METR's layout; people's minutes are the geometric mean of those who succeeded."""
    times: dict[str, list[float]] = {}
    for one in samples:
        if one.of_person and one.seconds and (one.value or 0.0) >= 1.0:
            times.setdefault(one.item, []).append(one.seconds / 60)
    if not times:
        raise MensuraError("export: no person solved a task in a known time; METR's runs need people's minutes")
    runs = []
    for number, one in enumerate(samples):
        family, _, task = one.item.partition(":")
        if one.item not in times:
            continue
        who = "human" if one.of_person else one.subject
        runs.append(
            {
                "run_id": f"{one.subject}_{one.item}_{number}",
                "task_id": f"{family}/{task}",
                "task_family": family,
                "task_source": family,
                "alias": who,
                "model": who,
                "score_binarized": int((one.value or 0.0) >= 1.0),
                "score_cont": one.value or 0.0,
                "human_minutes": round(geometric_mean(times[one.item]), 6),
                "human_source": "baseline",
            }
        )
    return runs


def irw_table(answers: pl.DataFrame) -> pl.DataFrame:
    """Return long answers (subject, group, item, value) as the Item Response Warehouse has them; a repeat is a wave."""
    wave = pl.int_range(1, pl.len() + 1).over("subject", "item")
    table = answers.drop_nulls("value").select(
        id="subject", item="item", resp="value", wave=wave, **({"cov_group": "group"} if "group" in answers else {})
    )
    return table if table["wave"].max() != 1 else table.drop("wave")


def to_json(document: object) -> str:
    """Return a document as JSON that reads the same on every machine."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


# Describe a folder of data for machines: Croissant, schema.org and DataCite.

CREATOR, LICENCE = "The Mensura founders", "https://creativecommons.org/licenses/by/4.0/"
_CROISSANT = json.loads((Path(__file__).parent / "data" / "croissant.json").read_text(encoding="utf-8"))
_MEDIA: dict[str, str] = _CROISSANT["media"]
_KINDS = {pl.Int64: "sc:Integer", pl.Float64: "sc:Float", pl.Boolean: "sc:Boolean", pl.Date: "sc:Date"}
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


def describe_folder(folder: Path, described: Description) -> dict[str, str]:
    """Return the text of ``croissant.json``, ``schema_org.json`` and, with a DOI, ``datacite.json``."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix in _MEDIA)
    files = [path for path in files if path.name not in NAMES][:MOST_FILES]
    named = {path.relative_to(folder).as_posix(): path for path in files}
    creator = {"@type": "Organization", "name": CREATOR}
    facts = {
        "name": described.name,
        "description": described.about,
        "license": LICENCE,
        "creator": creator,
        "datePublished": described.day.isoformat(),
        "version": described.version,
        "url": described.url or "./",
    }
    objects = [
        {
            "@type": "cr:FileObject",
            "@id": name,
            "name": name,
            "contentUrl": name if described.url is None else f"{described.url.rstrip('/')}/{name}",
            "encodingFormat": _MEDIA[path.suffix],
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
        for name, path in named.items()
    ]
    croissant = {
        "@context": _CROISSANT["context"],
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        **facts,
        "citeAs": f"{CREATOR} ({described.day.year}). {described.name}. Version {described.version}.",
        "distribution": objects,
        "recordSet": [_records(name, path) for name, path in named.items() if path.suffix in (".csv", ".parquet")],
    }
    downloads = [
        {"@type": "DataDownload", "encodingFormat": one["encodingFormat"], "contentUrl": one["contentUrl"]}
        for one in objects
    ]
    identifier = {"identifier": f"https://doi.org/{described.doi}"} if described.doi else {}
    schema = {"@context": "https://schema.org/", "@type": "Dataset", **facts, **identifier, "distribution": downloads}
    texts = {"croissant.json": to_json(croissant), "schema_org.json": to_json(schema)}
    return texts | ({"datacite.json": to_json(_datacite(described))} if described.doi else {})


NAMES = (MANIFEST, "croissant.json", "schema_org.json", "datacite.json")


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


def _datacite(described: Description) -> dict[str, Any]:
    return {
        **_CROISSANT["datacite"],
        "doi": described.doi,
        "titles": [{"title": described.name}],
        "publicationYear": described.day.year,
        **({"url": described.url} if described.url else {}),
        "version": described.version,
        "descriptions": [{"description": described.about, "descriptionType": "Abstract"}],
    }
