"""Names people write for models and benchmarks, and the ids they mean: exactly, but for spelling, or nearly."""

from mensura.intake.names import KnownNames


def test_where_no_name_is_known_none_is_offered():
    assert KnownNames([]).match("my-model").near == ()


def test_the_three_nearest_names_are_offered_best_first():
    names = KnownNames([(f"model-{sign}", f"Model {sign}") for sign in ("aaaa", "aaab", "aabb", "aacc")])
    assert names.match("model-aaaaa").near == ("model-aaaa", "model-aaab", "model-aacc")


def test_a_name_is_offered_from_a_likeness_of_72_percent():
    """Twice the letters in common, over the letters of both: 18 of 25 are 0.72, 16 of 24 and 18 of 26 less."""
    names = KnownNames([("abcdefghi" + "xyz", "")])
    assert names.match("abcdefghi" + "1234").near == ("abcdefghixyz",)
    assert names.match("abcdefghi" + "12345").near == ()
    assert names.match("abcdefgh" + "1234").near == ()


def test_a_name_that_holds_another_whole_is_near_but_for_one_or_two_letters():
    names = KnownNames([("gpqa", "GPQA"), ("o1", "o1")])
    assert names.match("GPQA Diamond of the year").near == ("gpqa",)
    assert names.match("o1-very-long-name").near == ()
    assert names.match("o1p").near == ()
    assert KnownNames([("abc", "abc")]).match("abc-very-long-name").near == ("abc",)


def test_a_name_with_its_provider_before_it_is_the_last_part():
    names = KnownNames([("gpt-5.5", "GPT-5.5")])
    for found in (names.match("hub/openai/gpt-5.5"), names.match("openai/GPT 5.5")):
        assert (found.id, found.how) == ("gpt-5.5", "without its provider")
    assert names.ident("hub/openai/GPT 5.5") == "gpt-5.5"
    assert names.ident("openai/nothing") is None


def test_names_that_two_ids_share_belong_to_neither():
    names = KnownNames([("a-1", "Alpha One"), ("a1", "Other"), ("b", "Alpha-One ")])
    assert names.match("a-1").id == "a-1"
    assert names.match("A 1").id is None
    assert names.match("alpha one").near == ("a-1", "b")


def test_versions_are_told_apart_by_their_dot():
    names = KnownNames([("gpt-4.1", "GPT-4.1"), ("gpt-41", "GPT-41")])
    assert names.match("gpt 4.1").id == "gpt-4.1"
    assert names.match("GPT_4-1").id == "gpt-4.1"
    assert names.match("gpt41").id == "gpt-41"
