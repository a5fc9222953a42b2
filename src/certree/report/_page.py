"""The report: one HTML page with a tree that can be asked, its certificate and its quality."""

from __future__ import annotations

import os
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree._version import __version__
from certree.estimators import FairTreeClassifier
from certree.files import write_whole
from certree.results._certificate import many
from certree.results._record import status_text
from certree.tree import Labels, Tree
from certree.tree._html import (
    asset,
    embedded,
    script_of_trees,
    static_figure,
    style_of_trees,
)
from certree.tree._view import view
from certree.tree._wording import one_line

from ._choices import NOTHING, Choice, Choices, read_choices
from ._distributions import MOST_SERIES, distributions
from ._given import ReportRows, kind_of, read_rows
from ._quality import class_codes, quality
from ._ranges import FEWEST
from ._row_form import row_form


class Report:
    """A page about a model; made by :func:`report`.

    ``str(report)`` is the HTML, notebooks show it, and :meth:`save` writes it to a file.

    Parameters
    ----------
    html : str
        The whole document.
    title : str
        Its title.

    Notes
    -----
    .. versionadded:: 0.1
    """

    def __init__(self, html: str, title: str) -> None:
        self._html = html
        self.title = title

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file, and return its path.

        Parameters
        ----------
        path : str or path
            The file; its folder must exist. An existing file is replaced.
        """
        return write_whole(path, self._html)

    def __str__(self) -> str:
        return self._html

    def __repr__(self) -> str:
        return f"<Report: {self.title}, {len(self._html) / 1000:.0f} kB; .save('report.html')>"

    def _repr_html_(self) -> str:
        # In a frame of its own, so that neither style changes the other.
        return (
            f'<iframe srcdoc="{escape(self._html)}" title="{escape(self.title)}" '
            'sandbox="allow-scripts allow-modals" '
            'style="width:100%;height:720px;border:1px solid #8884"></iframe>'
        )


def report(
    model: Any,
    X: Any = None,
    y: Any = None,
    X_test: Any = None,
    y_test: Any = None,
    *,
    title: str | None = None,
    choices: Any = None,
    sensitive_features: Any = None,
    sensitive_features_test: Any = None,
    show_values: bool = False,
) -> Report:
    """Return a page about a model: its tree, what is proven about it, and how good it is.

    The page is one file that loads nothing. The tree can be folded, zoomed and asked; a form takes
    a row and shows its way. Without rows, the page has the tree and the certificate.

    Parameters
    ----------
    model : estimator, Tree, Solution, RegularizationPath, ParetoFront or FairnessCurve
        A fitted one.
    X : table of shape (n_rows, n_features), optional
        The training rows, for the distributions of columns.
    y : array-like, optional
        What is known of them, as for `fit`: classes or numbers; for a :class:`PolicyTree` the
        rewards of all treatments (by default those that it was fitted to), for an :class:`SPOTree`
        the cost vectors.
    X_test, y_test : table and array-like, optional
        The same for rows that were held out.
    title : str, optional
        Title of the page.
    choices : RegularizationPath, ParetoFront or FairnessCurve, optional
        Trees that the reader may choose among, on a chart; by default the ``front_`` or ``path_``
        of the model, if it keeps one.
    sensitive_features, sensitive_features_test : array-like, optional
        The groups of the rows, for the rates of a :class:`FairTreeClassifier` on them.
    show_values : bool, default=False
        Whether the page may show values of single rows. By default it tells ranges: their ends are
        round, and values, bars and points stand for at least 5 rows; the conditions and leaves of
        the tree are shown as they are. True: the form tells the least and the greatest value and
        lists rare categories, and charts have bars and points of fewer rows.

    Returns
    -------
    Report
        ``save(path)`` writes it, ``str`` returns the HTML, and notebooks show it.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import OptimalTreeClassifier, datasets, report
    >>> X, y = datasets.load_binary_example(return_X_y=True)
    >>> model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    >>> page = report(model, X, y)
    >>> "No tree with depth at most 2" in str(page)
    True
    """
    found = read_choices(model, choices)
    own = found.trees[found.shown].tree
    kind = kind_of(found.model, own)
    train = read_rows(own, kind, X, y, sensitive_features, ("Training rows", "X", "y"))
    names = ("Held-out rows", "X_test", "y_test")
    test = read_rows(own, kind, X_test, y_test, sensitive_features_test, names)
    if test is not None and test.y is None and kind != "clusters":
        raise ValueError("X_test was given without y_test; pass y_test, too.")
    heading = f"Report: {type(model).__name__}" if title is None else one_line(str(title))
    data = _data(found, kind, train, test, 1 if show_values else FEWEST)
    return Report(_document(heading, found, data, train, test), heading)


def _data(
    found: Choices, kind: str, train: ReportRows | None, test: ReportRows | None, fewest: int
) -> dict[str, Any]:
    """Return what the script of the page reads."""
    trees = [choice.tree for choice in found.trees]
    shown = [_shown(found, choice, kind, train, test, fewest) for choice in found.trees]
    chart = None
    if found.title:
        chart = {"title": found.title, "x": found.x_label, "y": found.y_label}
    return {
        "trees": shown,
        "shown": found.shown,
        "chart": chart,
        "form": row_form(trees, None if train is None else train.table, fewest),
    }


def _shown(
    found: Choices,
    choice: Choice,
    kind: str,
    train: ReportRows | None,
    test: ReportRows | None,
    fewest: int,
) -> dict[str, Any]:
    """Return all that the page says about one tree."""
    tree = choice.tree
    data: dict[str, Any] = {
        "view": view(tree, choice.name, noun=_noun(tree, kind)),
        "tests": tree.test.tolist(),
        "name": choice.name,
        "place": choice.place,
        "statement": choice.statement,
        "status": choice.status,
        "proven": choice.is_proven,
        "meaning": _meaning(choice),
        "facts": [[_fact(name), one_line(text)] for name, text in choice.facts],
    }
    if train is not None:
        data["spread"] = distributions(tree, train.table, _codes(tree, kind, train), fewest)
    both = [rows for rows in (test, train) if rows is not None]
    known = [quality(found.model, kind, tree, rows, fewest) for rows in both]
    data["quality"] = [told for told in known if told]
    data["groups"] = _groups(found, choice, both)
    return data


def _meaning(choice: Choice) -> str:
    """Return what the statement means to a reader who has never seen a proof about a tree."""
    if not choice.statement:
        return ""
    if choice.is_proven:
        return (
            "This is the best tree of its kind for the training rows: no other method can find a "
            "better one within these limits and from these questions."
        )
    if choice.status == status_text("greedy"):
        return "The tree was grown step by step; a better one of this size may exist."
    if choice.statement.startswith(NOTHING):
        return "The search ended before the proof was complete. A much better tree may exist."
    return (
        "The search ended before the proof was complete. A better tree may exist, but none that is "
        "better than the statement says."
    )


def _noun(tree: Tree, kind: str) -> str:
    """Return what a tree predicts, in one word."""
    return "treatment" if kind == "treatments" else tree.payload.noun


def _codes(tree: Tree, kind: str, rows: ReportRows) -> NDArray[np.intp] | None:
    """Return the classes of rows, if they can be told apart in a chart."""
    if kind != "classes" or rows.y is None or tree.payload.n_contents > MOST_SERIES:
        return None
    codes, names = class_codes(tree, rows)
    return codes if len(names) == tree.payload.n_contents else None


def _fact(name: str) -> str:
    return name[:1].upper() + name[1:]


def _groups(found: Choices, choice: Choice, both: Sequence[ReportRows]) -> list[dict[str, Any]]:
    """Return tables of rates of groups."""
    tables = []
    model = found.model
    if isinstance(model, FairTreeClassifier) and choice.tree is model.tree_:
        for rows in both:
            if rows.groups is None or rows.y is None:
                continue
            told = model.fairness_report(rows.X, rows.y, rows.groups)
            rates = {name: list(of.values()) for name, of in told.rates.items()}
            tables.append(_rates(rows.name, told.groups, rates))
    if choice.rates:
        rates = {name: list(map(float, of)) for name, of in choice.rates}
        tables.append(_rates("Training rows, by the certificate", choice.groups, rates))
    return tables


def _rates(name: str, groups: Sequence[Any], rates: dict[str, list[float]]) -> dict[str, Any]:
    return {
        "name": name,
        "groups": [one_line(str(group)) for group in groups],
        "rates": [
            [rate.replace("_", " "), [None if np.isnan(x) else float(x) for x in of]]
            for rate, of in rates.items()
        ],
    }


# ---- the document --------------------------------------------------------------------------------


def _document(
    heading: str,
    found: Choices,
    data: dict[str, Any],
    train: ReportRows | None,
    test: ReportRows | None,
) -> str:
    own = found.trees[found.shown]
    texts = {
        "TITLE": escape(heading),
        "STYLE": style_of_trees() + asset("certree.report", "report.css"),
        "LEAD": escape(_lead(own, data["trees"][0]["view"]["noun"], train, test)),
        "MADE": escape(_made(found)),
        "STATIC": static_figure(own.tree, own.name, None),
        "STATEMENT": escape(own.statement),
        "ADVICE": _advice(train, test, data),
        "CHOICES": _left_out(found),
        "SIZE": _size_choice(found),
        "DATA": embedded(data),
        "SCRIPT": script_of_trees() + _script(),
    }
    page = asset("certree.report", "report.html")
    # In one pass: a text that holds the name of a place is not a place.
    parts = page.split("{{")
    filled = [parts[0]]
    for part in parts[1:]:
        name, _, rest = part.partition("}}")
        filled.append(texts[name] + rest)
    return "".join(filled)


def _script() -> str:
    return asset("certree.report", "times.js") + asset("certree.report", "report.js")


def _lead(own: Choice, noun: str, train: ReportRows | None, test: ReportRows | None) -> str:
    """Return the model in one sentence."""
    tree = own.tree
    nouns = {"class": "classes", "outputs": "several outputs"}.get(noun, f"{noun}s")
    told = f"A decision tree that predicts {nouns}"
    if isinstance(tree.payload, Labels) and tree.payload.n_contents <= 6:
        names = [one_line(tree.payload.name(k)) for k in range(tree.payload.n_contents)]
        told += f" ({', '.join(names)})"
    asked = len({test.feature for test in tree.tests} | set(tree.payload.needs))
    told += f" from {asked} of {many(tree.n_features, 'column')}."
    if train is not None:
        told += f" Trained on {many(train.table.n_rows, 'row')}"
        told += f", held out {many(test.table.n_rows, 'row')}." if test is not None else "."
    return told


def _made(found: Choices) -> str:
    model = "" if found.model is None else f"{one_line(' '.join(repr(found.model).split()))} · "
    return f"{model}certree {__version__}"


def _advice(train: ReportRows | None, test: ReportRows | None, data: dict[str, Any]) -> str:
    """Return what a reader may add to see more."""
    if train is None and test is None:
        told = (
            "This report was made without rows. To see distributions of columns and the quality "
            "of the model, make it with <code>certree.report(model, X, y, X_test, y_test)</code>."
        )
    elif test is None and any(tree["quality"] for tree in data["trees"]):
        told = (
            "The figures are those of the rows that the tree was made for, which flatter it. For "
            "an honest estimate, hold out rows and pass them as <code>X_test</code> and "
            "<code>y_test</code>."
        )
    else:
        return ""
    return f'<p class="advice">{told}</p>'


def _size_choice(found: Choices) -> str:
    """Return the section about the size that cross-validation chose, if it did."""
    if found.curve is None:
        return ""
    return (
        '<section id="size" aria-labelledby="size-title">\n<h2 id="size-title">Choosing the size'
        f"</h2>\n<p>{escape(found.curve.statement())}</p>\n{found.curve._repr_html_()}\n</section>"
    )


def _left_out(found: Choices) -> str:
    if not found.n_left_out:
        return ""
    return f"{len(found.trees)} of {len(found.trees) + found.n_left_out} trees are shown."
