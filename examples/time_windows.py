"""One van, appointments, and real travel times: stops from a CSV file, times from an OSRM reply, a timetable out.

The times in data/osrm_table.json are made up; docs/data/matrix.md says how to ask a server for real ones.
"""

from pathlib import Path

import egam
from egam.schedule import schedule

data = Path(__file__).parent / "data"
instance = egam.read(data / "van.csv", "tsptw", matrix=data / "osrm_table.json")
result = egam.solve(instance)
for note in result.notes:
    print("note:", note)
for stop in schedule(instance, result.solution):
    minute = f"{stop.arrival // 60:.0f} min" if stop.arrival is not None else "never"
    wait = f", waits {stop.wait // 60:.0f} min" if stop.wait else ""
    print(f"{stop.name}: arrives after {minute}{wait}{', ' + stop.violation if stop.violation else ''}")
print("in time everywhere" if result.feasible else "NOT FEASIBLE")
result.save("van.geojson")  # for any web map
