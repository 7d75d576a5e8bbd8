"""What happens at each stop, with the arithmetic of five nodes on a line: 0, 10, 20, 30 and 40."""

from egam.instance import Instance
from egam.schedule import schedule, schedule_rows
from egam.solution import Solution

LINE = [[0, 0], [10, 0], [20, 0], [30, 0], [40, 0]]
ROUTE = Solution.of([[1, 2, 4, 3]])
OPEN = [5, 1000]


def test_clock_and_waiting_of_time_windows():
    # leaves 0 at 5; 1 at 15, opens at 20: waits 5; 2 at 30; 4 at 50, closed at 45: 5 late; 3 at 60
    windows = [OPEN, [20, 90], [0, 90], [0, 90], [0, 45]]
    first, second, third, last = schedule(Instance.tsptw(LINE, window=windows), ROUTE)
    assert (first.arrival, first.wait, first.start, first.status) == (15, 5, 20, "served")
    assert (second.arrival, second.wait, second.start) == (30, 0, 30)
    assert (third.arrival, third.status) == (50, "failed")
    assert third.violation == "node 4 is reached at 50, 5 after its window closed at 45"
    assert (last.arrival, last.violation, last.load) == (60, "", None)


def test_coming_late_is_said_where_it_breaks_no_rule():
    windows = [OPEN, [20, 90], [0, 90], [0, 90], [0, 45]]
    stops = schedule(Instance.vrptw(LINE, window=windows), Solution.of([[1, 2, 4]]))
    assert [stop.status for stop in stops] == ["served", "served", "failed", "unvisited"]
    assert stops[2].violation == "node 4 is reached at 50, 5 after its window closed at 45"
    assert (stops[3].node, stops[3].route, stops[3].arrival, stops[3].violation) == (3, None, None, "")


def test_loads_begin_anew_on_every_route():
    instance = Instance.cvrp(LINE, demand=[0, 3, 4, 5, 6], capacity=9, names=["depot", "a", "b", "c", "d"])
    rows = schedule_rows(instance, Solution.of([[1, 2], [3, 4]]))
    assert [(row["route"], row["name"], row["load"]) for row in rows] == [
        (1, "a", 3),
        (1, "b", 7),
        (2, "c", 5),
        (2, "d", 11),
    ]
    assert [row["arrival"] for row in rows] == [10, 20, 30, 40]
    assert rows[3]["violation"] == "route 2 carries 11, 2 above the capacity of 9"


def test_wrong_solutions_have_a_schedule_too():
    # 0 - 1 - 0 - 2: 10, 20, 40; node 9 does not exist; 3 and 4 are not visited
    stops = schedule(Instance.tsp(LINE), Solution.of([[1, 9, 0, 2]]))
    assert [(stop.node, stop.arrival, stop.status) for stop in stops] == [
        (1, 10, "served"),
        (0, 20, "depot"),
        (2, 40, "served"),
        (3, None, "unvisited"),
        (4, None, "unvisited"),
    ]
    assert "inside a route" in stops[1].violation and stops[3].violation == "node 3 is not visited"
