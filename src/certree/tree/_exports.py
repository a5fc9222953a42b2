"""What a tree exports: text, pictures, files, and code in other languages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from . import _c, _dot, _html, _json, _mermaid, _plot, _python, _rules, _sklearn, _sql, _text
from ._sql_dialect import Dialect

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    from ._tree import Tree


class TreeExports:
    """The methods of :class:`Tree` that write it down in other forms."""

    __slots__ = ()

    @property
    def _tree(self) -> Tree:
        return cast("Tree", self)

    def rules(self) -> list[_rules.Rule]:
        """Return one rule per leaf: conditions, prediction, support.

        Conditions on the same column are merged (``20.5 < age <= 35.5``); the support is the
        number of the training rows in the leaf.
        """
        return _rules.rules(self._tree)

    def to_text(
        self,
        max_depth: int | None = None,
        decimals: int | None = None,
        show_counts: bool = True,
    ) -> str:
        """Return the tree as indented text; see :mod:`certree.tree._text`.

        Parameters
        ----------
        max_depth : int, optional
            Show only the tests down to this depth.
        decimals : int, optional
            Digits after the point of thresholds and weights; by default thresholds are exact.
        show_counts : bool
            Show how much of the training weight each leaf gets right.
        """
        return _text.to_text(self._tree, max_depth, decimals, show_counts)

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as a dictionary of JSON values; :meth:`from_dict` reads it back."""
        return _json.to_dict(self._tree)

    def to_json(self, indent: int | None = None) -> str:
        """Return the tree as JSON text; :meth:`from_json` reads it back."""
        return _json.to_json(self._tree, indent)

    def to_dot(self, *, decimals: int | None = None, show_counts: bool = True) -> str:
        """Return the tree in the language of Graphviz."""
        return _dot.to_dot(self._tree, decimals, show_counts)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        decimals: int | None = None,
        show_counts: bool = True,
        fontsize: float = 10.0,
    ) -> Axes:
        """Draw the tree with matplotlib and return the axes.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; text shrinks to fit. By default a new figure of the right size.
        decimals : int, optional
            Digits after the point of thresholds and weights.
        show_counts : bool
            Show how much of the training weight each leaf gets right.
        fontsize : float
            Largest size of the text in points.
        """
        return _plot.plot(self._tree, ax, decimals, show_counts, fontsize)

    def to_html(
        self,
        *,
        title: str | None = None,
        decimals: int | None = None,
        page: bool = False,
        interactive: bool = True,
    ) -> str:
        """Return the tree as a self-contained piece of HTML that fits any width.

        Parameters
        ----------
        title : str, optional
            Caption; by default the size of the tree.
        decimals, page : int and bool, optional
            Digits after the point of numbers; whether to return a whole document.
        interactive : bool
            Whether nodes can be folded and asked; False: a drawing without a script.
        """
        return _html.to_html(self._tree, title, decimals, page, interactive)

    def to_python(self, function_name: str = "predict") -> str:
        """Return the source of a Python function that predicts one row.

        The function needs only Python. It takes a mapping from column name to value, or a
        sequence of values in the order of the training columns; None and NaN are missing values.
        """
        return _python.to_python(self._tree, function_name)

    def to_sql(
        self,
        columns: Mapping[str, str] | Sequence[str] | None = None,
        *,
        dialect: str | None = None,
        quote: str = '"',
        alias: str | None = None,
    ) -> str:
        """Return the tree as a SQL CASE expression; NULL is a missing value.

        Parameters
        ----------
        columns : mapping or sequence of str, optional
            Column names in the database: by feature name, or one per feature. By default the
            feature names.
        dialect : str, optional
            The database whose quotation and truth values are used: "bigquery", "clickhouse",
            "databricks", "duckdb", "mysql", "oracle", "postgres", "redshift", "snowflake", "spark",
            "sqlite", "trino" or "tsql" (SQL Server). It needs sqlglot. By default standard SQL.
        quote : {'"', '`', '['}
            Quotation mark of identifiers in standard SQL, for other databases.
        alias : str, optional
            Name of the result; adds ``AS "alias"``.
        """
        return _sql.to_sql(self._tree, columns, Dialect(quote, dialect), alias)

    def to_c(self, function_name: str = "predict") -> str:
        """Return the source of a C function (C99) that predicts one row.

        The function takes a pointer to a struct with the columns that the tree asks about: numbers
        and truth values as ``double``, where NaN is a missing value, and texts as UTF-8, where NULL
        is one. It returns a label, a number, or a pointer to the numbers of a vector or decision,
        or to its texts. Where some outputs are texts and others are not, the pointer is to a struct
        with the members y0, y1 and so on.
        """
        return _c.to_c(self._tree, function_name)

    def to_mermaid(self, *, decimals: int | None = None, show_counts: bool = True) -> str:
        """Return the tree as a flowchart in the language of Mermaid, as Markdown pages show it."""
        return _mermaid.to_mermaid(self._tree, decimals, show_counts)

    def to_frame(self) -> Any:
        """Return the rules as a pandas data frame with one row per leaf.

        The columns are leaf (its number), depth, rule, prediction, rows (of the training table),
        weight (of these rows, if they had weights) and, if leaves hold labels, share (of the
        predicted class among them).
        """
        return _rules.to_frame(self._tree)

    def to_sklearn(
        self, X: Any = None, *, encoded: bool = False, regressor: bool = False
    ) -> DecisionTreeClassifier | DecisionTreeRegressor:
        """Return a fitted scikit-learn tree with the same predictions.

        scikit-learn predicts the class with the largest share. Where that is not the label of a
        leaf, as class weights, costs and metrics can have it, the label's share is raised until it
        is, so that probabilities differ from those of `predict_proba` there.

        Parameters
        ----------
        X : table of shape (n_rows, n_features), optional
            A warning names those rows that reach another leaf, as scikit-learn rounds values to
            float32. Without them it names thresholds that are finer than float32.
        encoded : bool
            False: a tree over the raw columns, which must then be numbers. True: a tree over the
            0/1 columns of the encoder, for which every test will do.
        regressor : bool
            Return a DecisionTreeRegressor although leaves hold labels, which must then be numbers.
            Trees that hold numbers or vectors always become one.
        """
        table = None if X is None else self._tree._read(X)
        return _sklearn.to_sklearn(self._tree, table, encoded, regressor)
