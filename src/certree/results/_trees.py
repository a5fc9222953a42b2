"""What paths, fronts, curves and sets of trees have in common."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from certree.tree import Tree

from ._card import beside, card, sentence, table
from ._chart import Chart
from ._chart_plot import draw
from ._chart_svg import svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Entry = TypeVar("Entry")


class Charted(ABC):
    """A result with a table, a chart and plain values."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""

    def to_json(self, *, indent: int | None = None) -> str:
        """Return `to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=indent)

    def to_frame(self) -> Any:
        """Return a pandas data frame with one row per entry."""
        return data_frame(self._columns())

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the chart that notebooks show, and return the axes.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        """
        return draw(self._chart(), ax)

    @abstractmethod
    def _columns(self) -> Mapping[str, Any]:
        """Return the columns of the data frame."""

    @abstractmethod
    def _chart(self) -> Chart:
        """Return what `plot` and notebooks draw."""

    @abstractmethod
    def _lines(self) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        """Return the heads and the lines of the table that notebooks show."""

    @abstractmethod
    def _title(self) -> str:
        """Return the first line that notebooks show."""

    def _statement(self) -> str:
        """Return the sentence below the title; nothing by default."""
        return ""

    def _repr_html_(self) -> str:
        heads, lines = self._lines()
        shown = beside(table(heads, lines), svg(self._chart())) if lines else ""
        return card(self._title(), sentence(self._statement()), shown)


class Trees(Charted, Sequence[Entry]):
    """Trees of one search, in an order that their values state.

    An entry is what a user gets by index or by a rule: a fitted model, or a tree with its values.
    """

    status: str

    @property
    @abstractmethod
    def trees(self) -> tuple[Tree, ...]:
        """The trees, in order."""

    @property
    def is_optimal(self) -> bool:
        """Whether it is proven that no tree is missing and none is better."""
        return self.status == "optimal"

    @abstractmethod
    def _entry(self, place: int) -> Entry:
        """Return the entry at a place from 0 on."""

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self._entry(place) for place in range(*index.indices(len(self)))]
        return self._entry(range(len(self))[index])


class CertifiedTrees(Trees[Entry]):
    """Trees with one certificate for all of them.

    Attributes
    ----------
    certificate : Record
        What is proven.
    """

    certificate: Any

    @property
    def status(self) -> str:  # type: ignore[override]
        """The status of the certificate: "optimal", or the reason why the search stopped."""
        return str(self.certificate.status)

    @property
    def is_optimal(self) -> bool:
        """Whether it is proven that no tree is missing and none is better."""
        return bool(self.certificate.is_optimal)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: the certificate, and each tree."""
        return {
            **self.certificate.to_dict(),
            "trees": [tree.to_dict() for tree in self.trees],
        }

    def _statement(self) -> str:
        return str(self.certificate.statement())


def data_frame(columns: Mapping[str, Any]) -> Any:
    """Return columns as a pandas data frame."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            "A data frame needs pandas; install it with `pip install pandas`, or use to_dict(), "
            "which needs nothing."
        ) from error
    return pd.DataFrame(columns)
