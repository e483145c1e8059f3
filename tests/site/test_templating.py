"""Templates: a column may be called like a method of Python's dictionaries, and its value is what a page shows."""

import jinja2
import pytest

from mensura.site.templating import Templates

METHODS = sorted(name for name in dir(dict) if not name.startswith("_"))


@pytest.fixture
def templates():
    return Templates("mensura.serve")


@pytest.mark.parametrize("name", METHODS)
def test_a_column_named_like_a_method_shows_its_value(templates, name):
    assert templates.from_string(f"{{{{ row.{name} }}}}").render(row={name: "a value"}) == "a value"


@pytest.mark.parametrize("name", METHODS)
def test_a_column_that_is_missing_shows_nothing_rather_than_a_method(templates, name):
    assert templates.from_string(f"{{{{ row.{name} }}}}").render(row={"other": 1}) == ""
    with pytest.raises(jinja2.UndefinedError):
        templates.from_string(f"{{{{ row.{name}() }}}}").render(row={})


def test_values_are_escaped_and_other_objects_keep_their_attributes(templates):
    page = templates.from_string("{{ text.upper() }} {{ row.text }}").render(text="a", row={"text": "<b>"})
    assert page == "A &lt;b&gt;"
