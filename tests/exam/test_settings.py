"""What ``exam.toml`` may contain. Unknown keys are refused."""

from mensura.exam.settings import CATALOGUES, english, read_texts

SHIPPED = sorted(path.stem for path in CATALOGUES.glob("*.toml"))


def test_seven_languages_ship_and_lack_nothing(tmp_path):
    assert SHIPPED == ["ar", "de", "en", "es", "fr", "pt", "zh"]
    for code in SHIPPED:
        texts, wrong = read_texts(code, tmp_path)
        assert wrong == []
        assert set(texts.words) == set(english().words)
        copied = {key for key in texts.words if texts.words[key] == english().words[key]}
        assert code == "en" or copied <= {"direction", "question", "instructions"}
    assert read_texts("ar", tmp_path)[0].direction == "rtl"
    assert read_texts("de-AT", tmp_path)[0]("saved") == "Gespeichert."
