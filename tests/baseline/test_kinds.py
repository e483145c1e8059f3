"""The kinds of people, items and conditions whose errors were learned."""

import pytest

from mensura import MensuraError
from mensura.baseline.kinds import (
    NEAR,
    describe_people,
    find_people,
    kind_of_domain,
    kind_of_format,
    kind_of_people,
    kind_of_report,
    list_people,
)
from mensura.people import World

DESCRIPTIONS = {
    "everyone but students": "people",
    "staff of a university": "people",
    "former pupils of a boarding school": "people",
    "expert-level pupils": "pupils",
    "freshmen, there was no deadline": "students, no time limit",
    "adults who speak English as a second language": "people, home language differs",
    "crowd workers without time limit": "crowd, no time limit",
    "adults with a high school education": "people",
    "working class adults in the United Kingdom": "people",
    "health-care workers in Kenya": "people",
    "MTurk workers, no time limit, English is not their first language": "crowd, no time limit, home language differs",
    "university students in Germany": "students",
    "undergraduate students, 15 seconds per item": "students, time limit",
    "graduate students in physics": "experts",
    "PhD experts with internet access, 30 minutes per question": "experts",
    "non-expert validators with the open web": "people",
    "people who are not experts in the field": "people",
    "doctors and lawyers under time pressure": "experts, time limit",
    "retired professors": "experts",
    "15-year-olds in Japan": "pupils",
    "65-year-olds in Japan": "people",
    "pupils in grade 8 who learn in a second language": "pupils, home language differs",
    "children of 9 to 12 years": "pupils",
    "parents of school children in France": "people",
    "adults with young children": "people",
    "primary-school teachers in Ghana": "people",
    "high school students in Texas, untimed": "pupils, no time limit",
    "high-school dropouts": "people",
    "people who never went to university": "people",
    "adults without a college degree": "people",
    "people who left school at fourteen": "people",
    "former students of a language school, now in their forties": "people",
    "college graduates aged 30 to 50": "people",
    "college seniors, at their own pace": "students, no time limit",
    "university staff in Sweden": "people",
    "a university class in Chile, a timed quiz": "students, time limit",
    "participants of a lab at Princeton": "students",
    "laboratory workers in a hospital": "people",
    "factory workers on the night shift": "people",
    "Prolific participants, 90-minute sessions": "crowd",
    "adults of an online panel, aged 19 to 78": "crowd",
    "a random-sample panel of households": "people",
    "visitors of a quiz website who answered against the clock": "crowd, time limit",
    "office workers, internet not allowed": "people",
    "volunteers on a web site, most of them students, without a time limit": "crowd, no time limit",
    "native English speakers who took a web vocabulary test": "crowd",
    "non-native speakers on MTurk": "crowd, home language differs",
    "migrants in Norway who do not speak Norwegian at home": "people, home language differs",
    "English language learners in grade 4": "pupils, home language differs",
    "middle class adults in Brazil with two minutes for 13 questions": "people, time limit",
    "world-class chess players": "people",
    "adults with no time limit who are not students": "people, no time limit",
    "students with unlimited time": "students, no time limit",
    "adults who may take as long as they want": "people, no time limit",
    "candidates of a national secondary-school exam": "pupils",
    "applicants who sit a university entrance exam with a time limit": "pupils, time limit",
    "adults aged 25 to 64, national probability sample": "people",
    "people of every age and amount of schooling": "people",
    "nurses with a university degree, one minute per question": "people, time limit",
    "social workers, not timed": "people, no time limit",
    "gig workers recruited via an app": "crowd",
    "specialists in tax law with a 30-second limit": "experts, time limit",
    "adults in a village, tested in their third language": "people, home language differs",
    "twelve-year-olds, five seconds for each word": "pupils, time limit",
    "adults better educated than college students": "people",
    "kindergarten teachers and school nurses": "people",
    "people without professional training in medicine": "people",
    "blue-collar workers in the US": "people",
    "adults who completed secondary school": "people",
    "first-year psychology students": "students",
    "fifth-grade pupils": "pupils",
    "Amazon Mechanical Turk workers with a 95% approval rate": "crowd",
    "online participants given 30 seconds per question": "crowd, time limit",
    "adults, time limit of 20 minutes": "people, time limit",
    "people with a second job": "people",
    "immigrants whose mother tongue is not German": "people, home language differs",
    "bilingual adults tested in their native language": "people",
    "experts in machine learning": "experts",
    "amateurs, no professionals": "people",
    "medical doctors without internet access": "experts",
    "school administrators": "people",
    "adults attending evening classes": "people",
    "representative sample of adults in Italy, interviewed at home": "people",
    "older adults in care homes": "people",
    "job applicants who take a timed test": "people, time limit",
    "adults who have all day": "people",
    "teenagers in Brazil": "pupils",
    "self-taught programmers without a degree": "people",
    "MBA students": "students",
    "Chinese students studying abroad in English": "students",
    "timed: 2 min per item; U.S. undergraduates": "students, time limit",
    "care workers": "people",
    "high-school-educated adults": "people",
    "no native speakers of English": "people, home language differs",
    "speakers of Hindi tested in English": "people, home language differs",
    "speakers of Hindi tested in Hindi": "people",
    "adults who learned English at school": "people",
    "people studying at a university": "students",
    "children's librarians": "people",
    "SAT test takers": "pupils",
    "A-level candidates in England": "pupils",
    "GRE test takers": "students",
    "computer science grad students": "experts",
    "undergraduate and postgraduate students": "students",
    "board-certified cardiologists, closed book": "experts",
    "physicists over all fields": "experts",
    "a three-time IMO gold medallist": "experts",
    "CloudResearch participants in the US": "crowd",
    "workers with a masters qualification on AMT": "crowd",
    "freelancers hired on Upwork": "crowd",
    "people under a strict 30 minute limit": "people, time limit",
    "adults with one hour for 40 questions": "people, time limit",
    "students, about 110 s each, no hard limit": "students, no time limit",
    "adults who are not experts under time pressure": "people, time limit",
    "adults who were not put under time pressure": "people, no time limit",
    "doctors of a military unit": "experts",
    "Erwachsene in Deutschland ohne Zeitlimit": "people, no time limit",
    "Schülerinnen und Schüler der 9. Klasse, 30 Sekunden pro Aufgabe": "pupils, time limit",
    "Studierende unter Zeitdruck, Deutsch als Fremdsprache": "students, time limit, home language differs",
    "keine Fachleute": "people",
    "étudiants en deuxième année, sans limite de temps": "students, no time limit",
    "élèves de collège dont la langue maternelle n'est pas le français": "pupils, home language differs",
    "adultes francophones en temps limité": "people, time limit",
    "estudiantes universitarios sin límite de tiempo": "students, no time limit",
    "retired schoolteachers in Ohio": "people",
    "adults who went to school for less than six years": "people",
    "pensioners instead of pupils": "people",
    "adults rather than students, in a rush": "people, time limit",
    "people who have never worked as crowd workers": "people",
    "people whose first language isn't English, tested in English": "people, home language differs",
    "people who speak Spanish at home and take the test in English": "people, home language differs",
    "adults with limited English": "people, home language differs",
    "people who were given plenty of time": "people, no time limit",
    "adults; the time to answer was not limited": "people, no time limit",
    "participants asked to answer as quickly as possible": "people, time limit",
    "volunteers from the internet, no students among them": "crowd",
    "takers of an AP Chemistry exam": "pupils",
    "children of doctors aged 8 to 10": "pupils",
    "sons of lawyers": "people",
    "the patients of three physicians": "people",
    "a representative online panel of US adults": "people",
    "a panel representative of the adults of Brazil": "people",
}
"""Descriptions of people, and what they mean; a time limit that is not named is not stated."""


@pytest.fixture(scope="module")
def world():
    return World.load()


@pytest.mark.parametrize(
    ("prose", "kind"),
    [
        ("a national sample of pupils in grade 12", "pupils"),
        ("49 students in Germany", "students"),
        ("US adults on a crowd-work site (experiment 1)", "crowd"),
        ("adults 15+, national probability sample", ""),
        ("PhD experts in the field", "experts"),
        ("people of every age and amount of schooling", ""),
    ],
)
def test_prose_names_the_kind_of_people(prose, kind):
    assert kind_of_people(prose) == kind


@pytest.mark.parametrize("prose", DESCRIPTIONS)
def test_descriptions_are_read_with_negation_and_context(world, prose):
    read = describe_people(prose, world).read.split(";")[0]
    assert read.replace(" at large", "").replace(", time limit not stated", "") == DESCRIPTIONS[prose]


@pytest.mark.parametrize(
    ("prose", "country"),
    [
        ("Nigerian students of law", "NGA"),
        ("Mexicans over 60", "MEX"),
        ("pupils in South Sudan", "SSD"),
        ("people in South America", None),
        ("Latin American students", None),
        ("native speakers of Vietnamese in Singapore", "SGP"),
        ("native Chinese speakers in Germany", "DEU"),
        ("Nepalese pupils tested in Chinese", "NPL"),
        ("candidates of an exam in Brazil with questions on Portuguese", "BRA"),
    ],
)
def test_the_name_of_a_people_is_read_and_a_language_is_none(world, prose, country):
    words = describe_people(prose, world).distance_words
    assert (f"({country})" in words) if country else words.startswith("no country is named")


@pytest.mark.parametrize(
    ("prose", "traits", "votes"),
    [
        ("crowd workers", "rater", 1),
        ("crowd workers, majority of 5", "rater majority", 5),
        ("three annotators, majority", "rater majority", 3),
        ("5 crowdworkers per item, aggregated by majority vote", "rater majority", 5),
        ("workers with a masters qualification on AMT", "rater qualified", 1),
        ("the authors of the paper", "rater", 1),
        ("participants could use a search engine", "aids", 1),
        ("participants were not allowed to use a search engine", "", 1),
        ("annotators, web and tools", "rater aids", 1),
        ("adults with a dictionary", "aids", 1),
        ("pupils helped by a chatbot", "aids", 1),
        ("crowd workers who passed a 90% qualification, majority", "rater majority qualified", 3),
        ("MTurk workers, the majority of whom are women", "rater", 1),
        ("trained annotators with the passage", "rater qualified", 1),
        ("annotators who were not trained", "unscreened", 1),
        ("non-expert validators with the open web", "unscreened aids", 1),
        ("PhD experts without internet access", "rater expert", 1),
        ("experts paid for each correct answer, open book", "rater aids bonus expert", 1),
        ("best rater of the team", "rater best", 1),
        ("college students, no aids", "", 1),
        ("US adults on a crowd-work site", "", 1),
        ("pupils in grade 8", "", 1),
    ],
)
def test_traits_of_raters_are_read(world, prose, traits, votes):
    read = describe_people(prose, world)
    assert (set(read.traits), read.votes) == (set(traits.split()), votes)


def test_kind_and_time_pressure_can_be_said_outright(world):
    read = describe_people("quizzers", world, kind="crowd", timed=True)
    assert (read.kind, read.timed, read.read) == ("crowd", True, "crowd, time limit")
    at_large = describe_people("students, 15 seconds per item", world, kind="people", timed=False)
    assert (at_large.kind, at_large.timed, at_large.read) == ("", False, "people at large, no time limit")
    with pytest.raises(MensuraError, match="kind: got 'wizards'; expected one of experts, pupils"):
        describe_people("quizzers", world, kind="wizards")


def test_people_who_are_said_not_to_be_poor_are_near(world):
    assert describe_people("adults, none of them poor, not from a rural village", world).distance == 0
    assert describe_people("adults with poor eyesight", world).distance == 0
    assert describe_people("poor adults", world).distance >= 1
    assert describe_people("adults with low literacy", world).distance >= 1


def test_time_pressure_is_read_from_the_prose(world):
    assert describe_people("undergraduates, 15 seconds per item", world).timed
    assert not describe_people("undergraduates", world).timed


def test_people_of_poor_countries_are_far_and_the_answer_says_so(world):
    near, far = describe_people("adults in Sweden", world), describe_people("adults in Niger", world)
    assert near.distance == 0
    assert far.distance > 1
    assert "far from" in far.distance_words
    assert "NER" in far.distance_words


def test_rural_people_are_far_even_where_no_country_is_named(world):
    assert describe_people("illiterate women in a village", world).distance >= 1


def test_two_letters_in_capitals_are_a_country_only_where_they_stand_apart(world):
    assert describe_people("IT professionals", world).distance_words.startswith("no country")
    assert "PAK" in describe_people("visitors of a site; PK, 2018", world).distance_words


def test_the_world_is_of_no_kind_and_schools_are_pupils(world):
    assert describe_people(world.population("world"), world).kind == ""
    assert describe_people(world.population("pisa"), world).kind == "pupils"


def test_only_self_reports_are_claims():
    assert [kind_of_report(form) for form in ("word checklist", "multiple choice", None)] == [
        "claimed",
        "tested",
        "tested",
    ]


def test_formats_and_domains_have_few_kinds_and_unknown_ones_stay_empty():
    assert [kind_of_format(count) for count in (None, 0, 2, 4)] == ["", "open", "two", "many"]
    words = ["Algebra", "trivia night", "Vocabulary", "logic puzzles", "basket weaving", None]
    assert [kind_of_domain(word) for word in words] == ["school", "knowledge", "vocabulary", "reasoning", "", ""]


def test_a_population_is_a_name_a_country_or_a_sentence(world):
    assert find_people("world", world).name == "world"
    sentence = find_people("  adults in Sweden ", world)
    assert (sentence.name, sentence.prose, find_people(sentence, world)) == (
        sentence.prose,
        "adults in Sweden",
        sentence,
    )
    for nobody in ("", "a", "a b"[:2], "atlantis"):
        with pytest.raises(MensuraError, match="a population that nobody described; expected a name"):
            find_people(nobody, world)
    assert find_people("a b", world).prose == "a b"


def test_populations_are_listed_one_by_one(world):
    assert list_people("DEU", world) == ["DEU"]
    assert list_people("World, DEU", world) == ["World", "DEU"]
    assert list_people("DEU, students", world) == ["DEU, students"]
    assert list_people(["DEU, IND", "nurses, doctors"], world) == ["DEU", "IND", "nurses, doctors"]
    with pytest.raises(MensuraError, match="people: nobody is named; give a population, a country or a sentence"):
        list_people([], world)


def test_distance_is_the_gap_in_learning_below_people_whom_models_know(world):
    niger = describe_people("adults in Niger", world)
    assert niger.distance == round(NEAR - world.learning("NER"), 3)
    pair = describe_people("adults in Niger and in Sweden", world)
    assert pair.distance == max(0.0, round(NEAR - (world.learning("NER") + world.learning("SWE")) / 2, 3))
    words = (
        f"the people (NER) are far from those that language models describe best: learning score {niger.distance:.1f}"
    )
    assert niger.distance_words.startswith(words)
    assert describe_people("poor adults", world).distance == 1.0
    assert describe_people(world.population("world"), world).distance_words.startswith("the people (the world) are")
