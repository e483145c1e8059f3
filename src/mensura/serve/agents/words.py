"""What an agent can read before it asks: how to read the numbers, and questions worth asking."""

from __future__ import annotations

GUIDE = """\
# How to read Mensura's numbers

- IQ: mean 100 and standard deviation 15 among people. A model's IQ is the mean of seven dimensions, each read off the
  expected scores of people on its benchmarks. It says what the model scores, not that it thinks as people do.
- Interval: the 90% interval of a model's IQ is for the IQ it would get if every benchmark were run. Two models whose
  intervals overlap may stand either way; `compare` gives the chance.
- Status: measured (a source printed it), inherited (taken from a near model), estimated (computed from other scores),
  judged (somebody's judgement), extrapolated (carried to people who were not observed). Pass it on with the number.
- Capability: the position on a scale that all benchmarks share, on which GPT-4o is 0 and GPT-5 is 1.
- Level: the position on a logarithmic scale. On the common scale one level more means a tenth of the success rate.
- Population: a rate speaks of the people it was measured in. `extrapolate_rate` carries it to others.
- Answers are brief. Ask with `detail` "full" for every score, source, region or part.
"""


def place_model(model: str) -> str:
    """Say how good a model is compared with people, and how sure that is."""
    return (
        f"How good is the AI model {model!r}, compared with people? Call look_up_model, then explain. Report the IQ "
        "with its 90% interval and rank, the strongest and weakest dimension, and how many benchmarks were measured "
        "and estimated. Say what would be most worth measuring next. Give every number its interval, status and source."
    )


def compare_models(first: str, second: str) -> str:
    """Say which of two models is better, at what, and how sure that is."""
    return (
        f"Which is better, {first!r} or {second!r}, and at what? Call compare with both. Report the chance that the "
        "first is above the second, the tests on which they differ most, and what the answer does not cover."
    )


def check_human_level(model: str, benchmark: str) -> str:
    """Check a claim that a model is at human level on a benchmark."""
    return (
        f"Is {model!r} at human level on {benchmark!r}? Call look_up_benchmark for the people who took it, then "
        "compare with the model and each of those groups. Say which people are meant, whether their score was measured "
        "or judged, and how sure the answer is."
    )


PROMPTS = (place_model, compare_models, check_human_level)
