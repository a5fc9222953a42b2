"""What all optimal trees share: limits, encoding, the solve, and reading the fitted tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples, check_is_fitted

from certree import engine
from certree.encoding import TableEncoder, compare_columns, read_table
from certree.engine._budget import Budget, budget, current
from certree.exceptions import OptimalityWarning, warn
from certree.numbers._exact import cost_budget, read_fraction
from certree.results._certificate import Certificate, Exact, show
from certree.results._pareto import ParetoFront
from certree.results._path import RegularizationPath
from certree.results._progress import Callback, Observer, ProgressLine
from certree.results._record import STATUSES
from certree.tree import Tree

from ._budgets import encode_within, memory_bytes, thread_count
from ._sklearn import BaseEstimator
from ._vocabulary import (
    BudgetParameters,
    SearchParameters,
    SizeParameters,
    TableParameters,
    check_parameters,
    fitted,
    with_parameters,
)

# Of the time left, so much is for the tree if a path is asked for, too.
SHARE_BEFORE_PATH = 0.5


@with_parameters
class BaseOptimalTree(
    BudgetParameters,
    SearchParameters,
    TableParameters,
    SizeParameters,
    BaseEstimator,
):
    """Base of the estimators: everything that does not depend on what is optimised."""

    splits = "binary"

    tree_: Tree = fitted()
    certificate_: Certificate = fitted()
    encoder_: TableEncoder = fitted()
    n_features_in_: int = fitted()
    feature_names_in_: NDArray[Any] = fitted()

    def _check_parameters(self) -> None:
        check_parameters(self)
        if self.splits == "binary":
            return
        if self.max_splits is not None:
            raise ValueError(
                f"max_splits={self.max_splits!r} is not supported with splits={self.splits!r}; "
                "leave it at None, or use splits='binary'."
            )

    def _check_size_limits(self, path: bool = False) -> None:
        """Warn if nothing limits the size of the tree and that makes the search endless."""
        if path and self.splits != "binary":
            raise ValueError(
                f"The path needs splits='binary', got {self.splits!r}; fit without path=True."
            )
        if self.max_depth is not None or self.max_splits is not None:
            return
        if path:
            raise ValueError(
                "The path needs max_depth or max_splits: without either it would go on until every "
                "row has a leaf of its own."
            )
        # With leaves of a single row, a tree that separates all it can is best, and found at once.
        if int(self.min_samples_leaf) > 1 and read_fraction(self.complexity, "complexity") == 0:
            warn(
                "Nothing limits the size of the tree: max_depth and max_splits are None, and "
                "complexity is 0, so that trees with as many splits as there are rows are "
                "searched. The search may well end at time_limit or memory_limit; set a "
                "complexity, such as 0.01, or a limit.",
                UserWarning,
            )

    def _row_count(self, X: Any) -> int:
        """Return the number of rows of a raw table, and refuse what has none."""
        if hasattr(X, "tocsr"):
            raise TypeError(
                f"Sparse input is not supported, got {type(X).__name__}; "
                "pass a dense table, for example X.toarray()."
            )
        if isinstance(X, Mapping):
            read_table(X)  # says that it is no table, and what to do
        n_rows = int(_num_samples(X))
        if n_rows == 0:
            raise ValueError(
                "Found a table with 0 sample(s) while a minimum of 1 is required; give X at least "
                "one row."
            )
        return n_rows

    def _encode(
        self, X: Any, sample_weight: NDArray[np.int64] | None, rows: NDArray[np.intp] | None
    ) -> NDArray[np.uint8]:
        """Fit the encoder and return the encoded rows that count."""
        self.encoder_ = TableEncoder(
            thresholds=self.thresholds,
            categorical_features=self.categorical_features,
            splits=self.splits,
        ).set_output(transform="default")
        columns: NDArray[np.uint8] = encode_within(
            self.encoder_, X, sample_weight, has_pairs=self.max_depth is None or self.max_depth > 1
        )
        self.n_features_in_ = self.encoder_.n_features_in_
        if hasattr(self.encoder_, "feature_names_in_"):
            self.feature_names_in_ = self.encoder_.feature_names_in_
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return columns if rows is None else np.asfortranarray(columns[rows])

    def _limits(self) -> AbstractContextManager[Budget]:
        """Open the budget of a call: its limits hold for all that happens in it."""
        return budget(self.time_limit, memory_bytes(self.memory_limit), self)

    def _engine_options(self, share: float = 1.0) -> engine.Options:
        """Return the limits that do not depend on the objective, with a share of the time left."""
        call = current()
        return engine.Options(
            max_depth=None if self.max_depth is None else int(self.max_depth),
            max_splits=None if self.max_splits is None else int(self.max_splits),
            min_leaf=int(self.min_samples_leaf),
            time_limit=None if call is None else call.remaining(share),
            memory_limit=None if call is None else call.memory_left(),
            threads=thread_count(self.n_jobs),
            search=self.search,
            partial=self.encoder_._stopped_by,
        )

    def _cost_budget(self, n_rows: int, complexity: Fraction) -> int:
        """Return the largest total cost, in the core's units, that it can minimise in int64.

        The core allows for a tree with as many splits as the depth lets it have (a limit on splits
        is one on depth, too), which all pay the penalty.
        """
        limits = [int(limit) for limit in (self.max_depth, self.max_splits) if limit is not None]
        # A multiway test has any number of children, so the depth says little about their number.
        depth = min(limits, default=None) if self.splits == "binary" else None
        most = None if depth is None or depth > 40 else 2**depth - 1
        n_splits = n_rows if most is None else min(n_rows, most)
        return int(cost_budget(n_rows, most) / (1 + complexity * (n_splits + 1)))

    def _watch(
        self, to_cost: Callable[[int], Exact], total_weight: Exact | None, callback: Callback | None
    ) -> Observer | None:
        """Return what watches the search: a progress line, a callback, both or nothing."""
        if callback is None and not self.verbose:
            return None
        return Observer(to_cost, callback, ProgressLine(total_weight) if self.verbose else None)

    def _finish(self, watch: Observer | None) -> None:
        """End the progress line, and warn with the gap if a limit ended the search."""
        certificate = self.certificate_
        if watch is not None:
            watch.finish(certificate)
        if certificate.status in ("optimal", "gap"):
            return
        if certificate.status == "precision" and certificate.gap == 0:
            cause = f"Numbers were rounded by {show(certificate.rounding)} in all to fit 64 bits"
            advice = "Use weights or costs of a smaller range."
        elif certificate.status == "precision":
            cause = "The search needed numbers of more than 64 bits"
            advice = "Accept a gap, or use weights of a smaller range."
        elif certificate.status != "interrupted":
            limit = getattr(self, certificate.status, None)
            cause = f"The search reached {certificate.status}={limit!r}"
            advice = f"Raise {certificate.status}, accept a gap, or ask for a smaller tree."
        elif watch is not None and watch.asked_to_stop:
            cause, advice = "The callback stopped the search", "Let it run longer for a proof."
        else:
            cause, advice = "The search was interrupted", "Let it run longer for a proof."
        warn(
            f"{cause} before the tree was proven optimal: its cost is {show(certificate.cost)}, no "
            f"tree can cost less than {show(certificate.lower_bound)}, so the gap is "
            f"{certificate.gap_text()}. {advice}",
            OptimalityWarning,
        )

    def _warn_about_path(self, path: RegularizationPath | None) -> None:
        """Warn if a limit ended the search for a path."""
        if path is None or path.is_optimal:
            return
        proven = sum(entry.is_optimal for entry in path)
        warn(
            f"The path was {STATUSES.get(path.status, path.status)}: {proven} of {len(path)} trees "
            "are proven best for their number of splits. Raise the limit, or ask for a smaller "
            "max_depth or max_splits.",
            OptimalityWarning,
        )

    def _warn_about_front(self, front: ParetoFront | None) -> None:
        """Warn if a limit ended the search for a front."""
        if front is None or front.is_optimal:
            return
        warn(
            f"The search for the front was {STATUSES.get(front.status, front.status)}: "
            f"{len(front)} trees were found, and others may be missing; its lower_points bound "
            "what any tree can reach. Raise the limit, or ask for smaller trees.",
            OptimalityWarning,
        )

    def apply(self, X: Any) -> NDArray[np.intp]:
        """Return the leaf that each row reaches.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Raw rows, with the columns seen in `fit`.

        Returns
        -------
        array of int, shape (n_rows,)
            Number of the leaf in ``tree_``.
        """
        leaves: NDArray[np.intp] = self._read(X, "apply")
        return leaves

    def decision_path(self, X: Any) -> Any:
        """Return which nodes each row passes.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Raw rows, with the columns seen in `fit`.

        Returns
        -------
        sparse matrix of shape (n_rows, n_nodes)
            CSR; one where a row passes a node.
        """
        return self._read(X, "decision_path")

    def _check_tree(self) -> None:
        """Refuse to go on if there is no fitted tree."""
        check_is_fitted(self)

    def _read(self, X: Any, method: str) -> Any:
        self._check_tree()
        table = read_table(X)
        compare_columns(self, X, table)
        return getattr(self.tree_, method)(table)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Normalised decrease of the Gini impurity by the splits on each column."""
        self._check_tree()
        return self.tree_.feature_importances

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags
