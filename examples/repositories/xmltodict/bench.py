"""Parses documents that it never had before and writes them again; tells the processor seconds of the best of five."""

import hashlib
import time

import xmltodict

ITEM = (
    '<item id="{0}" kind="k{1}"><name>name {0}</name><price>{1}.50</price>'
    "<tags><tag>a{2}</tag><tag>b</tag></tags><empty/></item>"
)


def document(number):
    """A list of four thousand items, another for each number."""
    items = (ITEM.format(i + number, (i + number) % 7, i * number) for i in range(4000))
    return f"<list>{''.join(items)}</list>"


def once(given):
    parsed = xmltodict.parse(given)
    return parsed, xmltodict.unparse(parsed)


found = once(document(0))
digest = hashlib.sha256(repr(found).encode()).hexdigest()[:16]
times = []
for number in range(1, 6):
    given = document(number)
    began = time.process_time()
    once(given)
    times.append(time.process_time() - began)
assert digest == "acb448328c1109c8", digest
print(f"seconds: {min(times):.6f}")
