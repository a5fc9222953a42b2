"""What is shown and logged while a search runs, and where."""

from __future__ import annotations

import io
import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from joblib import Parallel, delayed

from certree import (
    FairTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeRegressor,
    PolicyTree,
    Progress,
    SPOForest,
    SPOTree,
    datasets,
    oracles,
    pareto_front,
    regularization_path,
    solve,
    tasks,
)
from certree.fitting.request import Request
from certree.results import _activity, _live
from certree.results._live import (
    LineScreen,
    LogScreen,
    NotebookScreen,
    Shown,
    TerminalScreen,
    choose_screen,
)
from certree.results._progress import Measure, Observer

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 4))
Y = (X[:, 0] * X[:, 1] + RNG.normal(size=80) > 0).astype(int)
COSTS = RNG.normal(size=(80, 3))


# ---- where -------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        super().isatty()  # raises if the stream is closed
        return True


@pytest.fixture(autouse=True)
def without_a_log() -> Iterator[None]:
    """Other libraries may log more than warnings, and then certree does, too."""
    logger = logging.getLogger("certree")
    before = logger.level
    logger.setLevel(logging.WARNING)
    yield
    logger.setLevel(before)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal, as outside of tests."""
    stream = Terminal()
    # pytest sets the streams of sys anew between fixtures and tests.
    monkeypatch.setattr(_live, "sys", SimpleNamespace(stderr=stream, stdout=io.StringIO()))
    monkeypatch.setattr(_live, "_is_first_process", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    return stream


@pytest.fixture
def at_once(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal without rich, on which lines are drawn at once."""
    monkeypatch.setattr(_activity, "PATIENCE", 0.0)
    monkeypatch.setattr(_live, "find_spec", lambda name: None)
    return terminal


def test_auto_shows_progress_on_a_terminal_after_three_seconds(terminal: Terminal) -> None:
    screen = choose_screen("auto", _activity.PATIENCE, is_logged=False)
    assert isinstance(screen, TerminalScreen)
    assert screen.patience == 3.0


def test_auto_is_silent_everywhere_else(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert choose_screen("auto", 3.0, is_logged=True) is None
    monkeypatch.setenv("TERM", "dumb")
    assert choose_screen("auto", 3.0, is_logged=False) is None
    monkeypatch.setenv("TERM", "xterm")
    terminal.close()
    assert choose_screen("auto", 3.0, is_logged=False) is None
    for stream in (io.StringIO(), None):
        monkeypatch.setattr(_live.sys, "stderr", stream)
        assert choose_screen("auto", 3.0, is_logged=False) is None


def test_auto_is_silent_in_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    assert choose_screen("auto", 3.0, is_logged=False) is None
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    assert choose_screen("auto", 3.0, is_logged=False) is not None


def test_zero_is_silent_and_one_always_shows(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    for silent in (0, False):
        assert choose_screen(silent, 3.0, is_logged=False) is None
    screen = choose_screen(True, 3.0, is_logged=True)
    assert isinstance(screen, TerminalScreen)
    assert screen.patience == 0.0
    monkeypatch.setattr(_live.sys, "stderr", io.StringIO())
    assert isinstance(choose_screen(1, 3.0, is_logged=False), LogScreen)


def test_a_notebook_is_known_by_its_output_stream(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    monkeypatch.setattr(_live.sys, "stdout", stream)
    screen = choose_screen("auto", 3.0, is_logged=False)
    assert isinstance(screen, NotebookScreen)
    screen.close(Shown("", "errors 5", 1.0, 60.0))
    assert stream.getvalue() == ""


_CELL = """
from certree import OptimalTreeClassifier
from certree.results import _activity
_activity.PATIENCE, _activity._BETWEEN_DRAWINGS = 0.0, 0.005
print("before")
for _ in range(2):
    OptimalTreeClassifier(2, verbose={verbose}, thresholds="all").fit(
        [[i % 97, i % 89, i % 83] for i in range(400)], [i * i % 7 > 2 for i in range(400)]
    )
print("after")
"""


def test_an_executed_notebook_keeps_one_line_at_most(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    cells = [nbformat.v4.new_code_cell(_CELL.replace("{verbose}", v)) for v in ("'auto'", "1")]
    book = nbformat.v4.new_notebook(cells=cells)
    with _kernel(tmp_path) as name:
        nbclient.NotebookClient(book, timeout=240, kernel_name=name).execute()
    nbformat.validate(book)
    found = []
    for cell in cells:
        kinds = [output["output_type"] for output in cell["outputs"]]
        assert kinds == ["stream", "display_data", "display_data", "stream"]
        first, *shown, last = cell["outputs"]
        assert (first["text"], last["text"]) == ("before\n", "after\n")
        found.append([output["data"] for output in shown])
    assert found[0] == [{}, {}]
    assert all(data["text/plain"].endswith("proven optimal") for data in found[1])


@contextmanager
def _kernel(folder: Path) -> Iterator[str]:
    """Install a kernel of this Python for a while; notebooks are not run as tests."""
    spec = {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "certree",
        "language": "python",
    }
    place = folder / "kernels" / "certree-test"
    place.mkdir(parents=True)
    (place / "kernel.json").write_text(json.dumps(spec))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(folder))
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        patch.delenv("PYTEST_CURRENT_TEST", raising=False)
        yield "certree-test"


def _where() -> str:
    os.environ.pop("PYTEST_CURRENT_TEST", None)
    sys.stderr = Terminal()
    return type(choose_screen("auto", 3.0, is_logged=False)).__name__


def test_workers_do_not_draw_on_the_terminal_of_their_parent() -> None:
    assert Parallel(n_jobs=2)(delayed(_where)() for _ in range(2)) == ["NoneType"] * 2


# ---- the line ----------------------------------------------------------------------------------


def test_a_line_is_redrawn_in_place_and_a_shorter_one_wipes_out_a_longer_one() -> None:
    stream = Terminal()
    screen = LineScreen(stream, 0.0, stays=True)
    screen.show(Shown("searching", "errors 5000000, at least 1", 1.0, None))
    screen.close(Shown("searching", "errors 1 (gap 0), proven optimal", 12.3, None))
    first, last = stream.getvalue().split("\r")[1:]
    assert len(last.rstrip("\n")) >= len(first)
    assert last.rstrip() == "certree 12 s  errors 1 (gap 0), proven optimal"
    assert last.endswith("\n")


def test_a_line_that_does_not_stay_is_wiped_out() -> None:
    stream = Terminal()
    screen = LineScreen(stream, 0.0, stays=False)
    screen.show(Shown("searching", "", 4.0, 60.0))
    text = stream.getvalue()
    screen.close(Shown("", "errors 1", 4.0, 60.0))
    assert stream.getvalue() == text + "\r" + " " * (len(text) - 1) + "\r"


def test_a_call_that_showed_nothing_leaves_nothing() -> None:
    stream = Terminal()
    LineScreen(stream, 3.0, stays=False).close(Shown("", "errors 1", 0.1, 60.0))
    TerminalScreen(stream, 3.0, stays=False).close(Shown("", "errors 1", 0.1, 60.0))
    assert stream.getvalue() == ""


def test_a_log_gets_a_line_when_something_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(_live, "perf_counter", lambda: now[0])
    stream = io.StringIO()
    screen = LogScreen(stream)
    for second, bounds in ((1, "a"), (1.5, "b"), (2, "b"), (3, "b"), (31, "b"), (32, "b")):
        now[0] = second
        screen.show(Shown("", bounds, second, None))
    assert [line.split()[-1] for line in stream.getvalue().splitlines()] == ["a", "b", "b"]
    now[0] = 100
    screen.show(Shown("", "c", 100, None))
    now[0] = 105  # too soon after so long a time
    screen.show(Shown("", "d", 105, None))
    assert stream.getvalue().splitlines()[-1].endswith("c")
    assert "\r" not in stream.getvalue()


@pytest.mark.parametrize(
    ("measure", "cost", "bound", "text"),
    [
        (
            Measure("errors", Fraction, 100),
            12,
            9,
            "errors 12, at least 9 (gap 3, 3.00% of the rows)",
        ),
        (Measure("errors", Fraction, 100), 9, 9, "errors 9 (gap 0)"),
        (Measure("errors", Fraction, 100), None, 9, "no tree yet, errors at least 9"),
        (
            Measure("f1", lambda cost: 1 - cost),
            None,
            Fraction(1, 4),
            "no tree yet, f1 at most 0.75",
        ),
        (Measure("R2", lambda cost: 1 - cost / 8), 4, 2, "R2 0.5, at most 0.75 (gap 0.25)"),
        (Measure("mean cost", float), Fraction(7, 3), 1, "mean cost 2.33333, at least 1 (gap"),
    ],
)
def test_bounds_are_told_in_the_units_of_users(
    measure: Measure, cost: Any, bound: Any, text: str
) -> None:
    assert measure.text(cost, bound).startswith(text)


def test_an_observer_translates_and_remembers_who_stopped() -> None:
    seen: list[Progress] = []
    observer = Observer(lambda units: Fraction(units, 2), seen.append)
    event = {"seconds": 0.5, "work": 3, "upper_bound": 7, "lower_bound": 4}
    assert not observer(event)
    assert seen == [Progress(0.5, 3, Fraction(7, 2), 2, Fraction(3, 2))]
    assert not observer.asked_to_stop
    stopper = Observer(Fraction, lambda progress: True)
    assert stopper(event)
    assert stopper.asked_to_stop


# ---- all kinds of fits -------------------------------------------------------------------------


def _roads() -> Any:
    return datasets.make_shortest_path(n=60, random_state=0)


FITS = {
    "errors": lambda: OptimalTreeClassifier(max_depth=2).fit(X, Y),
    "R2": lambda: OptimalTreeRegressor(max_depth=2).fit(X, X[:, 0]),
    "f1": lambda: OptimalTreeClassifier(max_depth=2, objective="f1").fit(X, Y),
    "mcc": lambda: OptimalTreeClassifier(max_depth=2, objective="mcc").fit(X, Y),
    "auc": lambda: OptimalTreeClassifier(max_depth=2, objective="auc").fit(X, Y),
    "fold 3 of 3, depth 2": lambda: OptimalTreeClassifierCV((1, 2), cv=3).fit(X, Y),
    "all rows": lambda: OptimalTreeClassifierCV((1,), cv=2).fit(X, Y),
    "trees of all sizes": lambda: regularization_path(X, Y, max_depth=2),
    "trees so far": lambda: pareto_front(X, Y > 0, max_depth=4),
    "searching fair trees": lambda: FairTreeClassifier(max_depth=2, tolerance=0).fit(
        X, Y, sensitive_features=(X[:, 2] > X[:, 0]).astype(int)
    ),
    "trees for all tolerances": lambda: FairTreeClassifier(max_depth=2).fairness_curve(
        X, Y, sensitive_features=(X[:, 2] > X[:, 0]).astype(int)
    ),
    "mean reward": lambda: PolicyTree(max_depth=1).fit(X, COSTS),
    "reward": lambda: PolicyTree(max_depth=2, capacity={0: 10}).fit(X, COSTS),
    "estimating outcomes": lambda: PolicyTree(max_depth=1).fit(X, Y, X[:, 0]),
    "mean regret": lambda: SPOTree(oracles.GridShortestPath(4, 4), max_depth=1).fit(
        _roads().X, _roads().C
    ),
    "4 of 4 done": lambda: SPOForest(
        oracles.GridShortestPath(4, 4), n_estimators=4, max_depth=1
    ).fit(_roads().X, _roads().C),
    "mean cost": lambda: solve(tasks.RowCosts(COSTS), X, max_depth=1),
}


@pytest.mark.parametrize("text", FITS)
def test_every_kind_of_fit_says_what_it_does(
    text: str, at_once: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line is drawn whenever something is said or heard, in place of every 0.2 seconds."""
    seen: list[str] = []

    def note(method: str) -> None:
        plain = getattr(_activity.Activity, method)

        def noted(self: Any, *args: Any) -> Any:
            result = plain(self, *args)
            seen.append(self.shown().line())
            return result

        monkeypatch.setattr(_activity.Activity, method, noted)

    note("say")
    note("hear")
    FITS[text]()
    assert any(text in line for line in seen), seen
    assert any("reading the table" in line for line in seen)
    assert at_once.getvalue().split("\r")[-1] == ""


def test_the_line_is_wiped_out_also_after_an_exception(at_once: Terminal) -> None:
    def fail(progress: Progress) -> bool:
        ends = time.monotonic() + 30
        while "searching" not in at_once.getvalue() and time.monotonic() < ends:
            time.sleep(0.05)
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        OptimalTreeClassifier(max_depth=2).fit(X, Y, callback=fail)
    drawn = at_once.getvalue()
    assert "searching" in drawn
    assert drawn.endswith(" \r")


def test_of_two_calls_at_once_one_has_the_line(at_once: Terminal) -> None:
    lines = Parallel(n_jobs=2, backend="threading")(
        delayed(OptimalTreeClassifier(max_depth=2).fit)(X, Y) for _ in range(4)
    )
    assert len(lines) == 4
    assert _activity._SCREEN.acquire(blocking=False)
    _activity._SCREEN.release()


def test_verbose_shows_the_result_on_the_error_stream(capsys: Any) -> None:
    model = OptimalTreeClassifier(max_depth=2, verbose=1).fit(X, Y)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"errors {model.certificate_.cost} (gap 0), proven optimal\n" in captured.err
    OptimalTreeClassifier(max_depth=2).fit(X, Y)
    assert capsys.readouterr().err == ""


# ---- the log -----------------------------------------------------------------------------------


def test_the_log_has_begin_better_trees_and_end(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "certree"):
        OptimalTreeClassifier(max_depth=2, time_limit=30).fit(X, Y)
    texts = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert texts[0] == ("INFO", "OptimalTreeClassifier: begins, limit 30 s")
    assert any(level == "DEBUG" and "reading the table" in text for level, text in texts)
    assert any(level == "INFO" and "errors" in text and "at least" in text for level, text in texts)
    assert "proven optimal" in texts[-1][1]


def test_the_log_names_what_ended_a_call(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "certree"), pytest.raises(ValueError, match="y"):
        OptimalTreeClassifier(max_depth=2).fit(X, Y[:5])
    assert "ended by ValueError" in caplog.records[-1].getMessage()


def test_without_a_log_and_a_terminal_nothing_is_watched(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search that nobody watches calls no Python function."""
    heard: list[object] = []

    original = Request.watch

    def watch(request: Request, *args: Any) -> Any:
        heard.append(original(request, *args))
        return heard[-1]

    monkeypatch.setattr(Request, "watch", watch)
    OptimalTreeClassifier(max_depth=2).fit(X, Y)
    assert heard == [None]
    assert not caplog.records


# ---- a real terminal ---------------------------------------------------------------------------

SCRIPT = """
import signal

# A shell's background jobs ignore Ctrl-C, and so would their children.
signal.signal(signal.SIGINT, signal.default_int_handler)
import sys, time, warnings
from sklearn.datasets import make_classification
from certree import OptimalTreeClassifier
from certree.results import _activity
{before}
X, y = make_classification(3000, 30, n_informative=12, flip_y=0.2, random_state=0)
warnings.simplefilter("ignore")
print("ready", flush=True)
model = OptimalTreeClassifier(max_depth=8, time_limit={limit}).fit(X, y)
print("status", model.certificate_.status, flush=True)
"""
NO_RICH = "sys.modules['rich'] = None"
SOON = "_activity.PATIENCE = 0.2"


def _environment() -> dict[str, str]:
    shown = {name: x for name, x in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    return {**shown, "TERM": "xterm", "COLUMNS": "100"}


def _spawn(tmp_path: Path, before: str, limit: float = 60) -> Any:
    pexpect = pytest.importorskip("pexpect")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(before=before, limit=limit))
    child = pexpect.spawn(
        sys.executable,
        [str(script)],
        env=_environment(),
        encoding="utf-8",
        timeout=60,
        dimensions=(24, 100),
    )
    child.logfile_read = io.StringIO()
    return child


@pytest.mark.parametrize("before", [SOON, f"{SOON}\n{NO_RICH}"], ids=["rich", "plain"])
def test_a_terminal_shows_the_line_and_ctrl_c_ends_it(tmp_path: Path, before: str) -> None:
    child = _spawn(tmp_path, before)
    child.expect("ready")
    child.expect(r"searching.*errors \d+, at least \d+ \(gap \d+")
    child.sendintr()
    child.expect("status interrupted")
    child.wait()
    assert child.exitstatus == 0
    text = child.logfile_read.getvalue()
    last = text[: text.rindex("status")].splitlines()[-1]
    # The result begins a line of its own: the line of rich is erased, a plain one is blanked out.
    assert last.endswith(("\x1b[2K", "\r", "\x1b[?25h")) or last.split("\r")[-1].strip() == ""


def test_a_terminal_stays_empty_for_three_seconds(tmp_path: Path) -> None:
    child = _spawn(tmp_path, "", limit=1.5)
    child.expect("status time_limit")
    text = child.logfile_read.getvalue()
    assert "errors" not in text
    child.wait()


def test_a_pipe_gets_nothing(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(before="_activity.PATIENCE = 0.0", limit=1))
    done = subprocess.run(
        [sys.executable, str(script)], env=_environment(), capture_output=True, text=True
    )
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout == "ready\nstatus time_limit\n"
