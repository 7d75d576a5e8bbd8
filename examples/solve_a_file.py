"""Read a file, solve it, print the routes and save them: python examples/solve_a_file.py [FILE]"""

import sys
from pathlib import Path

import egam

path = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "data" / "orders.csv"
instance = egam.read(path)
result = egam.solve(instance)
print(result)
result.save(f"{instance.name}.sol")  # or .tour, .json, .geojson
