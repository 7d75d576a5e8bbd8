"""The network beside every classical solver that is installed, on one instance, scored by one judge."""

from pathlib import Path

import egam
from egam.solvers import SOLVERS, installed

instance = egam.read(Path(__file__).parent / "data" / "orders.csv")
methods = ["egam", *(name for name, row in SOLVERS.items() if instance.problem in row.problems and installed(name))]
for method in methods:
    result = egam.solve(instance, method, time_limit=1)
    verdict = "feasible" if result.feasible else "NOT FEASIBLE"
    print(f"{method:20} cost {result.cost:8.2f}  {verdict}  {result.seconds:.2f} s")
