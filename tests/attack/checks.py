"""What a certificate says, compared with the truth; and the table of what was found."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import certree

from .problems import ABSURD, HARD, NATURES, ORDINARY, Draw, Problem

FAILURES = {
    "status": "a status or bound that is not true",
    "limit": "a limit that the tree breaks",
    "stated": "a cost, total, rate or tree that is not what the certificate states",
    "rejected": "an honest certificate that verify rejects",
    "precision": "the answer precision for ordinary numbers",
    "refused": "a ValueError for numbers that are not absurd",
    "raw": "an error that is no ValueError",
    "coarse": "the answer optimal, up to a rounding that is not negligible",
}
"""What can go wrong."""

_WORTH = Fraction(1, 2**12)
"""Stated rounding of more than this share of all weight says next to nothing."""


class Refused(Exception):
    """The package refused the problem, or failed on it; what is to say of it has been noted."""


@dataclass
class Report:
    """What was found out about one problem."""

    kind: str
    name: str
    nature: int = ORDINARY
    failures: list[tuple[str, str]] = field(default_factory=list)
    status: str = ""
    precision: bool = False
    refused: bool = False
    about: str = ""

    def fail(self, category: str, text: str) -> None:
        """Note a failure."""
        assert category in FAILURES
        self.failures.append((category, text))

    def __str__(self) -> str:
        lines = [f"{self.kind} {self.name} ({NATURES[self.nature]} numbers: {self.about})"]
        return "\n".join([*lines, *(f"  {category}: {text}" for category, text in self.failures)])


class Attack:
    """One problem under attack: what it is, and what is found out about it."""

    def __init__(self, kind: str, draw: Draw) -> None:
        self.draw = draw
        self.report = Report(kind, draw.name)
        self.problem: Problem

    def begin(self, problem: Problem) -> Problem:
        """Take a problem."""
        self.problem = problem
        return problem

    def call(self, function: Callable[[], Any]) -> Any:
        """Return what a call returns; note what it raises, and stop then."""
        self.report.nature = self.problem.nature
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return function()
        except ValueError as error:
            self.report.refused = True
            if self.problem.nature < ABSURD:
                self.report.fail("refused", str(error)[:300])
        except Exception as error:
            self.report.fail("raw", f"{type(error).__name__}: {str(error)[:300]}")
        raise Refused

    def verify(self, model: Any, *args: Any, **options: Any) -> None:
        """Let the package verify its own certificate, now and then by looking at all trees."""
        exhaustive = self.draw.chance(0.3)

        def check() -> None:
            try:
                self._verify(model, args, exhaustive, options)
            except ValueError as error:
                # Rounded sums have no second proof by brute force, which is said plainly.
                if "use exhaustive=False" not in str(error):
                    raise
                self._verify(model, args, False, options)

        self._accepts(check)

    def verify_alone(self, model: Any, data: Any) -> None:
        """Let the package verify a certificate of data that hold rows, targets and weights."""
        self._accepts(lambda: certree.verify(model, data))

    def _accepts(self, check: Callable[[], Any]) -> None:
        """Note if a check of an honest certificate fails."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                check()
        except certree.CertificateError as error:
            self.report.fail("rejected", str(error)[:400])
        except Exception as error:
            self.report.fail("raw", f"verify: {type(error).__name__}: {str(error)[:300]}")

    def _verify(
        self, model: Any, args: tuple[Any, ...], exhaustive: bool, options: dict[str, Any]
    ) -> None:
        problem = self.problem
        certree.verify(model, problem.X, *args, problem.given_weights, exhaustive, **options)

    # ---- what a certificate says -----------------------------------------------------------------

    def judge(
        self,
        certificate: Any,
        found: Fraction | None,
        optimum: Fraction | None,
        rounding: Fraction = Fraction(0),
        whole: Fraction | None = None,
    ) -> None:
        """Compare a certificate with the cost of its tree, if there is one, and the least cost.

        Costs may be off by what the certificate says of rounding, and no more; of numbers that are
        not absurd, that must be little of the `whole`.
        """
        report = self.report
        report.status = status = certificate.status
        if status == "precision":
            report.precision = True
            if self.problem.nature == ORDINARY:
                report.fail("precision", "with ordinary numbers")
        elif status not in ("optimal", "infeasible"):
            report.fail("status", f"{status} on a small problem")
        if status == ("optimal" if found is None else "infeasible"):
            report.fail("status", f"{status} {'without' if found is None else 'with'} a tree")
        if whole is not None:
            self.check_rounding(rounding, whole * _WORTH)
        if optimum is None:
            if found is not None:
                report.fail("limit", "there is a tree where none keeps to the limits")
            return
        if status == "infeasible":
            report.fail("status", f"infeasible, but a tree costs {show(optimum)}")
            return
        bound = Fraction(certificate.lower_bound)
        if bound > optimum + rounding:
            report.fail("status", f"lower bound {show(bound)}, but a tree costs {show(optimum)}")
        if found is None:
            return
        if abs(Fraction(certificate.cost) - found) > rounding:
            report.fail("stated", f"cost {show(certificate.cost)}, but it is {show(found)}")
        if status == "optimal" and found > optimum + 2 * rounding:
            report.fail("status", f"optimal at {show(found)}, but a tree costs {show(optimum)}")

    def check_cuts(
        self,
        cuts: Iterable[tuple[Sequence[Any], Any]],
        vectors: Sequence[Sequence[Fraction]],
        off: Sequence[Fraction],
    ) -> None:
        """Note an inequality ``coefficients * vector >= value`` that some tree does not satisfy.

        Numbers of trees may be `off` by so much from those that inequalities are about.
        """
        for coefficients, value in cuts:
            factors = [Fraction(c) for c in coefficients]
            least = min(
                sum((f * x for f, x in zip(factors, vector, strict=True)), Fraction(0))
                for vector in vectors
            )
            slack = sum((abs(f) * x for f, x in zip(factors, off, strict=True)), Fraction(0))
            if least + slack < Fraction(value):
                self.report.fail("status", f"every tree has {show(value)}, but one {show(least)}")

    def check_rounding(self, rounding: Fraction, most: Fraction) -> None:
        """Note an answer "optimal" up to so much rounding that it should be "precision"."""
        if rounding > most and self.report.status == "optimal" and self.problem.nature < ABSURD:
            self.report.fail("coarse", f"rounding {show(rounding)}, at most {show(most)} is little")

    def check_tree(self, tree: Any, point: Sequence[Any], points: Iterable[Any]) -> None:
        """Note if no tree of the problem has the sums and the number of splits of this tree."""
        if tree.depth > self.problem.sizes["max_depth"]:
            self.report.fail("limit", f"the depth is {tree.depth}")
        if (*point, tree.n_splits) not in points:
            self.report.fail(
                "stated", "no tree within the limits on size has these sums and splits"
            )


def show(number: Any) -> str:
    """Return a number as text, with the digits that tell it from its neighbours."""
    text = str(number)
    if len(text) < 30:
        return text
    exact = Fraction(number)
    digits = Decimal(exact.numerator) / exact.denominator
    return f"{digits:.20g} ({text[:40]}...)"


def table(reports: Iterable[Report]) -> str:
    """Return what was found, one line for each kind of problem."""
    of_kinds: dict[str, Counter[str]] = {}
    for report in reports:
        for kind in (report.kind, "all"):
            counts = of_kinds.setdefault(kind, Counter())
            counts["problems"] += 1
            counts["failing"] += bool(report.failures)
            counts.update({category for category, _ in report.failures})
            counts["(precision)"] += report.precision
            counts["(refused)"] += report.refused
    total = of_kinds.pop("all", Counter())
    names = ["problems", "failing", *FAILURES, "(precision)", "(refused)"]
    lines = [["kind", *names]]
    for kind, counts in [*sorted(of_kinds.items()), ("all", total)]:
        lines.append([kind, *(str(counts[name]) for name in names)])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            text.ljust(w) if k == 0 else text.rjust(w)
            for k, (text, w) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


__all__ = ["ABSURD", "FAILURES", "HARD", "ORDINARY", "Attack", "Refused", "Report", "show", "table"]
