"""The paper's tables from results.csv, with the paper's own figures beside ours.

Tables 1 to 3 have one block per problem and one line per method and way to run it: ours with 95 % intervals and the
number of instances, then what the paper prints. A line that only one of the two has shows a dash for the other. A gap
is shown only where there are reference costs of the set; the note says whose, and how many of them are proven. The
tables about networks are in model_tables.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from egam.bench import model_tables, paper
from egam.bench.render import MISSING, Table, number, with_interval
from egam.errors import BadInput
from egam.instance import KINDS
from egam.methods import METHODS

Results = Sequence[dict[str, str]]
TITLES = {
    **paper.TITLES,
    **{"highs": "HiGHS", "cp-sat": "CP-SAT", "pyvrp": "PyVRP", "hygese": "HGS (hygese)", "held-karp": "Held-Karp"},
}  # other solvers are called by their own names
FORMS = {"greedy": "greedy", "starts": "all starts", "8xgreedy": "8 × greedy", "8xstarts": "8 × all starts"}
OTHERS = ("parameters", "generalisation", "training")  # model_tables.py, training_table.py
NOTE = (
    "Ours: cost over feasibly solved instances, gap over those that the reference solved too, "
    "± half the 95 % interval. Paper: as printed, 10,000 instances of its own; "
    "its time is for all of them, on its machines."
)


def table(name: str, results: Results, size: int, problem: str = "vrptw") -> list[Table]:
    """Table `1`, `2`, `3`, `parameters` or `generalisation`, or the block of one problem by its name."""
    blocks = {str(key): problems for key, problems in paper.TABLES.items()} | {each: (each,) for each in KINDS}
    if name in blocks:
        found = [block for each in blocks[name] if (block := _block(each, results, size)).rows]
        if not found:
            raise BadInput(f"no results and no figures of the paper for table {name} at N = {size}")
        return found
    if name == "parameters":
        return [model_tables.parameters(results, size)]
    if name == "generalisation":
        return model_tables.generalisation(results, problem)
    raise BadInput(f"unknown table '{name}'; accepted: {', '.join([*blocks, *OTHERS])}")


def title_of(row: dict[str, str]) -> str:
    """A method by its name in print."""
    return TITLES.get(row["method"], row["method"])


def form_of(form: str) -> str:
    """`sample:1280` -> 1280 samples, `8x20` -> 8 × 20 samples, `8x20@2` -> the same at T = 2, `8xdistinct:20` -> 8 × 20
    different samples, `1s` -> 1 s."""
    form, at, heat = form.partition("@")
    if at:
        return f"{form_of(form)} at T = {heat}"
    if form in FORMS:
        return FORMS[form]
    if form.startswith("sample:"):
        return f"{form[7:]} samples"
    if "distinct:" in form:
        copies, number = form.split("distinct:")
        return f"{copies.replace('x', ' × ')}{number} different samples"
    if form.startswith("8x"):
        return f"8 × {form[2:]} samples"
    return f"{form[:-1]} s" if form.endswith("s") else form


# ---- tables 1 to 3 ----------------------------------------------------------------------------------------------


def _block(problem: str, results: Results, size: int) -> Table:
    ours = [row for row in results if row["problem"] == problem and row["size"] == str(size)]
    printed = paper.printed(problem) if size == paper.SIZE else []
    limited = KINDS[problem].cost == "length" and bool({"window", "draft_limit"} & set(KINDS[problem].fields))
    lines = [(_order(row["kind"], row["form"]), _own(row, limited), row) for row in ours]
    rows, left = [], list(printed)
    for order, cells, row in lines:
        match = next((each for each in left if _same(each, row)), None)
        if match is not None:
            left.remove(match)
        rows.append((order, cells + _paper(match, limited, bool(printed))))
    for each in left:
        kind = "learned" if each.method in {method.title for method in METHODS.values()} else "classical"
        cells = [each.method, form_of(each.form), *[MISSING] * (5 if limited else 4)]
        rows.append((_order(kind, each.form or "unlimited"), cells + _paper(each, limited, True)))
    rows.sort(key=lambda pair: pair[0])
    orders = [order for order, _ in rows]
    columns = ["Method", "Way", "n", "Cost", *(["Infeasible %"] if limited else []), "Gap %", "s each"]
    if printed:
        columns += ["Paper: cost", *(["infeasible %"] if limited else []), "gap %", "time"]
    breaks = [at for at in range(1, len(orders)) if orders[at] != orders[at - 1]]
    return Table(
        title=f"{problem.upper()}, N = {size}" + (f", {_sets(ours)}" if ours else ""),
        columns=columns,
        rows=[cells for _, cells in rows],
        notes=[*_references(ours), *([NOTE] if printed else [NOTE.split(" Paper:")[0]])],
        breaks=breaks,
    )


def _own(row: dict[str, str], limited: bool) -> list[str]:
    solved = row["count"] if row["feasible"] == row["count"] else f"{row['feasible']} of {row['count']}"
    infeasible = [number(row["infeasible_percent"], ".2f")] if limited else []
    gap = with_interval(row["gap_percent"], row["gap_ci95"], ".2f")
    cost = with_interval(row["cost"], row["cost_ci95"])
    return [title_of(row), form_of(row["form"]), solved, cost, *infeasible, gap, _seconds(row)]


def _paper(match: paper.Printed | None, limited: bool, shows: bool) -> list[str]:
    if not shows:
        return []
    if match is None:
        return [MISSING] * (4 if limited else 3)
    infeasible = [number(match.infeasible, ".2f")] if limited else []
    return [number(match.cost, ".2f"), *infeasible, number(match.gap, ".2f"), match.time]


def _same(printed: paper.Printed, row: dict[str, str]) -> bool:
    return printed.method == title_of(row) and (printed.form == row["form"] or printed.method in paper.UNLIMITED)


def _order(kind: str, form: str) -> int:
    """Solvers, plain rules, single solutions of networks, samples."""
    if kind == "classical":
        return 0 if form else 1
    return 2 if form == "greedy" else 3


def _seconds(row: dict[str, str]) -> str:
    value = float(row["seconds_per_instance"])
    return f"{value:.2f}" if value >= 0.1 else f"{value:.4f}"


def _sets(ours: Results) -> str:
    return "; ".join(dict.fromkeys(f"{row['set']} ({row['origin']})" for row in ours))


def _references(ours: Results) -> list[str]:
    notes = []
    most = sorted((row for row in ours if row["reference"]), key=lambda row: int(row["count"]))
    for row in {row["reference"]: row for row in most}.values():  # of each reference, the row with most instances
        proven = "all of them proven"
        if row["reference_proven"] != row["count"]:
            proven = f"{row['reference_proven']} of {row['count']} proven, the others upper bounds of the optimum"
        unsolvable = int(row["unsolvable"] or 0)
        without = f"; {unsolvable} of {row['count']} have no feasible solution" if unsolvable else ""
        solver, _, limit = row["reference"].partition(" ")
        notes.append(f"Reference costs: {TITLES.get(solver, solver)}, {form_of(limit)} at most, {proven}{without}.")
    return notes
