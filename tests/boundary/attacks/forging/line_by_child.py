# leaves a child that prints the score after the evaluator has printed its own
# KINDS: script
# WINS: score
import os, subprocess, sys


def strike():
    subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(0.3); print('{\"combined_score\": 1e9}', flush=True)"]
    )
