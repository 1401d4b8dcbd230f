"""The configuration's section `execution`: where programs run, and what they may use."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator

from utils.config_section import LONGEST, LONGEST_WAIT, Section, comma_list


class RayConfig(Section):
    """A cluster of Ray (`execution.runner=ray`)."""

    address: str | None = None
    """`HOST:PORT` of a cluster, or `auto`; null: one is started on this machine."""
    num_cpus: int | None = Field(None, ge=1)
    """Processors of the one that is started here; null: all of them."""
    namespace: str | None = None
    """Ray's namespace of the workers; null: one of their own."""


class ModalConfig(Section):
    """Containers of Modal (`execution.runner=modal`)."""

    containers: int = Field(4, ge=1)
    """Containers that are kept warm: so many programs run at once at most."""
    image: list[str] | None = None
    """What `pip` installs into them; null: what our own problems need."""
    cpu: float | None = Field(None, gt=0)
    """Processors of one; null: Modal's own default, as with the next two."""
    memory: int | None = Field(None, ge=1)
    """Memory of one, in MiB."""
    gpu: str | None = None
    """Graphics card of one, by Modal's name for it."""

    @field_validator("image", mode="before")
    @classmethod
    def _comma_list(cls, value: Any) -> Any:
        return comma_list(value)


class ExecutionConfig(Section):
    timeout: float = Field(300.0, gt=0, le=LONGEST_WAIT)
    """Wall-clock seconds of one program's run; of a game's engines `arena` says it, as with the limits below."""
    sandbox: Literal["auto", "warm", "lite", "bubblewrap", "none"] = "auto"
    """The tier that programs run in; auto: the strongest that holds here. none needs --i-accept-unsandboxed."""
    runner: Literal["local", "ray", "modal"] = "local"
    """Where programs run: processes of this machine, Ray or Modal."""
    python: str | None = None
    """Interpreter for programs and evaluators; null: the one that runs Swarm-Evo."""
    gpus: float = Field(0, ge=0)
    """Graphics cards that a worker's programs may use, whole ones or a part of one: on Ray 0.25 lets four share it."""
    paths: list[str] = Field(default_factory=list)
    """Folders of toolchains (rustup, nvm, conda, …) that programs may read and run; `doctor` names those found here."""
    cpu_seconds: float | None = Field(None, gt=0, le=LONGEST)
    """Processor seconds of one run; null: four times the timeout."""
    memory_mb: int = Field(4096, ge=64, le=10**9)
    """Memory of one run."""
    processes: int = Field(128, ge=1)
    """Processes and threads of one run."""
    file_mb: int = Field(512, ge=1)
    """Size of one file that a program writes."""
    disk_mb: int = Field(1024, ge=1)
    """All that a program writes."""
    output_kb: int = Field(1024, ge=1)
    """What is kept of standard output and error."""
    threads: int = Field(1, ge=1)
    """Threads that numeric libraries may use in one run."""
    usd_per_hour: float = Field(0.0, ge=0)
    """Dollars that an hour of all the machines costs. They count in budget.usd while the search goes on."""
    preload: list[str] | None = None
    """Modules that the warm sandbox imports once; null takes the problem's list."""
    archive_best: int = Field(3, ge=0)
    """Competitions: what a program left in its workspace is kept of so many nodes with the best scores (`show RUN NODE
    --files`)."""
    archive_newest: int = Field(2, ge=0)
    """The same of so many of the last nodes."""
    archive_mb: float = Field(32.0, ge=0)
    """At most so much of each, before compression; 0 keeps nothing."""
    ray: RayConfig | None = None
    """The cluster, with `execution.runner=ray`."""
    modal: ModalConfig | None = None
    """The containers, with `execution.runner=modal`."""

    @field_validator("gpus")
    @classmethod
    def _whole_or_a_part(cls, value: float) -> float:
        if value > 1 and value != int(value):
            raise ValueError(f"{value:g} GPUs; allowed are whole numbers, and parts of one such as 0.5")
        return value

    @field_validator("preload", "paths", mode="before")
    @classmethod
    def _comma_list(cls, value: Any) -> Any:
        return comma_list(value)

    @field_validator("ray", "modal", mode="before")
    @classmethod
    def _nothing_said(cls, value: Any) -> Any:
        """Runs of before stored an empty mapping."""
        return value or None
