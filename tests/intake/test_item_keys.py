"""Options and keys one cell at a time: each way of writing them, and what is understood of it."""

import pytest

from mensura.intake.item_keys import (
    RawItem,
    boxed_answer,
    cell_words,
    marked_options,
    option_list,
    options_in_text,
    resolve_keys,
    separate_keys,
    turns,
)

RIVERS = ("Elbe", "Danube", "Rhine")


def raw(key, options=RIVERS, labels=(), cells=None, first_is_one=False):
    return RawItem("row 1", cells or {}, "Which?", tuple(options), tuple(labels), key, first_is_one)


def places(*raws, first=None):
    """The places of the right options of each item."""
    return [places for _, _, places in resolve_keys(raws, first)[0]]


@pytest.mark.parametrize(
    ("cell", "options", "labels"),
    [
        (["A) Elbe", "B) Danube"], ("Elbe", "Danube"), ("A", "B")),
        (["1. Elbe", "2. Danube"], ("Elbe", "Danube"), ("1", "2")),
        (["A) Elbe", "C) Danube"], ("A) Elbe", "C) Danube"), ()),
        (["Elbe", "Danube", ""], ("Elbe", "Danube"), ()),
        ('["Elbe", "Danube"]', ("Elbe", "Danube"), ()),
        ("['Elbe' 'Danube']", ("Elbe", "Danube"), ()),
        ("Elbe | Danube", ("Elbe", "Danube"), ()),
        ("Elbe; Danube", ("Elbe", "Danube"), ()),
        ("Elbe", ("Elbe",), ()),
        ({"A": "Elbe", "B": "Danube", "C": None}, ("Elbe", "Danube"), ("A", "B")),
        ({"text": ["Elbe", "Danube"], "label": ["x", "y"]}, ("Elbe", "Danube"), ("x", "y")),
        ({"Elbe": 0, "Danube": 1}, ("Elbe", "Danube"), ()),
        ([["A", "Elbe"], ["B", "Danube"]], ("Elbe", "Danube"), ("A", "B")),
        (None, (), ()),
    ],
)
def test_options_are_a_list_labels_or_text_that_writes_either(cell, options, labels):
    assert option_list(cell) == (options, labels)


def test_of_a_conversation_the_words_of_its_user_are_the_question():
    spoken = [{"role": "system", "content": "Be brief."}, {"from": "human", "value": "Which?"}, "It is long."]
    assert turns(spoken) == [("system", "Be brief."), ("human", "Which?"), (None, "It is long.")]
    assert cell_words(spoken) == "Which?\nIt is long."
    assert (cell_words(None), cell_words(" 7 ")) == ("", "7")


@pytest.mark.parametrize(
    ("key", "options", "place"),
    [
        ("B", RIVERS, (1,)),
        ("(b)", RIVERS, (1,)),
        ("danube.", RIVERS, (1,)),
        ("B) Danube", RIVERS, (1,)),
        ("B) Rhine", RIVERS, ()),  # the letter and the text disagree
        ("A,C", RIVERS, (0, 2)),
        ("AC", RIVERS, (0, 2)),
        (["Elbe", "Rhine"], RIVERS, (0, 2)),
        ([0, 1, 1], RIVERS, (1, 2)),
        ([1, 2], RIVERS, (1, 2)),  # two numbers are no marks of three options
        (True, ("no", "yes"), (1,)),
        (False, ("True", "False"), (1,)),
        ("Thames", RIVERS, ()),
        (None, RIVERS, ()),
    ],
)
def test_a_key_is_a_label_a_letter_a_text_or_a_mark_for_each_option(key, options, place):
    assert places(raw(key, options)) == [place]


def test_numbers_are_counted_from_0_unless_one_can_only_be_the_last_of_a_count_from_1():
    assert places(raw(2), raw(1)) == [(2,), (1,)]
    assert places(raw(3), raw(1)) == [(2,), (0,)]
    assert places(raw(3), raw(0)) == [(), (0,)]  # 0 is among them: 3 is no option
    assert places(raw(1), first=1) == [(0,)]
    assert places(raw(1, first_is_one=True)) == [(0,)]
    assert places(raw("2.0"), raw("1;2")) == [(2,), (1, 2)]
    _, (note,) = resolve_keys([raw(3), raw(1)], None)
    assert note.startswith("keys are numbers of options, read as counted from 1;")
    assert note.endswith("say --map key=COLUMN:0")


def test_a_number_that_is_itself_an_option_is_that_option():
    assert places(raw("2", ("1", "2", "4"))) == [(1,)]
    assert places(raw("2", RIVERS, labels=("2", "1", "0"))) == [(0,)]


def test_questions_with_nothing_but_yes_and_no_as_keys_get_both_as_options():
    assert resolve_keys([raw("yes", ()), raw("no", ())], None)[0] == [
        (("no", "yes"), ("yes",), (1,)),
        (("no", "yes"), ("no",), (0,)),
    ]
    assert resolve_keys([raw("True", ()), raw("False", ())], None)[0][0] == (("false", "true"), ("true",), (1,))
    assert resolve_keys([raw("yes", ()), raw("maybe", ())], None)[0][0] == ((), ("yes",), ())
    asked = [raw(answer, (), cells={"Passage": "The Elbe is long."}) for answer in ("1", "1")]
    assert resolve_keys(asked, None)[0][0] == (("no", "yes"), ("yes",), (1,))


def test_an_open_answer_is_what_stands_behind_the_worked_solution():
    keys = ["3 + 4 = 7\n#### 1,024", " about 7 ", "#### 1,02", {"value": "7", "aliases": ["seven", "7"]}]
    assert [words for _, words, _ in resolve_keys([raw(key, ()) for key in keys], None)[0]] == [
        ("1024",),
        ("about 7",),
        ("1,02",),
        ("7", "seven"),
    ]


def test_several_keys_stand_between_bars_or_on_lines():
    assert separate_keys("Elbe | Rhine ") == ["Elbe", "Rhine"]
    assert separate_keys("Elbe|Danube\nRhine") == ["Elbe|Danube", "Rhine"]
    assert separate_keys('["Elbe|Rhine"]') == '["Elbe|Rhine"]'
    assert separate_keys(7) == 7


def test_options_that_are_marked_as_right_are_the_keys():
    assert marked_options({"choices": ["Elbe", "Rhine"], "labels": [0, 1]}) == ["Rhine"]
    assert marked_options({"Elbe": 1, "Rhine": 0}) == ["Elbe"]
    assert marked_options([{"text": "Elbe", "correct": False}, {"text": "Rhine", "correct": True}]) == ["Rhine"]
    assert marked_options({"A": 1, "B": 0}) == []  # labels with values, not options with marks
    assert marked_options("Elbe") == []


def test_options_at_the_end_of_a_question_are_taken_where_the_key_is_among_them():
    question = "Which river? A) Elbe B) Danube"
    assert options_in_text(question, "B") == ("Which river?", ("A", "B"), ("Elbe", "Danube"))
    assert options_in_text(question, "Thames") == (question, (), ())
    listed = "Which river?\nOptions:\n- Elbe\n- Danube"
    assert options_in_text(listed, "Danube") == ("Which river?", (), ("Elbe", "Danube"))
    assert options_in_text("Is it 1. or 2. of May?", "1")[1:] == ((), ())  # numbers label at the start of a line only


@pytest.mark.parametrize(
    ("solution", "answer"),
    [
        (r"So \boxed{3} and \boxed{\frac{3}{8}}.", r"\frac{3}{8}"),
        (r"\boxed{}", ""),
        ("about 7", "about 7"),
        (r"\boxed{7", r"\boxed{7"),
    ],
)
def test_the_last_box_of_a_solution_is_its_answer(solution, answer):
    assert boxed_answer(solution) == answer


@pytest.mark.parametrize(
    ("key", "place"),
    [
        ("['Elbe', 'Rhine']", (0, 2)),
        ('{"text": ["Rhine"], "answer_start": [3]}', (2,)),
        ("c", (2,)),
        ("0", (0,)),
        ("2", (2,)),
        ("AA", ()),
        ("AD", ()),
        (["Rhine", None, " "], (2,)),
        ("[oops", ()),
        ("elbe. ", (0,)),
        ("(C)", (2,)),
    ],
)
def test_keys_that_are_lists_in_text_or_letters(key, place):
    assert places(raw(key)) == [place]


def test_keys_beside_labels_and_other_numbers_of_options():
    assert places(raw(0, ("no", "yes")), raw(1, ("no", "yes"))) == [(0,), (1,)]
    assert places(raw("d", RIVERS)) == [()]
    assert places(raw("B", ("x", "y"), labels=("B", "A"))) == [(0,)]
    assert places(raw([True, False, False])) == [(0,)]
    assert places(raw([0, 0, 0])) == [(0,)]  # no mark: three times the first option
    assert places(raw(True, ("Yes.", "No."))) == [(0,)]
    assert places(raw(True, ("perhaps", "never"))) == [()]
