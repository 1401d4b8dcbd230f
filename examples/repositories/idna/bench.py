"""Encodes and decodes domains that it never had before; tells the processor seconds of the best of five rounds.

Words come back in other domains and names of countries in most, as they do in a log; whole domains never.
"""

import hashlib
import time

import idna

NAMES = ["example", "straße", "königsgäßchen", "παράδειγμα", "例え", "مثال", "דוגמה", "пример", "a1-b2", "ßß"]
ENDS = ["com", "test", "рф"]


def domains(number):
    """Eight hundred of them, others for each number."""
    for place in range(800):
        name, other = NAMES[place % 10], NAMES[place // 10 % 10]
        yield f"{name}{number * 800 + place}.{other if place % 2 else f'{other}{place % 7}{number}'}.{ENDS[place % 3]}"


def once(given):
    encoded = [idna.encode(domain) for domain in given]
    return encoded, [idna.decode(domain) for domain in encoded]


found = once(list(domains(0)))
digest = hashlib.sha256(repr(found).encode()).hexdigest()[:16]
times = []
for number in range(1, 6):
    given = list(domains(number))
    began = time.process_time()
    once(given)
    times.append(time.process_time() - began)
assert digest == "233ff99187889caa", digest
print(f"seconds: {min(times):.6f}")
