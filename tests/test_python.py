"""What ``help()`` shows of every public function runs, and every result draws itself and goes to pandas."""

import doctest
import inspect

import pytest

import mensura
from mensura.core.results import Result

VERBS = [name for name in mensura.__all__ if inspect.isfunction(getattr(mensura, name))]


@pytest.mark.slow
@pytest.mark.parametrize("name", VERBS)
def test_the_example_of_the_help_runs(name):
    found = doctest.DocTestParser().get_doctest(
        inspect.getdoc(getattr(mensura, name)), {"mensura": mensura}, name, None, None
    )
    assert found.examples, f"help(mensura.{name}) has no example"
    run = doctest.DocTestRunner(verbose=False)
    run.run(found, clear_globs=False)
    assert run.summarize(verbose=False).failed == 0
    for result in (value for value in found.globs.values() if isinstance(value, Result)):
        assert set(result.to_pandas()) == set(result.tables())
        assert "<svg" in result.plot()._repr_svg_()
        assert len(result._repr_html_()) > len(result.heading)


@pytest.mark.parametrize("name", VERBS)
def test_a_wrong_argument_is_named(name):
    """A number in the place of a table, pool, result or name; other arguments are right or left out."""
    verb = getattr(mensura, name)
    needed = [one for one in inspect.signature(verb).parameters.values() if one.default is one.empty]
    first = next(iter(inspect.signature(verb).parameters))
    plain = {one.name: 3.5 for one in needed if one.kind is one.POSITIONAL_OR_KEYWORD} | {first: 3.5}
    given = {one.name: "recorded/example" for one in needed if one.kind is one.KEYWORD_ONLY}
    with pytest.raises(mensura.MensuraError, match=rf"^({'|'.join(plain)}): "):
        verb(**plain, **given)


def test_a_figure_of_something_else_than_evidence_is_refused():
    with pytest.raises(mensura.MensuraError, match=r"^evidence: got 3; expected evidence"):
        mensura.figure("iq-bell", 3)
