"""The seams of Swarm-Evo and what passes through them. Import from here.

search.py      SearchPolicy.ask / tell, ParentSelector     knows scores, not LLMs, files or problems
writing.py     Agent.generate, Reviewer.review, RulesWriter, WriterBox   prompts and replies; never run code
judging.py     Evaluator.evaluate                          reaches a verdict, out of the candidate's reach
running.py     JobRunner, Jobs, Sandbox, Session           run untrusted code and say what happened
keeping.py     Store, CallLog, GameBook, EventSink         facts and their events, one sequence
plugging.py    Problem, Game                               what a problem brings along

What a class of ours or of a third party may leave out stands in the `…Defaults` beside each.
"""

from __future__ import annotations

from core.contracts.judging import (
    CaseScore,
    Evaluation,
    Evaluator,
    EvaluatorDefaults,
    FinalEvaluation,
    RepeatedEvaluation,
)
from core.contracts.keeping import (
    CONFIRM,
    STAGES,
    WRITING_ROLES,
    CallLog,
    CallRecord,
    EventSink,
    GameBook,
    Store,
)
from core.contracts.plugging import (
    AgentBuilder,
    Baseline,
    EvaluatorDeps,
    FileTree,
    Game,
    GameDefaults,
    Outcome,
    Problem,
    ProblemDefaults,
    with_defaults,
)
from core.contracts.running import (
    BaseTree,
    ExecutionResult,
    JobContext,
    JobListener,
    JobResult,
    JobRunner,
    Jobs,
    JobSpec,
    JobState,
    Limits,
    Sandbox,
    Session,
    SessionFailure,
)
from core.contracts.search import (
    ParentSelector,
    PolicyDeps,
    Progress,
    Proposal,
    SearchPolicy,
)
from core.contracts.writing import (
    FORM,
    GATEWAY_PORT,
    NO_PROGRAM,
    WRITER_DISK_MB,
    WRITER_FOLDER,
    Agent,
    AgentContext,
    AgentDefaults,
    AgentResult,
    Confined,
    Prompt,
    Query,
    Reviewer,
    RulesWriter,
    Toolbox,
    WriterBox,
    WriterDesk,
)
from core.state.review import Review

__all__ = [
    "CONFIRM",
    "FORM",
    "GATEWAY_PORT",
    "NO_PROGRAM",
    "STAGES",
    "WRITER_DISK_MB",
    "WRITER_FOLDER",
    "WRITING_ROLES",
    "Agent",
    "AgentBuilder",
    "AgentContext",
    "AgentDefaults",
    "AgentResult",
    "BaseTree",
    "Baseline",
    "CallLog",
    "CallRecord",
    "CaseScore",
    "Confined",
    "Evaluation",
    "Evaluator",
    "EvaluatorDefaults",
    "EvaluatorDeps",
    "EventSink",
    "ExecutionResult",
    "FileTree",
    "FinalEvaluation",
    "Game",
    "GameBook",
    "GameDefaults",
    "JobContext",
    "JobListener",
    "JobResult",
    "JobRunner",
    "JobSpec",
    "JobState",
    "Jobs",
    "Limits",
    "Outcome",
    "ParentSelector",
    "PolicyDeps",
    "Problem",
    "ProblemDefaults",
    "Progress",
    "Prompt",
    "Proposal",
    "Query",
    "RepeatedEvaluation",
    "Review",
    "Reviewer",
    "RulesWriter",
    "Sandbox",
    "SearchPolicy",
    "Session",
    "SessionFailure",
    "Store",
    "Toolbox",
    "WriterBox",
    "WriterDesk",
    "with_defaults",
]
