"""Score a plan from any tool, or from a dispatcher: the cost, and every broken rule in words."""

from pathlib import Path

import egam
from egam.plot import save

instance = egam.read(Path(__file__).parent / "data" / "orders.csv")
by_name = {instance.stop_name(node): node for node in range(instance.size)}
plan = egam.Solution.of(
    [
        [by_name[f"order {number}"] for number in (101, 102, 112, 119, 124)],
        [by_name[f"order {number}"] for number in (103, 105, 106, 115, 116, 117, 109, 125)],
    ]
)
verdict = egam.judge(instance, plan)
print(f"cost {verdict.cost:.1f}, {'feasible' if verdict.feasible else 'NOT FEASIBLE'}")
for violation in verdict.violations:
    print(f"{violation.kind}: {violation.text}")
save("plan.png", instance, plan, verdict)
