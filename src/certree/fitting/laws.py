"""The laws of the table of routes: what is refused, and why.

A line of `LAWS` says

- the word that docs/guide/combinations.md uses for the reason,
- the features that it is about: it holds where one of them is asked,
- the condition under which they are forbidden,
- the text, in which ``{name}`` is the feature that was found and ``{asked[...]}`` what was given.

The first line that forbids something gives the text, so special laws stand before general ones.
"""

from __future__ import annotations

from collections.abc import Callable

from certree.encoding._encoder import MULTIWAY_CATEGORIES
from certree.numbers._exact import read_fraction
from certree.tasks._limited import NO_LABELS, NO_SUM

from .asked import (
    CHAIN,
    COSTS,
    DECISIONS,
    ERRORS,
    FRONT,
    LEAVES,
    LIMITS,
    METRICS,
    MONOTONE,
    NEUTRAL,
    PARTS,
    SEVERAL,
    Asked,
)
from .law import Law


def _is_metric(asked: Asked) -> bool:
    return asked.objective.kind in METRICS


def _has_classes(asked: Asked) -> bool:
    return asked.objective.kind in (ERRORS, *METRICS)


def _has_no_labelling(asked: Asked) -> bool:
    return asked.objective.kind in (CHAIN, FRONT)


WITHOUT_LABELLING = (
    "it is not a function of one labelling of the leaves, so that totals of labels, which limits "
    "and rates of groups are, are not defined for it (the cost function must be Markovian, theorem "
    '4.6 of the STreeD paper). Use a metric of false positives and negatives, such as "f1" or '
    '"mcc".'
)
_INSTEAD = "use objective='accuracy' or 'balanced_accuracy'"


_IN_PARTS = "; whatever costs something is part of its functions."
_ADDED = (
    ": it is added to a cost, and by theorem 4.6 of the STreeD paper the combining operator must "
    "preserve order, which the operator of an objective by its parts need not do for sums. Joined "
    "by max, parts of 1 and 5 are worth 5 with and without a price of 3 on the first. Write it as "
    "split_cost of the objective, with a state for what was paid above."
)


def _is_other_than_squares(asked: Asked) -> bool:
    return asked.objective.kind == LEAVES and asked["criterion"] not in (None, "squared_error")


def _with_classes(name: str) -> Callable[[Asked], bool]:
    return lambda asked: _has_classes(asked) and asked.asks(name)


def _lacking(name: str) -> Callable[[Asked], bool]:
    return lambda asked: not asked.asks(name)


def _is_all(sizes: object) -> bool:
    return isinstance(sizes, str) and sizes == "all"


def _unshared(
    name: str, needed: str, forbids: Callable[[Asked], bool], got: str | None = None
) -> Law:
    """Return a line about an executor, whose workers share one search of one kind."""
    shown = f"{{asked[{got or name}]!r}}"
    text = f"An executor needs {name} to be {needed}, got {shown}; or fit without it."
    return Law("shared", ("executor",), forbids, text)


SIZES = (
    Law(
        "size",
        ("max_leaf_nodes",),
        lambda asked: (
            asked["max_splits"] is not None
            and int(asked["max_leaf_nodes"]) != int(asked["max_splits"]) + 1
        ),
        "max_splits={asked[max_splits]} and max_leaf_nodes={asked[max_leaf_nodes]} disagree: a "
        "binary tree with k splits has k + 1 leaves. Give one of the two.",
    ),
    Law(
        "size",
        ("max_leaf_nodes",),
        lambda asked: asked.is_multiway,
        "max_leaf_nodes={asked[max_leaf_nodes]!r} needs splits='binary', got "
        "splits={asked[splits]!r}: with questions of any number of outcomes, leaves are not one "
        "more than splits; give max_splits.",
    ),
)
"""What says how large a tree may be."""

QUESTIONS = (
    Law(
        "categories",
        ("category_tests",),
        lambda asked: asked.is_multiway,
        "category_tests={asked[category_tests]!r} needs splits='binary', got "
        "splits={asked[splits]!r}: " + MULTIWAY_CATEGORIES,
    ),
)
"""What questions about categories cannot be."""

EXECUTORS = (
    _unshared("max_depth", "a number", lambda asked: asked["max_depth"] is None),
    _unshared(
        "max_splits", "None, and max_leaf_nodes, too", lambda asked: asked.asks("max_splits")
    ),
    _unshared(
        "max_leaf_nodes", "None, and max_splits, too", lambda asked: asked.asks("max_leaf_nodes")
    ),
    _unshared("search", "'auto' or 'depth-first'", lambda asked: asked["search"] == "best-first"),
    _unshared("test_costs", "None", lambda asked: asked.asks("test_costs")),
    *(_unshared(name, "None", _with_classes(name)) for name in LIMITS),
    _unshared("splits", "'binary'", lambda asked: _has_classes(asked) and asked.is_multiway),
    _unshared("objective", "'accuracy' or 'balanced_accuracy'", _is_metric),
    Law(
        "shared",
        ("executor",),
        lambda asked: asked.has_limits,
        "An executor shares no search with limits on the whole tree, such as capacity; leave out "
        "the limits, or fit without the executor.",
    ),
)
"""What workers of an executor cannot share."""

OF_DECISIONS = (
    Law(
        "method",
        ("method",),
        lambda asked: asked["method"] == "milp",
        "method='milp' is not part of certree any more: the program of the paper is in "
        "benchmarks/papers/spo_program.py; method='exact' finds trees of the same loss.",
    ),
    Law(
        "method",
        ("callback", "path"),
        lambda asked: asked.objective.kind == DECISIONS and asked["method"] != "exact",
        "callback and path need method='exact', got {asked[method]!r}.",
    ),
    Law(
        "method",
        ("validation_fraction",),
        lambda asked: asked["method"] != "greedy",
        "validation_fraction is for method='greedy', got {asked[method]!r}; limit the tree by "
        "max_depth, max_splits or complexity.",
    ),
    Law(
        "method",
        ("criterion",),
        lambda asked: (
            asked.objective.kind == DECISIONS
            and asked["method"] != "greedy"
            and asked["criterion"] != "spo"
        ),
        "criterion={asked[criterion]!r} needs method='greedy', got {asked[method]!r}.",
    ),
    Law(
        "method",
        ("prune",),
        lambda asked: asked["method"] != "greedy",
        "prune is for method='greedy', got {asked[method]!r}: a pruned tree is not the one that "
        "was proven best.",
    ),
)
"""What ways to learn decisions lack."""

OF_PARTS = (
    *(
        Law(
            word,
            (name,),
            lambda asked: asked.objective.kind == PARTS,
            f"{name} cannot be combined with tasks.Separable{reason}",
        )
        for name, word, reason in (
            ("sample_weight", "parts", _IN_PARTS),
            ("complexity", "added", _ADDED),
            ("test_costs", "added", _ADDED),
            ("gap", "parts", _IN_PARTS),
            ("path", "parts", _IN_PARTS),
            ("callback", "parts", _IN_PARTS),
        )
    ),
    Law(
        "size",
        ("task",),
        lambda asked: asked.objective.kind == PARTS and not asked.is_bounded,
        "tasks.Separable needs max_depth or max_splits.",
    ),
)
"""What an objective by its parts has to state itself."""

OF_TASKS = (
    Law("ratio", ("task", "test_costs", "second_objective"), _is_metric, NO_SUM),
    Law(
        "price",
        ("test_costs",),
        lambda asked: asked.objective.kind == LEAVES,
        "test_costs cannot be combined with {objective}: no law of separability fails, since a "
        "price adds to any cost, but the search keeps prices in the unit of costs per label, and "
        "these leaves have no labels. Use tasks.RowCosts with candidates for the prediction as "
        "labels, such as RowCosts((y[:, None] - candidates) ** 2, candidates).",
    ),
    Law(
        "leaf",
        (*LIMITS, "second_objective"),
        lambda asked: asked.objective.kind == LEAVES,
        "{objective} " + NO_LABELS,
    ),
    Law(
        "twice",
        ("costs",),
        lambda asked: asked.asks("cost_matrix"),
        "Give either cost_matrix or fit(..., costs=...), not both.",
    ),
    Law(
        "whole",
        ("path",),
        lambda asked: (
            asked.objective.kind == SEVERAL or (asked.objective.kind == COSTS and asked.has_limits)
        ),
        "path=True cannot be combined with limits or fronts; leave it out, and limit the number of "
        "splits by max_splits.",
    ),
    Law(
        "size",
        ("task",),
        lambda asked: asked.objective.kind == SEVERAL and not asked.is_bounded,
        "Trees of a front need max_depth or max_splits.",
    ),
    Law(
        "penalty",
        ("gap",),
        lambda asked: asked.objective.kind == SEVERAL,
        "gap={asked[gap]!r} has no meaning for a front; leave it at 0.",
    ),
    Law(
        "leaves",
        ("splits",),
        lambda asked: (
            asked.objective.kind == COSTS
            and not asked.has_limits
            and asked.asks("complexity_per")
            and asked.asks("complexity")
        ),
        "complexity_per needs splits='binary', got splits={asked[splits]!r}: its leaves are not "
        "one more than its splits.",
    ),
    *(
        Law(
            "budget",
            (given,),
            _lacking(missing),
            f"{given} needs {missing}: what rows cost, and how much there is.",
        )
        for given, missing in (("treatment_costs", "budget"), ("budget", "treatment_costs"))
    ),
    Law(
        "budget",
        ("min_treated",),
        lambda asked: not asked.asks("treatment"),
        "min_treated needs to know what each row was given: fit(X, treatment, outcome), or "
        "fit_rewards(X, rewards, treatment=...).",
    ),
)
"""What tasks, costs and rewards cannot have."""

FAIRNESS = (
    Law(
        "area",
        ("constraint",),
        _has_no_labelling,
        "objective={objective!r} cannot be combined with a constraint on groups: "
        + WITHOUT_LABELLING,
    ),
    *(
        Law(
            "twice",
            ("cost_matrix",),
            forbids,
            f"cost_matrix cannot be combined with {name}={{{shown}!r}}: both say what errors cost, "
            f"and a tree has one objective; leave {name} at {NEUTRAL.get(name)!r}. Weights of "
            "classes are factors of the rows of the matrix.",
        )
        for name, shown, forbids in (
            ("objective", "objective", lambda asked: asked.asks("objective")),
            ("class_weight", "asked[class_weight]", lambda asked: asked.asks("class_weight")),
        )
    ),
    Law(
        "size",
        ("constraint",),
        lambda asked: not asked.is_bounded and not asked.asks("complexity"),
        "Nothing limits the size of the tree: max_depth and max_splits are None, and complexity is "
        "0; set one of them.",
    ),
    Law(
        "ratio",
        ("fairness_curve",),
        _is_metric,
        "a fairness curve is a front of weighted errors and disparity; "
        "objective={asked[objective]!r} is not a sum over the rows, so its parts have no order "
        "that combining preserves. Fit the tolerances of interest one by one, or use "
        'objective="accuracy".',
    ),
    Law(
        "twice",
        ("sensitive_features",),
        lambda asked: asked.asks("sensitive_columns"),
        "sensitive_features were given to fit, and sensitive_columns={asked[sensitive_columns]!r} "
        "to the estimator; choose one of the two.",
    ),
    *(
        Law(
            "groups",
            (name,),
            lambda asked: asked.first(("sensitive_features", "sensitive_columns")) is None,
            f"A {words} compares groups: give sensitive_features, or name sensitive_columns.",
        )
        for name, words in (
            ("fairness_curve", "fairness curve"),
            ("fairness_report", "fairness report"),
        )
    ),
    Law(
        "reduced",
        ("sensitive_columns",),
        lambda asked: asked.asks("reduced"),
        "sensitive_columns={asked[sensitive_columns]!r} cannot be read from a reduced table; name "
        "them in reduce(..., sensitive=...).",
    ),
)
"""What constraints on groups need and forbid."""

CHOICES = (
    Law(
        "twice",
        ("complexities",),
        lambda asked: asked["sizes"] is not None and not _is_all(asked["sizes"]),
        "Give either sizes or complexities to try, not both.",
    ),
    Law(
        "size",
        ("cross_validation",),
        lambda asked: all(asked[name] is None for name in ("depths", "sizes", "complexities")),
        "Nothing to choose: give depths, sizes or complexities.",
    ),
    Law(
        "size",
        ("sizes",),
        lambda asked: (
            _is_all(asked["sizes"])
            and all(asked[name] is None for name in ("depths", "complexities", "max_splits"))
        ),
        "Without depths, list the sizes to try, such as range(1, 8).",
    ),
    Law(
        "choice",
        ("cross_validation",),
        lambda asked: asked.objective.kind == FRONT,
        "A front has no score to choose a size by; give a metric.",
    ),
    Law(
        "known",
        ("auto_complexities",),
        lambda asked: (
            _is_metric(asked)
            or asked.has_limits
            or asked.asks("constraint")
            or (asked.objective.kind == DECISIONS and asked["method"] != "exact")
            or (asked.is_multiway and asked.asks("complexity_per"))
        ),
        'complexities="auto" needs an objective with a path over all numbers of splits, which '
        "{asked.by} with these parameters lacks; list the complexities.",
    ),
)
"""What a choice by cross-validation needs."""

COMPARISONS = (
    Law(
        "area",
        ("optimality_gap",),
        lambda asked: asked.objective.kind == FRONT,
        "optimality_gap has no objective={objective!r}: a front is a set of trees; compare the "
        "tree's errors with pareto_front(X, y).",
    ),
    Law(
        "area",
        ("optimality_gap",),
        lambda asked: asked.objective.kind == CHAIN,
        "optimality_gap has no objective={objective!r}: areas are about the order of leaves and "
        "not about labels; fit OptimalTreeClassifier with this objective, and compare the score of "
        "the tree's probabilities with one minus certificate_.lower_bound.",
    ),
)
"""What a given tree cannot be compared by."""

PATHS = (
    Law(
        "size",
        ("path", "auto_complexities"),
        lambda asked: not asked.is_bounded,
        "The path needs max_depth or max_splits: without either it would go on until every row has "
        "a leaf of its own.",
    ),
)
"""What a tree for every number of splits needs."""

OF_NUMBERS = (
    Law(
        "criterion",
        ("quantile",),
        lambda asked: asked["criterion"] != "quantile",
        "quantile={asked[quantile]!r} is for criterion='quantile', got "
        "criterion={asked[criterion]!r}; set criterion='quantile', or leave quantile out.",
    ),
    Law(
        "criterion",
        ("output_weights",),
        _is_other_than_squares,
        "output_weights are for criterion='squared_error', the only one with several outputs; got "
        "criterion={asked[criterion]!r}.",
    ),
    Law(
        "criterion",
        ("reduced",),
        lambda asked: asked["reduced"] == "squares" and _is_other_than_squares(asked),
        "The table was reduced to sums of squares, which serve criterion='squared_error' only; got "
        "criterion={asked[criterion]!r}. Call reduce(..., target_kind='classes'), which keeps the "
        "values of the target.",
    ),
    Law(
        "outputs",
        ("criterion",),
        lambda asked: asked.n_outputs > 1 and _is_other_than_squares(asked),
        "y has several columns; criterion={asked[criterion]!r} takes one. Use "
        'criterion="squared_error", or fit a tree for each column.',
    ),
    Law(
        "outputs",
        ("leaf_model",),
        lambda asked: asked.n_outputs > 1,
        "y has several columns; {asked.by} takes one. Fit a tree for each column, or use "
        "OptimalTreeRegressor, which takes several.",
    ),
)
"""What criteria of numbers lack."""

OUTPUTS = (
    Law(
        "outputs",
        (
            *("objective", "splits", "class_weight", "capacity", "limits", "pos_label"),
            "warm_start_tree",
        ),
        lambda asked: asked.n_outputs > 1 and _has_classes(asked),
        "{name} needs one output, but y has {asked.n_outputs} columns; leave {name} at "
        "{neutral!r}, or fit one column. Weights of rows are sample_weight.",
    ),
)
"""What only searches for one output can do."""

WITHIN_LIMITS = (
    Law(
        "pairs",
        LIMITS,
        lambda asked: asked.is_multiway,
        "{name} needs splits='binary', got splits={asked[splits]!r}: totals add up over any number "
        "of outcomes, so that no law fails, but the proof joins the totals of two subtrees at a "
        "time, and is known for questions with two outcomes only.",
    ),
    Law(
        "area",
        LIMITS,
        _has_no_labelling,
        "objective={objective!r} cannot be combined with {name}: " + WITHOUT_LABELLING,
    ),
    Law(
        "size",
        LIMITS,
        lambda asked: _is_metric(asked) and not asked.is_bounded,
        "{name} with the metric {objective!r} needs max_depth or max_splits.",
    ),
    *(
        Law(
            "whole",
            LIMITS,
            _with_classes(other),
            f"{other} cannot be combined with {{name}}: a tree that is known, and the trees of a "
            "path, are searched without limits on the whole tree; leave it out.",
        )
        for other in ("warm_start_tree", "path")
    ),
    Law(
        "twice",
        LIMITS,
        lambda asked: asked.objective.name == "balanced_accuracy" and asked.asks("class_weight"),
        "class_weight and {name} cannot be combined for 'balanced_accuracy', which weighs classes "
        "itself; use objective='accuracy' with class_weight.",
    ),
    Law(
        "size",
        LIMITS,
        lambda asked: not asked.is_bounded and not asked.asks("complexity"),
        "Trees within limits need max_depth or max_splits, or a complexity above 0.",
    ),
)
"""What limits on the whole tree forbid."""

OF_METRICS = (
    Law(
        "fronts",
        ("splits",),
        lambda asked: asked.objective.kind in (MONOTONE, CHAIN, FRONT),
        "The metric {objective!r} needs splits='binary', got splits={asked[splits]!r}: its proof "
        "compares whole fronts of trees, which are searched over binary questions only. Metrics "
        f"such as 'f1' and 'mcc' can be used; or {_INSTEAD}.",
    ),
    Law(
        "leaves",
        ("splits",),
        lambda asked: (
            _is_metric(asked) and asked.asks("complexity_per") and asked.asks("complexity")
        ),
        "complexity_per='leaf' and the metric {objective!r} need splits='binary', got "
        "splits={asked[splits]!r}: its proof counts splits, and with questions of any number of "
        "outcomes leaves are not one more; use complexity_per='split'.",
    ),
    Law(
        "known",
        ("warm_start_tree",),
        _has_no_labelling,
        f"warm_start_tree is of no use to the metric {{objective!r}}; {_INSTEAD}.",
    ),
    Law(
        "known",
        ("path",),
        _is_metric,
        f"There is no path for the metric {{objective!r}}; {_INSTEAD}.",
    ),
    Law(
        "penalty",
        ("complexity",),
        lambda asked: asked.objective.kind == FRONT,
        "A front has no penalty, got complexity={asked[complexity]!r}; use "
        "pareto_front(..., per_splits=True) and front.best(metric, complexity=...).",
    ),
    Law(
        "penalty",
        ("complexity",),
        lambda asked: (
            asked.objective.kind == CHAIN and read_fraction(asked["complexity"], "complexity") > 1
        ),
        "complexity must lie between 0 and 1 for the metric {objective!r}, got "
        "{asked[complexity]!r}: areas do, so no split can be worth more.",
    ),
    Law(
        "fronts",
        ("supported_only",),
        lambda asked: asked.asks("per_splits"),
        "supported_only=True has no trees per number of splits; choose one.",
    ),
)
"""What only searches that count errors can do."""

LAWS: tuple[Law, ...] = (
    *(*SIZES, *QUESTIONS, *EXECUTORS, *OF_DECISIONS, *OF_PARTS, *OF_TASKS, *FAIRNESS, *CHOICES),
    *(*COMPARISONS, *PATHS, *OF_NUMBERS, *OUTPUTS, *WITHIN_LIMITS, *OF_METRICS),
)
"""All refusals of combinations, in the order in which they are tried."""
