"""What cannot be reduced gives one clear error, and leaves nothing behind."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.shop import shop

from certree import OptimalTreeClassifier, reduce, verify
from certree.encoding import _sources

pytest.importorskip("ibis")
duckdb = pytest.importorskip("duckdb")


class TestBadInput:
    @pytest.mark.parametrize(
        ("options", "error"),
        [
            ({"target": "none"}, r"target names the column 'none', .* its columns are 'age'"),
            ({"target": ["back", 3]}, "target must name one column, or several"),
            ({"sample_weight": ["paid"]}, "sample_weight must be the name of one column"),
            ({"features": ["age", "agee"]}, "features names the column 'agee'"),
            ({"features": ["age", "back"]}, "'back' is in features and in target"),
            ({"features": "age"}, "features must be a list"),
            ({"features": []}, "no features"),
            ({"features": ["age", "age"]}, "twice"),
            ({"sample_weight": "city"}, "'city' must hold numbers, since it is in sample_weight"),
            ({"costs": ["age", "city"]}, "'city' must hold numbers, since it is in costs"),
            ({"costs": "age"}, "costs must be a list of columns, got the text 'age'"),
            ({"max_groups": "many"}, "max_groups must be a positive integer, got 'many'"),
            ({"memory_limit": "2GB"}, "memory_limit must be a positive integer, got '2GB'"),
            ({"memory_limit": -1}, "memory_limit must be a positive integer, got -1"),
            ({"thresholds": "some"}, "thresholds must be"),
            ({"thresholds": {"agee": 3}}, "agee"),
            ({"form": "bits"}, "form must be"),
            ({"target_kind": "ranks"}, "target_kind must be"),
            ({"target_kind": "numbers"}, "needs a target of numbers"),
            ({"min_category_rows": 0}, "min_category_rows must be"),
            ({"categorical_features": ["x"]}, "'x'"),
        ],
        ids=str,
    )
    def test_one_clear_error(self, options: dict[str, Any], error: str) -> None:
        with pytest.raises((ValueError, TypeError), match=error):
            reduce(shop(), **{"target": "back", **options})

    def test_weights_whose_sum_leaves_64_bits(self) -> None:
        frame = shop().assign(heavy=2**52)
        many = pd.concat([frame] * (2**11 // len(frame) + 1), ignore_index=True)
        with pytest.raises(ValueError, match=r"weights in the column 'heavy' add up to .* 64 bits"):
            reduce(many, target="back", sample_weight="heavy")

    def test_rows_that_nothing_can_be_learned_from(self) -> None:
        frame = shop()
        with pytest.raises(ValueError, match="has no rows"):
            reduce(frame.iloc[:0], target="back")
        with pytest.raises(
            ValueError, match=r"target column 'city' has no value in \d+ of 600 rows"
        ):
            reduce(frame, target="city")
        with pytest.raises(ValueError, match="'age' contains infinity"):
            reduce(frame.assign(age=np.inf), target="back")
        with pytest.raises(ValueError, match="beyond 2"):
            reduce(frame.assign(age=2**60 + np.arange(600)), target="back")
        with pytest.raises(ValueError, match="must not be negative"):
            reduce(frame.assign(w=-1.0), target="back", sample_weight="w")
        with pytest.raises(ValueError, match="more than 9 decimals"):
            reduce(frame.assign(w=1 / 3), target="back", sample_weight="w")
        with pytest.raises(ValueError, match="has no rows"):
            reduce(frame.assign(w=0.0), target="back", sample_weight="w")
        with pytest.raises(ValueError, match=r"sensitive column 'spent' has no value"):
            reduce(frame, target="back", sensitive="spent")

    def test_a_category_with_a_million_levels(self) -> None:
        rows = duckdb.connect().sql(
            "SELECT 'u' || range AS user, range % 2 AS y FROM range(1000000)"
        )
        with pytest.raises(ValueError, match=r"'user' has more than 1000 categories; leave it out"):
            reduce(rows, target="y", identifiers="keep")
        with pytest.warns(UserWarning, match="'user' has a different value in nearly every row"):
            assert reduce(rows, target="y").n_groups == 2
        with pytest.raises(ValueError, match="'user' has more than 1000 different values"):
            reduce(rows, features=["y"], target="user")

    def test_tables_that_are_none(self, tmp_path: Path) -> None:
        with pytest.raises(TypeError, match=r"table must be an ibis table, .* got list"):
            reduce([[1, 2]], target="y")
        with pytest.raises(FileNotFoundError, match="No file matches"):
            reduce(tmp_path / "*.parquet", target="y")
        with pytest.raises(ValueError, match="is a folder"):
            reduce(tmp_path, target="y")
        (tmp_path / "a.txt").write_text("x")
        with pytest.raises(ValueError, match="no ending that says"):
            reduce(tmp_path / "a.txt", target="y")
        (tmp_path / "a.parquet").write_text("x")
        with pytest.raises(ValueError, match="cannot be read"):
            reduce(tmp_path / "a.parquet", target="y")
        with pytest.raises(TypeError, match="several types"):
            reduce(pd.DataFrame({"x": [1, "a"], "y": [0, 1]}), target="y")
        with pytest.raises(ValueError, match="two columns 'x'; give each a name"):
            reduce(pd.DataFrame([[1, 2, 0]], columns=["x", "x", "y"]), target="y")
        with pytest.raises(ValueError, match="which trees cannot ask"):
            reduce(duckdb.sql("SELECT [1, 2] AS x, 1 AS y"), target="y")

    def test_a_connection_that_drops_leaves_nothing(self, tmp_path: Path) -> None:
        """The engine fails after some answers; there is one error and no file."""
        import ibis

        raw = duckdb.connect()
        raw.execute("CREATE TABLE t AS SELECT range AS x, range % 2 AS y FROM range(100)")
        table = ibis.duckdb.from_connection(raw).table("t")
        calls = 0
        answer = type(table).to_pyarrow

        def to_pyarrow(self: Any, **options: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == 3:
                raw.close()
            return answer(self, **options)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(table), "to_pyarrow", to_pyarrow)
            with pytest.raises(RuntimeError, match=r"engine failed while .* Nothing was kept"):
                reduce(table, target="y").to_parquet(tmp_path / "reduced.parquet")
        assert not list(tmp_path.iterdir())

    def test_a_table_that_changes_meanwhile_is_refused(self, monkeypatch: Any) -> None:
        raw = duckdb.connect()
        raw.execute("CREATE TABLE t AS SELECT range AS x, range % 2 AS y FROM range(50)")
        answer = _sources.Source.batches

        def batches(self: Any, query: Any, what: str) -> Any:
            if what == "grouping the rows":
                raw.execute("DELETE FROM t WHERE x < 10")
            return answer(self, query, what)

        monkeypatch.setattr(_sources.Source, "batches", batches)
        with pytest.raises(RuntimeError, match="it had 50 rows, and then 40"):
            reduce(raw.table("t"), target="y")

    def test_names_and_values_are_no_sql(self) -> None:
        evil = 'x"; DROP TABLE t; --'
        raw = duckdb.connect()
        raw.execute("CREATE TABLE t (a INTEGER)")
        values = ["'; DROP TABLE t; --", "a' OR '1'='1", "\\", "%s", "{0}", "é"]
        frame = pd.DataFrame({evil: values * 10, "y'": np.tile([0, 1, 1, 0, 1, 0], 10)})
        raw.register("evil", _plain_arrow(frame))
        reduced = reduce(raw.table("evil"), target="y'")
        assert reduced.n_groups == 6
        model = OptimalTreeClassifier(max_depth=3).fit_reduced(reduced)
        rows = OptimalTreeClassifier(max_depth=3).fit(frame[[evil]], frame["y'"])
        assert model.to_text() == rows.to_text()
        assert verify(model, raw.table("evil"), "y'")
        assert raw.sql("SELECT count(*) FROM t").fetchall() == [(0,)]


def _plain_arrow(frame: pd.DataFrame) -> Any:
    import pyarrow as pa

    return pa.Table.from_pandas(frame, preserve_index=False)


class TestPins:
    def test_the_installed_versions_are_those_that_the_extra_allows(self) -> None:
        """What is tested here is what `certree[sql]` installs."""
        from packaging.requirements import Requirement

        tomllib = pytest.importorskip("tomllib")

        text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
        stated = tomllib.loads(text)["project"]["optional-dependencies"]["sql"]
        pins = {one.name: one.specifier for one in map(Requirement, stated)}
        assert {"ibis-framework", "duckdb", "sqlglot"} <= set(pins)
        for name, allowed in pins.items():
            assert version(name) in allowed, name

    def test_without_the_extra_the_error_names_it(self) -> None:
        code = (
            "import sys; sys.modules['ibis'] = None\n"
            "import importlib.util as u; find = u.find_spec\n"
            "u.find_spec = lambda name, *more: None if name == 'ibis' else find(name, *more)\n"
            "import certree\n"
            "try:\n    certree.reduce('x.parquet', target='y')\n"
            "except ImportError as error:\n    print(error)"
        )
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert re.search(r"needs ibis; .*certree\[sql\]", run.stdout), run.stderr
