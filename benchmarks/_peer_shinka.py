"""A search by ShinkaEvolve, run by an interpreter that has it: `_peer_shinka.py FOLDER URL COUNT`.

FOLDER holds `initial_program.py` and `evaluate.py`; results go to FOLDER/out. Everything that would ask a model for
something else than programs is off, and so are embeddings.
"""

from __future__ import annotations

import sys
from pathlib import Path

from shinka.core import EvolutionConfig, ShinkaEvolveRunner  # type: ignore[import-not-found]
from shinka.database import DatabaseConfig  # type: ignore[import-not-found]
from shinka.launch import LocalJobConfig  # type: ignore[import-not-found]

if __name__ == "__main__":
    folder, url, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    runner = ShinkaEvolveRunner(
        evo_config=EvolutionConfig(
            task_sys_msg="Maximize the score.", patch_types=["full"], patch_type_probs=[1.0], num_generations=count + 1,
            llm_models=[f"local/scripted@{url}"], llm_dynamic_selection=None, meta_rec_interval=None,
            embedding_model=None, max_novelty_attempts=1, init_program_path=str(folder / "initial_program.py"),
            results_dir=str(folder / "out"),
        ),
        job_config=LocalJobConfig(eval_program_path=str(folder / "evaluate.py"), python_executable=sys.executable),
        db_config=DatabaseConfig(),
        max_evaluation_jobs=2,
        max_proposal_jobs=2,
        verbose=False,
    )  # fmt: skip
    runner.run()
