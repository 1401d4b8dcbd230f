"""Transliterates texts that it never had before; tells the processor seconds of the best of five rounds."""

import hashlib
import random
import time

from unidecode import unidecode

TEXT = (
    "Příliš žluťoučký kůň úpěl ďábelské ódy Κνωσός και άλλα 北京 和 上海 是 中国 的 城市 Съешь же ещё этих мягких "
    "французских булок plain text with one é ひらがな と カタカナ \u20ac 100 — “quoted” naïve façade"
)
WORDS = TEXT.split()


def texts(number):
    """Three hundred texts of two hundred words, others for each number."""
    draw = random.Random(number)
    return [" ".join(draw.choices(WORDS, k=200)) for _ in range(300)]


def once(given):
    return [unidecode(text) for text in given]


found = once(texts(0))
digest = hashlib.sha256(repr(found).encode()).hexdigest()[:16]
times = []
for number in range(1, 6):
    given = texts(number)
    began = time.process_time()
    once(given)
    times.append(time.process_time() - began)
assert digest == "1f0dae470f58c68f", digest
print(f"seconds: {min(times):.6f}")
