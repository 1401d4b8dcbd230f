"""A writer that plays recorded replies: `play.py REPLIES.md` reads a prompt and prints the reply that is due.

Which one it is follows from the prompt alone: how many steps are left, and whether a program that failed is to be
repaired. Steps stand between lines `%%%`, the repair of a step's program below a line `%%+`.
"""

import re
import sys
from pathlib import Path

prompt = sys.stdin.read()
steps = Path(sys.argv[1]).read_text(encoding="utf-8").split("\n%%%\n")
left = re.findall(r"Steps left, this one included: (\d+)\.", prompt)
place = len(steps) - int(left[-1]) if left else 0
replies = steps[max(0, min(place, len(steps) - 1))].split("\n%%+\n")
print(replies[-1 if "The program above failed." in prompt else 0])
