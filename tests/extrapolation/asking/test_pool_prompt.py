"""Many items in one prompt: every item is asked for once, and an answer is taken apart without guessing."""

import json

from mensura.extrapolation.prompts import item_facts
from mensura.extrapolation.whole_pool import ask_pool


def test_the_prompt_holds_every_item_with_its_rate_and_both_groups(new_task, sample):
    facts = item_facts(new_task(size=5, reference=sample))
    question = ask_pool(facts, share=0.4)
    for number, one in enumerate(facts, 1):
        row = next(line for line in question.prompt.splitlines() if line.startswith(f"i{number} | "))
        assert f"| {one.rate:.1%} | n = 1,234 |" in row and one.stem in row and f"correct: {one.answer}" in row
    assert facts[0].people in question.prompt and sample.prose in question.prompt
    assert "about 40% of their answers" in question.prompt and "2025" not in question.prompt
    assert json.loads(question.about["items"]) == ["q0", "q1", "q2", "q3", "q4"]


def test_the_world_form_asks_for_2025_and_says_nothing_of_shares(new_task):
    prompt = ask_pool(item_facts(new_task(size=3))).prompt
    assert "a random human being of 2025" in prompt and "of their answers" not in prompt
