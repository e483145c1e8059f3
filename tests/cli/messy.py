"""Answers of people and models as they come, each with the command that a user tries and what must come of it.

Like ``tests/intake/messy.py`` for scores: a file is read, asked about or refused with the way out.
"""

from __future__ import annotations

import random
from typing import NamedTuple

IMPORT = ("people", "import", "class.csv", "--person", "id", "--set", "min_answers=1", "--out", "pool")


class MessyAnswers(NamedTuple):
    """One case: its name, the files a user has, the commands, and words of what the last of them prints.

    ``read`` words are those of a result, ``asked`` words those of a message with exit code 2.
    """

    name: str
    files: dict[str, str]
    commands: tuple[tuple[str, ...], ...]
    read: str = ""
    asked: str = ""


def rows_of_digits(rows: int, columns: int, between: str) -> str:
    """Return a matrix of 0 and 1 without names, as published with papers."""
    chance = random.Random(1)
    return "".join(between.join(str(chance.randrange(2)) for _ in range(columns)) + "\n" for _ in range(rows))


def class_of(people: int, country: str = "country") -> str:
    """Return the answers of people with whole numbers for names; every seventh did not say their sex."""
    chance = random.Random(2)
    lines = [f"id,sex,{country},q1,q2,q3,q4,q5,q6,remark"]
    for person in range(1, people + 1):
        sex = "" if person % 7 == 0 else "fm"[person % 2]
        able = chance.gauss(0, 1)
        answers = ",".join(str(int(able + chance.gauss(0, 1) > (item - 3) / 2)) for item in range(6))
        lines.append(f"{person},{sex},{'SWE' if person % 2 else 'KEN'},{answers},none")
    return "\n".join(lines) + "\n"


CLASS = {"class.csv": class_of(70)}
PISA = {"class.csv": class_of(70, "CNT")}
FIT = ("responses", "fit", "pool", "--model", "rasch", "--out", "fitted")
WORLD = ("extrapolate", "pool", "--to", "world", "--set", "draws=20")

CASES = (
    MessyAnswers(
        "matrix without names",
        {"matrix.csv": rows_of_digits(12, 300, ",")},
        (("responses", "read", "matrix.csv"),),
        asked="say: mensura responses read matrix.csv --set header=false",
    ),
    MessyAnswers(
        "matrix without names, said so",
        {"matrix.csv": rows_of_digits(12, 300, ",")},
        (("responses", "read", "matrix.csv", "--set", "header=false"),),
        read="12 subjects",
    ),
    MessyAnswers(
        "matrix with blanks",
        {"matrix.txt": rows_of_digits(12, 30, " ")},
        (("responses", "read", "matrix.txt", "--set", "header=false"),),
        asked="tr -s ' ' ',' < matrix.txt",
    ),
    MessyAnswers(
        "matrix of digits",
        {"matrix.txt": rows_of_digits(12, 30, "")},
        (("responses", "read", "matrix.txt"),),
        asked="sed 's/./&,/g; s/,$//' matrix.txt",
    ),
    MessyAnswers("wildcard", CLASS, ((*IMPORT, "--items", "q*"),), read="6 items, 70 persons"),
    MessyAnswers("regular expression", CLASS, ((*IMPORT, "--items", "^q[1-4]$"),), read="4 items, 70 persons"),
    MessyAnswers("names of items", CLASS, ((*IMPORT, "--items", "q1,q2"),), read="2 items, 70 persons"),
    MessyAnswers(
        "columns not used", CLASS, ((*IMPORT, "--items", "q*"),), read="columns not used: sex, country, remark"
    ),
    MessyAnswers(
        "no such items", CLASS, ((*IMPORT, "--items", "x*"),), asked="matches none of the 10 columns (id, sex"
    ),
    MessyAnswers("broken expression", CLASS, ((*IMPORT, "--items", "q["),), asked="not a valid pattern"),
    MessyAnswers("groups kept by themselves", CLASS, ((*IMPORT, "--items", "q*", "--by", "sex"),), read="sex=f"),
    MessyAnswers(
        "groups that are no column",
        CLASS,
        ((*IMPORT, "--items", "q*", "--by", "age"),),
        asked="--by age: no such column; expected one of id, sex",
    ),
    MessyAnswers(
        "groups in two options",
        CLASS,
        ((*IMPORT, "--items", "q*", "--by", "sex", "--by", "country"),),
        asked="--by: given 2 times; expected once. Where it takes several values, separate them by commas",
    ),
    MessyAnswers(
        "a code among the points",
        {"class.csv": CLASS["class.csv"].replace(",1,none", ",9,none")},
        ((*IMPORT, "--items", "q*"),),
        asked="Say --absent 9 (not given: no answer) or --omitted 9",
    ),
    MessyAnswers(
        "somebody who comes later",
        {**CLASS, "new.csv": "subject,q1,q2,q3,q4,q5,q6\nmy-model,1,1,1,1,1,0\n"},
        ((*IMPORT, "--items", "q*"), FIT, ("responses", "place", "fitted", "new.csv", "--group", "pool")),
        read="my-model: IQ-equivalent",
    ),
    MessyAnswers(
        "whole numbers for names",
        CLASS,
        ((*IMPORT, "--items", "q*"), FIT, ("responses", "draw", "fitted", "--out", "pictures")),
        read="item-map.png",
    ),
    MessyAnswers(
        "people without a covariate",
        CLASS,
        ((*IMPORT, "--items", "q*", "--by", "sex"), (*FIT, "--by", "sex")),
        read="people without sex",
    ),
    MessyAnswers(
        "covariates beside the items",
        CLASS,
        (("responses", "fit", "class.csv", "--out", "fitted"),),
        asked="mensura people import class.csv --person id",
    ),
    MessyAnswers(
        "renamed column",
        PISA,
        ((*IMPORT, "--items", "q*", "--rename", "CNT=country", "--by", "country"),),
        read="country=SWE",
    ),
    MessyAnswers(
        "column that is not there",
        PISA,
        ((*IMPORT, "--items", "q*", "--rename", "LAND=country"),),
        asked="sex, CNT, q1",
    ),
    MessyAnswers(
        "countries under PISA's name",
        PISA,
        ((*IMPORT, "--items", "q*", "--by", "CNT", "--set", "domain=reading"), WORLD),
        read="pool → world",
    ),
    MessyAnswers(
        "no countries",
        CLASS,
        ((*IMPORT, "--items", "q*", "--set", "domain=reading"), WORLD),
        asked="name the population (for example --from pisa)",
    ),
    MessyAnswers("no domain", CLASS, ((*IMPORT, "--items", "q*", "--by", "country"), WORLD), asked="Say --domain"),
)
