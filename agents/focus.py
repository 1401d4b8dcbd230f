"""What each of several writers that are asked at the same time is to work on, so that no two get the same prompt."""

from __future__ import annotations

from itertools import combinations

FOCI: dict[str, tuple[str, ...]] = {
    "program": (
        "the features: what the data hold that no program uses yet",
        "the model: another family of models, or the parameters of this one",
        "the target and the loss: a transformation, weights, what the metric punishes",
        "the data: missing values, outliers, rare categories, rows that mislead",
        "validation and regularisation: what generalises from few rows",
        "a blend: models whose errors differ",
    ),
    "function": (
        "the formula: another way to rate the same facts",
        "a special case that deserves a rule of its own",
        "facts that are given and not used yet",
        "the constants and the shape of the curve between them",
        "the end of the game: what changes when little is left",
        "simplicity: fewer terms that say more",
    ),
    "script": (
        "the algorithm: another method for the whole task",
        "the start: what the search begins from",
        "the last mile: polishing what is nearly good",
        "the structure: symmetry, order, constraints that can be used",
        "the effort: more work within the limits, by faster code",
        "the parameters and when they change",
    ),
    "tree": (
        "the work that is done twice, or for nothing",
        "the algorithms and the data structures that carry most of what is measured",
        "what stands in the innermost loops",
        "what the standard library or an installed package does better",
        "the ways between the parts: what they hand to each other, and in which form",
        "a special case that most of what is measured falls into",
    ),
}
"""Kind of program → directions, each a half-sentence."""


def focus_of(index: int, kind: str) -> str:
    """The direction of the writer with that number: each alone first, then in pairs; different for neighbours."""
    foci = FOCI[kind]
    pairs = list(combinations(range(len(foci)), 2))
    place = index % (len(foci) + len(pairs))
    chosen = (place,) if place < len(foci) else pairs[place - len(foci)]
    words = ", together with ".join(foci[i] for i in chosen)
    return (
        "Several writers are asked at the same time, each for another direction. "
        f"Yours is {words}. Leave it only for what clearly promises more."
    )
