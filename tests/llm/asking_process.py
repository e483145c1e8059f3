"""A process that asks, for tests that kill it: ``python asking_process.py URL JOURNAL COUNT CONCURRENCY``.

Prints each answer that was reported as one line ``NUMBER VALUE``, so that a test knows what had been promised.
"""

import sys

from mensura.llm import open_asker
from tests.llm.conftest import questions, read_level

if __name__ == "__main__":
    url, journal, count, concurrency = sys.argv[1:]
    with open_asker("mine", journal=journal, base_url=url, concurrency=int(concurrency)) as asker:
        for number, answer in enumerate(asker.stream(iter(questions(int(count))), read_level)):
            print(number, answer.value, flush=True)
