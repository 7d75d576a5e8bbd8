"""The paper's tables about networks: cost by number of parameters, and cost by the size trained and tested on."""

from __future__ import annotations

from collections.abc import Sequence

from egam.bench import paper
from egam.bench.render import MISSING, Table, number, with_interval
from egam.errors import BadInput
from egam.methods import METHODS

Results = Sequence[dict[str, str]]
Pairs = dict[tuple[int, int], dict[str, str]]  # (size trained on, size tested on) -> row


def parameters(results: Results, size: int) -> Table:
    """Layers, parameters counted on our network, and greedy cost on VRPTW, each with the paper's."""
    rows: list[list[str]] = []
    breaks: list[int] = []
    for each in paper.parameters():
        title, layers = each["method"], each["layers"]
        match = next((row for row in results if _is(row, title, layers, size)), None)
        count, cost = ("", None) if match is None else (match["feasible"], match["cost"])
        printed = each.get("cost") if size == paper.SIZE else None
        if rows and rows[-1][0] != title:
            breaks.append(len(rows))
        rows.append(
            [
                title,
                str(layers),
                f"{count_parameters(title, layers):,}",
                f"{each['millions']:.2f} M",
                count or MISSING,
                with_interval(cost, match["cost_ci95"] if match else None),
                number(printed, ".2f"),
            ]
        )
    columns = ["Method", "Layers", "Parameters", "Paper: parameters", "n", f"VRPTW{size}, greedy", "Paper: cost"]
    note = "Parameters are counted on the network that this package builds."
    return Table("Layers, parameters and cost", columns, rows, [note], breaks)


def count_parameters(title: str, layers: int, problem: str = "vrptw") -> int:
    """Of a method's network with so many encoder layers."""
    from egam.nn import NETWORKS, Shape
    from egam.problems import get_problem

    method = next(method for method in METHODS.values() if method.title == title)
    network = NETWORKS[method.network](get_problem(problem).spec, Shape(encoder_layers=layers, norm=method.norm))
    return sum(parameter.numel() for parameter in network.parameters())


def _is(row: dict[str, str], title: str, layers: int, size: int) -> bool:
    """Is it VRPTW, greedy, by weights of this method and depth, trained and tested on this size?"""
    method = METHODS.get(row["trained_as"])
    same_network = method is not None and method.title == title and row["layers"] == str(layers)
    same_test = row["problem"] == "vrptw" and row["form"] == "greedy"
    return same_network and same_test and row["size"] == row["trained_on"] == str(size)


def trained_and_tested(results: Results, problem: str) -> dict[str, Pairs]:
    """By method: the greedy rows of weights that were trained on one size; of several depths, the method's own."""
    found: dict[str, Pairs] = {}
    for row in sorted(results, key=_has_own_depth):
        if row["problem"] == problem and row["form"] == "greedy" and row["trained_on"].isdigit() and row["cost"]:
            title = METHODS[row["trained_as"]].title if row["trained_as"] in METHODS else row["method"]
            found.setdefault(title, {})[int(row["trained_on"]), int(row["size"])] = row
    return found


def _has_own_depth(row: dict[str, str]) -> bool:
    method = METHODS.get(row["trained_as"])
    return method is not None and row["layers"] == str(method.encoder_layers)


def generalisation(results: Results, problem: str) -> list[Table]:
    """Costs on the size trained on, beside the paper's; then, for each method, all pairs of sizes."""
    found = trained_and_tested(results, problem)
    printed = paper.by_size() if problem == "vrptw" else {}
    if not found and not printed:
        raise BadInput(f"no greedy results of weights that were trained on one size of {problem}")
    sizes = {size for pairs in found.values() for pair in pairs for size in pair}
    columns = sorted(sizes | {size for costs in printed.values() for size in costs})
    head = [f"N = {size}" for size in columns]
    same = [[title, *(_cost(pairs.get((size, size))) for size in columns)] for title, pairs in found.items()]
    for title, costs in printed.items():
        same.append([f"{title} (paper)", *(number(costs.get(size), ".2f") for size in columns)])
    name = problem.upper()
    tables = [Table(f"{name}: greedy cost, trained and tested on the same size", ["Method", *head], same)]
    for title, pairs in found.items():
        trained = sorted({own for own, _ in pairs})
        lines = [[f"N = {own}", *(_cost(pairs.get((own, size))) for size in columns)] for own in trained]
        tables.append(Table(f"{title} on {name}: trained on (rows), tested on (columns)", ["", *head], lines))
    return tables


def _cost(row: dict[str, str] | None) -> str:
    return MISSING if row is None else f"{with_interval(row['cost'], row['cost_ci95'], '.2f')} (n = {row['feasible']})"
