"""Renders a recipe as a plain script with the sections DATA, FEATURES, MODEL, TRAIN and PREDICT."""

from __future__ import annotations

from problems.competition.rules import features, number_lists, row_files, side_lines, size
from problems.competition.rules.drafts import counts_sureness
from problems.competition.rules.drawn_rows import without_sparse
from problems.competition.rules.facts import EXTREME, FEWEST, Facts
from problems.competition.rules.families import FAMILIES
from problems.competition.rules.family import ABSOLUTE
from problems.competition.rules.recipe import MARK, Member, Recipe

SECTIONS = ("DATA", "FEATURES", "MODEL", "TRAIN", "PREDICT")
SUBMISSION = "submission/submission.csv"


def render(recipe: Recipe, facts: Facts) -> str:
    """The script. Equal recipes on equal facts give equal text."""
    facts = without_sparse(facts, recipe.rows)
    sections = _of_one(recipe, facts) if len(facts.targets) == 1 else _of_several(recipe, facts)
    body = "\n\n".join(f"# [SECTION: {name}]\n" + "\n".join(lines) for name, lines in sections.items())
    return f"{MARK}{recipe.dump()}\n{body}\n"


def _of_one(recipe: Recipe, facts: Facts) -> dict[str, list[str]]:
    freed = ["del rows"] if size.is_large(facts) else []
    return {
        "DATA": [*_data(recipe, facts), *_labels(facts), *(["del train"] if size.is_large(facts) else [])],
        "FEATURES": [*features.write(_steps(recipe, facts), facts, recipe.columns), *freed],
        "MODEL": _model(recipe, facts),
        "TRAIN": _train(recipe, facts),
        "PREDICT": [*_prediction(recipe, facts), *_hand_in(_table(facts))],
    }


def _of_several(recipe: Recipe, facts: Facts) -> dict[str, list[str]]:
    """A model of its own for each target; those of one kind come out of one function."""
    lines: list[str] = []
    calls: dict[str, str] = {}
    more = ", rows" if facts.unlabelled else ""  # each learns from those that have its label
    for place, (goal, alike) in enumerate(facts.by_goal().items()):
        name = f"learned_{goal.task}" if place == 0 else f"learned_{goal.task}_{place}"
        steps = features.write(_steps(recipe, alike), alike, recipe.columns)
        body = [*steps, "", *_model(recipe, alike), "", *_train(recipe, alike), "", *_prediction(recipe, alike)]
        doc = '    """What a model of its own predicts for a target."""'
        lines += [f"def {name}(TARGET{more}):", doc, *(f"    {line}" for line in _labels(facts))]
        lines += [f"    {line}" if line else "" for line in body] + ["    return prediction", "", ""]
        calls |= dict.fromkeys(alike.targets, name)
    table = "pd.DataFrame({ID: test[ID], **predictions})"
    learned = [f"predictions[{name!r}] = {calls[name]}({name!r}{more})" for name in facts.targets]
    return {
        "DATA": _data(recipe, facts),
        "MODEL": lines[:-2],
        "TRAIN": ["predictions = {}", *learned],
        "PREDICT": _hand_in(table),
    }


def constant(facts: Facts) -> str:
    """A script for data that this repertoire cannot read: the sample submission as it is."""
    return f"""# [SECTION: DATA]
import os
import shutil

# [SECTION: PREDICT]
os.makedirs("submission", exist_ok=True)
shutil.copyfile("input/sample_submission.csv", "{SUBMISSION}")
print("wrote the sample submission")
"""


def _data(recipe: Recipe, facts: Facts) -> list[str]:
    one = len(facts.targets) == 1
    aim = "TARGET" if one else "*TARGETS"
    key = [] if facts.key in facts.columns else ["ID"]  # a text or a time that names rows also says something
    others = [*key, aim, *map(repr, (*facts.scarce, *facts.files.naming))]
    apart = f"({', '.join(others)}{',' if len(others) == 1 else ''})"
    sides = [side for side in facts.sides if side.file in recipe.tables]
    return [
        "import os",
        "import warnings",
        "",
        "import numpy as np",
        "import pandas as pd",
        *_imports(recipe, facts),
        "",
        'warnings.filterwarnings("ignore")',
        f"ID, TARGET = {facts.key!r}, {facts.target!r}"
        if one
        else f"ID, TARGETS = {facts.key!r}, {list(facts.targets)!r}",
        *size.read(recipe, facts),
        *([] if facts.ids == facts.asks else [f'test.insert(0, ID, pd.read_csv("input/{facts.ids}")[ID])']),
        *_cut(facts),
        f"names = [name for name in test if name in train and name not in {apart}]",
        "names = [name for name in names if train[name].notna().any()]",
        "rows, test_rows = train[names], test[names]",
        *row_files.lines(facts.files, facts.table, facts.asks, facts.columns),
        *number_lists.lines(facts.lists, facts.columns),
        *side_lines.lines(sides, [(name, facts.date_formats.get(name, "")) for name in facts.dates]),
    ]


def _labels(facts: Facts) -> list[str]:
    """What is learned, and from which rows."""
    if not facts.unlabelled:
        return ["y = train[TARGET]"]
    return ["y = train[TARGET].dropna()  # a row without a label teaches nothing", "rows = rows.loc[y.index]"]


def _cut(facts: Facts) -> list[str]:
    """What no model takes, such as infinite values, is missing."""
    strays = [
        f"for name in {list(facts.strays)!r}:  # words among numbers are missing",
        "    for table in (train, test):",
        "        table[name] = pd.to_numeric(table[name], errors='coerce')",
    ]
    extreme = [
        f"for name in {list(facts.extreme)!r}:  # values that no model takes are missing",
        "    for table in (train, test):",
        f"        table[name] = table[name].where(table[name].abs() < {EXTREME:g})",
    ]
    return [*(strays if facts.strays else []), *(extreme if facts.extreme else [])]


def _steps(recipe: Recipe, facts: Facts) -> tuple[str, ...]:
    joins = any(side.file in recipe.tables for side in facts.sides)
    chosen = tuple(name for name in recipe.features if joins or name != "sifted")
    return features.needed(chosen, facts, {FAMILIES[member.family].wants for member in recipe.members})


def _imports(recipe: Recipe, facts: Facts) -> list[str]:
    wanted = {("sklearn.pipeline", "make_pipeline")} | features.imports(_steps(recipe, facts))
    wanted |= row_files.imports(facts.files)
    if recipe.weights == "learned":
        folds = [] if facts.dates else [_folds(alike) for alike in facts.by_goal().values()]
        wanted |= {("sklearn.model_selection", name) for name in ("cross_val_predict", *folds)}
        wanted |= {("scipy.optimize", "nnls")}
    if any(_is_coded(member, recipe, alike) for member in recipe.members for alike in facts.by_goal().values()):
        wanted |= {("sklearn.base", "BaseEstimator, ClassifierMixin, clone")}
    for member in recipe.members:
        family = FAMILIES[member.family]
        for alike in facts.by_goal().values():
            wanted |= set(family.imports(alike))
        wanted |= _PREPARATION[_preparation(member, recipe, facts)][0]
    by_module: dict[str, list[str]] = {}
    for module, name in sorted(wanted):
        by_module.setdefault(module, []).append(name)
    return [f"from {module} import {', '.join(names)}" for module, names in sorted(by_module.items())]


def _model(recipe: Recipe, facts: Facts) -> list[str]:
    lines: list[str] = []
    for name in dict.fromkeys(_preparation(member, recipe, facts) for member in recipe.members):
        lines += [*_PREPARATION[name][1], "", ""]
    lines += _CODED if any(_is_coded(member, recipe, facts) for member in recipe.members) else []
    lines += ["def build(seed):", '    """Pairs of weight and model."""', "    return ["]
    for member, share in zip(recipe.members, _shares(recipe, facts), strict=True):
        family = FAMILIES[member.family]
        made = family.write(member, facts, "seed")
        made = f"Coded({made})" if _is_coded(member, recipe, facts) else made
        lines.append(f"        ({share}, {_preparation(member, recipe, facts)}({made})),")
    return [*lines, "    ]"]


def _is_coded(member: Member, recipe: Recipe, facts: Facts) -> bool:
    """True for a model that a fold without a rare class would break."""
    return FAMILIES[member.family].counts and facts.classifies and facts.rarest < FEWEST and recipe.weights == "learned"


_CODED = [
    "class Coded(ClassifierMixin, BaseEstimator):",
    '    """Counts the classes that are there: a part of the rows may lack one."""',
    "",
    "    def __init__(self, model):",
    "        self.model = model",
    "",
    "    def fit(self, X, y):",
    "        self.classes_, codes = np.unique(y, return_inverse=True)",
    "        self.fitted_ = clone(self.model).fit(X, codes)",
    "        return self",
    "",
    "    def predict_proba(self, X):",
    "        return self.fitted_.predict_proba(X)",
    "",
    "    def predict(self, X):",
    "        return self.classes_[self.fitted_.predict(X)]",
    "",
    "",
]


def _shares(recipe: Recipe, facts: Facts) -> list[str]:
    """Of each model in the blend, in few digits. Those of probabilities are at most 1 together: graders refuse more."""
    total = sum(member.weight for member in recipe.members) or 1.0
    shares = [f"{member.weight / total:.4g}" for member in recipe.members]
    beyond = sum(map(float, shares)) - 1
    if facts.task in ("probability", "classes") and beyond > 1e-9:
        largest = max(range(len(shares)), key=lambda place: float(shares[place]))
        shares[largest] = f"{float(shares[largest]) - beyond:.6g}"
    return shares


def _preparation(member: Member, recipe: Recipe, facts: Facts) -> str:
    wants = FAMILIES[member.family].wants
    if wants != "trees":
        return wants
    if member.family == "cat" or (recipe.encode == "native" and member.family == "hgb"):
        return "native_columns" if facts.texts else "native"
    return "by_target" if recipe.encode == "target" else "ordinal"


_COMPOSE = {("sklearn.compose", "make_column_transformer"), ("sklearn.impute", "SimpleImputer")}
_TFIDF = {("sklearn.feature_extraction.text", "TfidfVectorizer"), ("sklearn.compose", "make_column_transformer")}
_TFIDF_LINE = (
    r"TfidfVectorizer(ngram_range=(1, 2), token_pattern=r'\b\w+\b', min_df=3 if len(X) > 600 else 1, sublinear_tf=True)"
)

_PREPARATION: dict[str, tuple[set[tuple[str, str]], list[str]]] = {
    "native": (
        set(),
        ["def native(model):", '    """Histogram boosting reads categories and missing values by itself."""',
         "    return make_pipeline(model)"],
    ),
    "native_columns": (
        _COMPOSE,
        ["def native_columns(model):",
         '    """Without the texts; categories and missing values the model reads by itself."""',
         '    columns = [("passthrough", [*categories, *numbers])]',
         "    columns = make_column_transformer(*columns, verbose_feature_names_out=False)",
         '    return make_pipeline(columns.set_output(transform="pandas"), model)'],
    ),
    "ordinal": (
        _COMPOSE | {("sklearn.preprocessing", "OrdinalEncoder")},
        ["def ordinal(model):",
         '    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)',
         '    columns = make_column_transformer((codes, categories), (SimpleImputer(strategy="median"), numbers))',
         "    return make_pipeline(columns, model)"],
    ),
    "by_target": (
        _COMPOSE | {("sklearn.preprocessing", "TargetEncoder")},
        ["def by_target(model):",
         "    means = TargetEncoder(random_state=0)",
         '    columns = make_column_transformer((means, categories), (SimpleImputer(strategy="median"), numbers))',
         "    return make_pipeline(columns, model)"],
    ),
    "dense": (
        _COMPOSE | {("sklearn.preprocessing", "OneHotEncoder, StandardScaler")},
        ["def dense(model):",
         '    flags = OneHotEncoder(handle_unknown="ignore", min_frequency=5, sparse_output=False)',
         '    scaled = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())',
         "    return make_pipeline(make_column_transformer((flags, categories), (scaled, numbers)), model)"],
    ),
    "text": (
        _TFIDF | _COMPOSE | {("sklearn.preprocessing", "OneHotEncoder, StandardScaler")},
        ["def text(model):",
         f"    words = [({_TFIDF_LINE}, name) for name in texts]",
         '    flags = OneHotEncoder(handle_unknown="ignore", min_frequency=5)',
         '    scaled = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())',
         "    columns = make_column_transformer(*words, (flags, categories), (scaled, numbers))",
         "    return make_pipeline(columns, model)"],
    ),
    "words": (
        _TFIDF,
        ["def words(model):",
         f"    return make_pipeline(make_column_transformer(*[({_TFIDF_LINE}, name) for name in texts]), model)"],
    ),
}  # fmt: skip


def _train(recipe: Recipe, facts: Facts) -> list[str]:
    lines = []
    if facts.classifies:
        lines += ["classes, goal = np.unique(y, return_inverse=True)", 'method = "predict_proba"']
    else:
        positive = "y.clip(lower=0)"  # a refit may learn rows below all that were shown
        transformed = {"log1p": f"np.log1p({positive})", "sqrt": f"np.sqrt({positive})"}.get(recipe.target, "y")
        lines += [f"goal = {transformed}.to_numpy(float)", "centre, spread = goal.mean(), goal.std()",
                  "goal = (goal - centre) / spread", 'method = "predict"']  # fmt: skip
    lines += ["", ""]
    lines += ["def predict(model):", "    return getattr(model.fit(X, goal), method)(X_test)", "", ""]
    if recipe.weights == "learned":
        lines += _learned(facts)
        shares = "shares"
    else:
        shares = "[weight for weight, _ in build(0)]"
    bags = f"range({recipe.bags})"
    return [
        *lines,
        f"results = [[predict(model) for _, model in build(seed)] for seed in {bags}]",
        f"shares = {shares}",
        "blend = sum(share * result for bag in results for share, result in zip(shares, bag)) / len(results)",
    ]


def _learned(facts: Facts) -> list[str]:
    """Weights ≥ 0 by least squares, or least absolute errors, on predictions for rows that no model learned."""
    truth = "np.eye(len(classes))[goal].ravel()" if facts.classifies else "goal"
    folds = "3" if facts.dates else f"{_folds(facts)}(3, shuffle=True, random_state=0)"
    absolute = [
        "for _ in range(20):  # towards least absolute errors, as the metric counts them",
        "    near = np.maximum(np.abs(truth - out_of_fold @ shares), 1e-3) ** -0.5",
        "    shares = nnls(out_of_fold * near[:, None], truth * near)[0]",
    ]
    return [
        f"folds, truth = {folds}, {truth}",
        "out_of_fold = [cross_val_predict(model, X, goal, cv=folds, method=method).ravel() for _, model in build(0)]",
        "out_of_fold = np.column_stack(out_of_fold)",
        "shares = nnls(out_of_fold, truth)[0]",
        *(absolute if facts.metric in ABSOLUTE else []),
        "shares = shares / shares.sum() if shares.any() else np.full(len(shares), 1 / len(shares))",
        'print("weights:", shares.round(3))',
        *(_SURENESS if counts_sureness(facts) else []),
        "",
    ]


_SURENESS = [
    "likely = np.clip((out_of_fold @ shares).reshape(len(goal), -1), 1e-15, 1)  # a mean is less sure than its models",
    "of_truth = np.arange(len(goal)), goal",
    "loss = lambda power: np.log((likely**power).sum(axis=1) / likely[of_truth] ** power).mean()",
    "power = min(np.arange(0.6, 3.1, 0.1), key=loss)",
]


def _folds(facts: Facts) -> str:
    return "StratifiedKFold" if facts.classifies else "KFold"


def _prediction(recipe: Recipe, facts: Facts) -> list[str]:
    if facts.task == "labels":
        lines = ["prediction = classes[blend.argmax(axis=1)]"]
        if recipe.rare:
            lines = ["shares = np.bincount(goal) / len(goal)  # a rare class needs less to be handed in",
                     f"prediction = classes[(blend / shares ** {recipe.rare}).argmax(axis=1)]"]  # fmt: skip
    elif facts.task == "classes":
        lines = [*_raised(recipe, facts), "prediction = pd.DataFrame(blend, columns=classes.astype(str))"]
    elif facts.task == "probability":
        lines = [*_raised(recipe, facts), "prediction = blend[:, 1]"]
    else:
        back = {"log1p": "np.expm1({})", "sqrt": "np.square(np.clip({}, 0, None))"}.get(recipe.target, "{}")
        lines = [f"prediction = {back.format('blend * spread + centre')}",
                 "prediction = np.clip(prediction, y.min(), y.max())"]  # fmt: skip
    return lines


def _raised(recipe: Recipe, facts: Facts) -> list[str]:
    """Probabilities as sure as rows that no model learned show them to be."""
    known = recipe.weights == "learned" and counts_sureness(facts)
    if recipe.power == 1.0 and not known:
        return []
    power = "power" if recipe.power == 1.0 else f"({recipe.power} * power)" if known else repr(recipe.power)
    return [f"blend = np.clip(blend, 1e-15, 1) ** {power}", "blend = blend / blend.sum(axis=1, keepdims=True)"]


def _hand_in(table: str) -> list[str]:
    return [
        'os.makedirs("submission", exist_ok=True)',
        f"{table}.to_csv({SUBMISSION!r}, index=False)",
        f'print("wrote {SUBMISSION}:", len(test), "rows")',
    ]


def _table(facts: Facts) -> str:
    """The expression for the submission."""
    if facts.task == "classes":
        return f"pd.concat([test[[ID]], prediction[{list(facts.classes)!r}]], axis=1)"
    return "pd.DataFrame({ID: test[ID], TARGET: prediction})"
