"""What new users run into says what to do instead."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from certree import FairTreeClassifier, OptimalTreeRegressor
from certree.encoding._classes import check_labels


def test_measured_numbers_as_classes_warn() -> None:
    measured = np.arange(300) % 100
    with pytest.warns(UserWarning, match="100 different numbers in 300 rows.*OptimalTreeRegressor"):
        check_labels(measured, 300, "OptimalTreeClassifier")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_labels(measured % 50, 300, "OptimalTreeClassifier")
        check_labels(measured.astype(str), 300, "OptimalTreeClassifier")
        check_labels(np.arange(60), 60, "OptimalTreeClassifier")


def test_classes_given_to_a_regressor_are_sent_to_the_classifier() -> None:
    with pytest.raises(ValueError, match="for classes use OptimalTreeClassifier"):
        OptimalTreeRegressor().fit([[0], [1]], ["a", "b"])


def test_the_name_of_a_column_is_no_group() -> None:
    with pytest.raises(ValueError, match=r"sensitive_columns=\['age'\]"):
        FairTreeClassifier().fit([[0], [1]], [0, 1], sensitive_features="age")
