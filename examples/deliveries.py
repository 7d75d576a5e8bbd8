"""Deliveries from your own Python data: build an instance, solve it, use the routes, draw them."""

import egam
from egam.plot import save

depot = ("bakery", 50, 50, 0)
orders = [
    ("Anna", 20, 80, 4),
    ("Ben", 70, 10, 5),
    ("Cleo", 90, 60, 6),
    ("Dora", 10, 30, 3),
    ("Emil", 65, 85, 4),
    ("Fay", 35, 15, 7),
    ("Gus", 80, 35, 2),
]
stops = [depot, *orders]  # the depot comes first: it is node 0
instance = egam.Instance.cvrp(
    coords=[(x, y) for _, x, y, _ in stops],
    demand=[boxes for _, _, _, boxes in stops],
    capacity=12,
    names=[name for name, _, _, _ in stops],
    name="deliveries",
)
result = egam.solve(instance)
for number, (route, names) in enumerate(zip(result.routes, result.named_routes, strict=True), start=1):
    boxes = sum(stops[node][3] for node in route)
    print(f"van {number}: {', '.join(names)} ({boxes} boxes)")
print(f"{result.cost:.1f} km, {'all rules kept' if result.feasible else 'NOT FEASIBLE'}")
save("deliveries.png", instance, result.solution, result.verdict)
