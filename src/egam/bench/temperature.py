"""At which temperature shipped weights are best sampled, found on instances that no test set has.

    python -m egam.bench.temperature NAME..   try 8x20 and 8xdistinct:20 at all temperatures, the best go to config.json

An instance's excess at a temperature is what its solution costs above the best one found at any of them, a whole cost
if it is infeasible there; instances that no temperature solves do not count. The best temperature of a size has the
smallest mean excess. Long routes want to be sampled cooler than short ones (docs/log.md), so that a size is not tried
at more than one step above what was best for the size before.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence

import numpy as np

from egam import catalogue
from egam.bench.datasets import seeded
from egam.bench.program import program
from egam.decode.strategies import Decoding, decode
from egam.files import write_text
from egam.machine import keep_pages
from egam.nn import Model
from egam.nn.temperature import Temperature
from egam.problems.base import Problem
from egam.weights import load_entry

TRIED: tuple[float, ...] = (0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6)
SIZES = {20: 128, 50: 160, 100: 48}  # N, ascending -> instances
SEED = 90  # test sets have others
KINDS = ((False, "temperature", "independent"), (True, "distinct_temperature", "different"))  # of samples


def excess(costs: np.ndarray, feasible: np.ndarray) -> np.ndarray:
    """Mean excess in % of each temperature; both are [temperatures, instances]."""
    solved = feasible.any(0)
    best = np.where(feasible, costs, np.inf)[:, solved].min(0)
    unit = np.where(best > 0, best, max(float(best.mean()), 1.0))  # a cost of 0 has no percent
    above = np.where(feasible[:, solved], (costs[:, solved] - best) / unit, 1.0)
    return np.asarray(100 * above.mean(1)) if solved.any() else np.zeros(len(costs))


def best_at(
    network: Model, problem: Problem, size: int, count: int, tried: Sequence[float] = TRIED, distinct: bool = False
) -> tuple[float, dict[float, float]]:
    """The temperature to take, and the mean excess of each that was tried."""
    arrays = seeded(problem, size, count, SEED).arrays
    found = [decode(network, problem, arrays, Decoding(8, 20, temperature=each, distinct=distinct)) for each in tried]
    means = excess(np.stack([each.cost for each in found]), np.stack([each.feasible for each in found]))
    by_temperature = {each: round(float(mean), 6) for each, mean in zip(tried, means, strict=True)}
    nearest_to_1 = sorted(tried, key=lambda each: abs(math.log(each)))  # where several are as good
    return min(nearest_to_1, key=by_temperature.__getitem__), by_temperature


def not_much_hotter(best: float) -> tuple[float, ...]:
    """What to try at a size if `best` was best at a smaller one."""
    return TRIED[: TRIED.index(best) + 2]


@program
def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser("python -m egam.bench.temperature", description=str(__doc__).split("\n")[0])
    parser.add_argument("names", nargs="+", help="of shipped weights")
    parser.add_argument(
        "--samples", choices=[kind[2] for kind in KINDS], help="search only for these; both if not given"
    )
    chosen = parser.parse_args(arguments)
    keep_pages()
    print("| weights | samples | N | instances | " + " | ".join(f"T = {each:g}" for each in TRIED) + " |")
    print("|---|---|---|---|" + "---|" * len(TRIED))
    for name in chosen.names:
        entry = catalogue.find(name)
        network, problem, config = load_entry(entry)
        asked = dict(config)
        for distinct, key, samples in KINDS:
            if chosen.samples not in (None, samples):
                continue
            points, tried = [], TRIED
            for size, count in SIZES.items():
                best, means = best_at(network, problem, size, count, tried, distinct)
                shown = {each: f"**{mean:.2f}**" if each == best else f"{mean:.2f}" for each, mean in means.items()}
                row = " | ".join(shown.get(each, "") for each in TRIED)
                print(f"| `{name}` | {samples} | {size} | {count} | {row} |", flush=True)
                points.append((size, best))
                tried = not_much_hotter(best)
            asked[key] = Temperature(tuple(points)).table()
        write_text(entry.folder / "config.json", json.dumps(asked, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
