"""What notebooks show: the tree and the proof of a model, tables and charts of results."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from sklearn import config_context
from tests.documents import documents, table
from tests.fitted import cases
from tests.tampering import cases as tampered

from certree import (
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    OptimalTreeClassifier,
    SPOForest,
    classification_summary,
    optimality_gap,
    pareto_front,
    regularization_path,
    solve,
    tasks,
    verify,
)
from certree.results._chart import Chart, Series
from certree.results._chart_plot import draw
from certree.results._chart_svg import svg
from certree.results._record import STATUSES, Record

WITH_TREE = [name for name, case in cases().items() if hasattr(case.model, "tree_")]


class _Checker(HTMLParser):
    """Collects what is shown, and notices elements that are not closed, and what is loaded."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in ("path", "circle", "br", "rect", "line", "use", "meta", "input"):
            self.open.append(tag)
        self.loaded += [v for k, v in attrs if k in ("src", "href") and not v.startswith("#")]

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data if self.open[-1:] != ["style"] else ""


def _shown(html: str) -> str:
    checker = _Checker()
    checker.feed(html)
    assert checker.open == []
    assert checker.loaded == []
    return " ".join(checker.text.split())


@pytest.mark.parametrize("name", WITH_TREE)
def test_a_fitted_model_shows_its_tree_and_what_is_proven(name: str) -> None:
    model = cases()[name].model
    text = _shown(model._repr_html_())
    assert text.startswith(f"{type(model).__name__}: {STATUSES[model.certificate_.status]}")
    assert " ".join(model.certificate_.statement().split()) in text
    assert "<svg" in model._repr_html_()
    assert model._repr_mimebundle_()["text/html"] == model._repr_html_()
    assert model._repr_mimebundle_()["text/plain"] == repr(model)


def test_other_models_look_as_in_scikit_learn() -> None:
    for model in (OptimalTreeClassifier(), cases()["SPOForest"].model, SPOForest()):
        assert "sk-top-container" in model._repr_html_()
        assert "sk-top-container" in model._repr_mimebundle_()["text/html"]
    with config_context(display="text"):
        model = cases()["path"].model
        assert not hasattr(model, "_repr_html_")
        assert list(model._repr_mimebundle_()) == ["text/plain"]


def test_a_model_without_a_tree_shows_the_proof_that_there_is_none() -> None:
    model = FairTreeClassifier("accuracy_parity", 0.5)
    with pytest.warns(UserWarning, match="No tree is within"):
        model.fit([[0]] * 4, [0, 0, 1, 1], sensitive_features=["a", "a", "b", "b"])
    text = _shown(model._repr_html_())
    assert "infeasible" in text
    assert model.certificate_.statement() in text


def test_every_certificate_shows_status_statement_and_facts() -> None:
    stated = [document.written for document in documents()]
    stated += [case.read(case.subject) for case in tampered().values()]
    certificates = [one for one in stated if isinstance(one, Record)]
    assert len({type(one) for one in certificates}) >= 7
    for certificate in certificates:
        text = _shown(certificate._repr_html_())
        assert text.startswith(f"Certificate: {STATUSES[certificate.status]}")
        assert " ".join(certificate.statement().split()) in text
        for name, said in certificate._facts():
            assert " ".join(f"{name}{said}".split()) in text


def test_results_show_a_table_and_a_chart() -> None:
    X, y = table()
    groups = [row[3] for row in X]
    two = tasks.Front(tasks.Misclassification(), tasks.CostMatrix([[0, 1], [9, 0]]))
    results = {
        "Regularization path: proven optimal": regularization_path(X, y, max_depth=2),
        "Front of ": pareto_front(X, y, max_depth=2, pos_label="yes"),
        "Fairness curve of ": FairTreeClassifier(max_depth=2).fairness_curve(
            X, y, sensitive_features=groups
        ),
        "Front of": solve(two, X, y, max_depth=1),
    }
    for title, result in results.items():
        html = result._repr_html_()
        assert _shown(html).startswith(title)
        assert html.count("<tr>") == min(len(result), 13) + 1
        assert 'class="chart"' in html
        assert html.count("<circle") >= len(result)
    solution = solve(tasks.Misclassification(), X, y, max_depth=1)
    assert solution.certificate.statement() in _shown(solution._repr_html_())


def test_gaps_checks_summaries_and_reports_show_all_that_they_print() -> None:
    X, y = table()
    groups = [row[3] for row in X]
    model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    fair = FairTreeClassifier(max_depth=1).fit(X, y, sensitive_features=groups)
    priced = CostSensitiveTreeClassifier(max_depth=2, test_costs=[1] * 4).fit(X, y)
    small = OptimalTreeClassifier(max_depth=1).fit(X, y)
    gap = optimality_gap(small, X, y, max_depth=2, max_splits=None)
    assert gap.better_tree is not None
    results = {
        "Optimality gap: at most": gap,
        "Optimality gap: none": optimality_gap(model, X, y, max_depth=2),
        "Verified on 40 rows": verify(model, X, y),
        "Classification summary": classification_summary(model, X, y, pos_label="yes"),
        "Cost report on 40 rows": priced.cost_report(X, y),
        "Fairness report": fair.fairness_report(X, y, sensitive_features=groups),
    }
    for title, result in results.items():
        text = _shown(result._repr_html_())
        assert text.startswith(title)
        assert len(repr(result)) <= 120
        assert "\n" not in repr(result)
        for number in re.findall(r"\d+\.?\d*", str(result)):
            assert number in text, (title, number)
        if isinstance(result, Mapping):
            assert all(name.replace("_", " ") in text for name in list(result)[6:])
    assert "<svg" in gap._repr_html_()


def test_names_cannot_break_out_of_the_page() -> None:
    model = OptimalTreeClassifier(max_depth=1, objective="f1").fit([[0], [1]], ["<i>", "<script>x"])
    html = model._repr_html_() + model.certificate_._repr_html_()
    assert "<script>" not in html
    assert "<i>" not in html


@pytest.mark.parametrize("ends", [(0.0, 0.0), (-3.0, 7e9), (1e-12, 2e-12), (5.0, 5.0)])
def test_points_of_a_chart_are_within_it(ends: tuple[float, float]) -> None:
    low, high = ends
    html = svg(Chart([Series("a & b", [(low, low), (high, high)], line="step")], "x", "<y>", "t"))
    for name, most in (("cx", 440), ("cy", 230)):
        places = [float(place) for place in re.findall(rf'{name}="([^"]+)"', html)]
        assert all(0 <= place <= most for place in places)
    assert "a &amp; b" in html
    assert "&lt;y&gt;" in html


@pytest.mark.parametrize("most", [1.0, 0.000123456, 123456.7, 9.87654e-7, 1.5e12])
def test_labels_of_a_chart_are_within_it(most: float) -> None:
    """At most 7 pixels a character, which is generous for letters of 11 pixels."""
    html = svg(Chart([Series("", [(0.0, 0.0), (most, -most)], line="step")], "x", "y", "t"))
    labels = re.findall(r'<text x="([^"]+)" y="[^"]+"( class="end")?>([^<]+)</text>', html)
    assert len(labels) > 6
    for x, is_end, text in labels[:-1]:  # the last one is the name of the axis
        wide = 7.0 * len(text)
        left = float(x) - (wide if is_end else wide / 2)
        assert left >= 0, text
        assert left + wide <= 440, text


def test_a_chart_without_points_is_nothing() -> None:
    assert svg(Chart([Series("", [(float("nan"), 1.0)])], "x", "y", "t")) == ""


def test_both_renderers_draw_the_same_description() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    series = [
        Series("line & dots", [(0.0, 1.0), (2.0, 3.0)], line="step", errors=[0.5, float("nan")]),
        Series("bound", [(0.0, 0.5), (2.0, 0.5)], line="straight", dots="", is_dotted=True),
        Series("pick", [(2.0, 3.0)], dots="ring"),
        Series("", [(1.0, 1.0), (float("inf"), 2.0), (2.0, 2.0)], shades=[7.0, 8.0, 9.0]),
    ]
    chart = Chart(series, "across", "up", "what it shows", has_whole_x=True, shade_label="third")
    page, axes = svg(chart), draw(chart, None)
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["line & dots", "bound", "pick"]
    assert re.findall(r"</svg> ([^<]+)</span>", page) == ["line &amp; dots", "bound", "pick"]
    assert page.count("stroke-dasharray") == 2  # the line, and its sample in the legend
    assert [line.get_linestyle() for line in axes.lines] == ["-", ":", "None"]
    assert page.count('fill-opacity="0.15"') == 1
    assert 'fill-opacity="0.20"' in page
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("across", "up")
    assert axes.get_ylim()[0] <= 0
    assert "third" in page


def test_every_collection_of_trees_has_the_same_ways_to_read_it() -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib").use("Agg")
    X, y = table()
    groups = [row[3] for row in X]
    two = tasks.Front(tasks.Misclassification(), tasks.CostMatrix([[0, 1], [9, 0]]))
    wrong = np.array([label == "yes" for label in y])
    by_parts = tasks.Separable([0, 1], lambda rows, label: int((wrong[rows] != label).sum()))
    several = [
        regularization_path(X, y, max_depth=2),
        pareto_front(X, y, max_depth=2, pos_label="yes"),
        FairTreeClassifier(max_depth=2).fairness_curve(X, y, sensitive_features=groups),
        solve(two, X, y, max_depth=1),
        solve(by_parts, X, max_depth=1),
    ]
    for trees in several:
        assert trees.is_optimal
        assert len(trees.trees) == len(trees) == len(list(trees)) == len(trees.to_frame())
        assert len(trees[:2]) == min(2, len(trees))
        assert type(trees[-1]) is type(trees[0])
        assert len(json.loads(trees.to_json()).get("trees", trees)) == len(trees)
        assert trees.plot().get_xlabel()
        assert _shown(trees._repr_html_())
