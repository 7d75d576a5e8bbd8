"""A table of texts as Markdown or as LaTeX (booktabs)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

MISSING = "–"


@dataclass(frozen=True)
class Table:
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    breaks: Sequence[int] = field(default=())  # numbers of rows that begin a new group

    def markdown(self) -> str:
        lines = [f"**{self.title}**", "", _bar(self.columns), _bar("---" for _ in self.columns)]
        lines += [_bar(row) for row in self.rows]
        return "\n".join([*lines, *(f"\n{note}" for note in self.notes)]) + "\n"

    def latex(self) -> str:
        lines = [r"\begin{table}", rf"\caption{{{_escaped(self.title)}}}", r"\centering\small"]
        lines += [rf"\begin{{tabular}}{{l{'r' * (len(self.columns) - 1)}}}", r"\toprule"]
        lines += [_line(self.columns), r"\midrule"]
        for number, row in enumerate(self.rows):
            lines += [r"\midrule"] if number in self.breaks else []
            lines.append(_line(row))
        lines += [r"\bottomrule", r"\end{tabular}"]
        lines += [rf"\par\footnotesize {_escaped(note)}" for note in self.notes]
        return "\n".join([*lines, r"\end{table}"]) + "\n"


def number(value: str | float | None, form: str = ".3f", missing: str = MISSING) -> str:
    """A number as text; results.csv leaves empty what there is not."""
    return missing if value in (None, "") else format(float(value), form)


def with_interval(value: str | float | None, half: str | float | None, form: str = ".3f") -> str:
    if value in (None, ""):
        return MISSING
    return number(value, form) + (f" ± {number(half, form)}" if half not in (None, "") else "")


def _bar(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _line(cells: Sequence[str]) -> str:
    return " & ".join(_escaped(cell) for cell in cells) + r" \\"


def _escaped(text: str) -> str:
    for plain, escaped in (
        ("\\", r"\textbackslash "),
        ("%", r"\%"),
        ("&", r"\&"),
        ("_", r"\_"),
        ("#", r"\#"),
        ("$", r"\$"),
        ("±", r"$\pm$"),
        ("×", r"$\times$"),
        (MISSING, "--"),
    ):
        text = text.replace(plain, escaped)
    return text
