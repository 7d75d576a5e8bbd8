"""The judge on instances small enough to check by hand.

All share one map, a 3 x 4 rectangle with node 0 in a corner and node 4 in its centre:

    1 (0,4) ---- 2 (3,4)        side 0-1: 4    side 0-3: 3    diagonals 0-2, 1-3: 5
         4 (1.5,2)              centre to any corner: 2.5
    0 (0,0) ---- 3 (3,0)
"""

from __future__ import annotations

import numpy as np
import pytest

from egam.errors import BadInput
from egam.instance import Instance
from egam.judge import TIME_SLACK, judge
from egam.solution import Solution

COORDS = [[0, 0], [0, 4], [3, 4], [3, 0], [1.5, 2]]


def make(problem, **fields):
    return Instance(problem, coords=COORDS, **fields)


def kinds(verdict):
    return [(violation.kind, violation.node) for violation in verdict.violations]


def solve(*routes):
    return Solution.of(routes)


# --- tsp, atsp: every node once, one route -------------------------------------------------------------------------


def test_tsp_cost_is_the_closed_length():
    verdict = judge(make("tsp"), solve([1, 2, 3, 4]))
    assert verdict.cost == verdict.length == 4 + 3 + 4 + 2.5 + 2.5
    assert verdict.feasible and not verdict.violations
    assert verdict.served == (1, 2, 3, 4) and verdict.failed == verdict.unvisited == verdict.arrivals == ()


def test_atsp_goes_from_row_to_column():
    # 0->1->2->0 = 1 + 4 + 7; the other way round 0->2->1->0 = 2 + 8 + 3
    instance = Instance("atsp", matrix=[[0, 1, 2], [3, 0, 4], [7, 8, 0]])
    assert judge(instance, solve([1, 2])).cost == 12
    assert judge(instance, solve([2, 1])).cost == 13


def test_unvisited_nodes_are_violations():
    verdict = judge(make("tsp"), solve([1, 2]))
    assert kinds(verdict) == [("unvisited", 3), ("unvisited", 4)]
    assert verdict.violations[0].text == "node 3 is not visited"
    assert not verdict.feasible and verdict.unvisited == (3, 4)
    assert verdict.cost == 4 + 3 + 5  # still computed


def test_an_empty_solution_travels_nothing():
    for empty in (solve(), solve([])):
        verdict = judge(make("tsp"), empty)
        assert verdict.cost == 0 and not verdict.feasible and verdict.unvisited == (1, 2, 3, 4)


def test_a_node_visited_twice_is_a_violation():
    verdict = judge(make("tsp"), solve([1, 2, 1, 3, 4]))
    assert kinds(verdict) == [("repeated", 1)]
    assert verdict.violations[0].amount == 1
    assert verdict.violations[0].text == "node 1 is visited 2 times; once is allowed"
    assert verdict.cost == 4 + 3 + 3 + 5 + 2.5 + 2.5
    assert verdict.served == (1, 2, 3, 4)


@pytest.mark.parametrize("stranger", [5, -1])
def test_a_node_that_does_not_exist_is_left_out_of_the_length(stranger):
    verdict = judge(make("tsp"), solve([1, 2, stranger, 3, 4]))
    assert kinds(verdict) == [("unknown", stranger)]
    assert verdict.violations[0].text == f"node {stranger} does not exist; nodes are 0 to 4"
    assert verdict.cost == 16


def test_node_0_inside_a_route_is_a_violation():
    verdict = judge(make("tsp"), solve([1, 2, 0, 3, 4]))
    assert kinds(verdict) == [("depot", 0)]
    assert verdict.cost == 4 + 3 + 5 + 3 + 2.5 + 2.5


def test_two_routes_where_one_is_allowed():
    verdict = judge(make("tsp"), solve([1, 2], [3, 4]))
    assert kinds(verdict) == [("routes", 0)]
    assert verdict.violations[0].text == "there are 2 routes; tsp allows one"
    assert verdict.cost == (4 + 3 + 5) + (3 + 2.5 + 2.5)
    assert judge(make("tsp"), solve([], [1, 2, 3, 4])).feasible  # a route without stops is none


# --- cvrp: capacity per route --------------------------------------------------------------------------------------


def test_cvrp_routes_carry_up_to_the_capacity():
    instance = make("cvrp", demand=[0, 3, 4, 5, 2], capacity=7)
    verdict = judge(instance, solve([1, 2], [4, 3]))  # loads 3 + 4 = 7 and 2 + 5 = 7
    assert verdict.feasible
    assert verdict.cost == (4 + 3 + 5) + (2.5 + 2.5 + 3)


def test_cvrp_overload():
    instance = make("cvrp", demand=[0, 3, 4, 5, 2], capacity=7)
    verdict = judge(instance, solve([4], [1, 2, 3]))  # 3 + 4 + 5 = 12, past 7 at node 3
    assert kinds(verdict) == [("overload", 3)]
    assert verdict.violations[0].amount == 5
    assert verdict.violations[0].text == "route 2 carries 12, 5 above the capacity of 7"
    assert verdict.cost == 5 + (4 + 3 + 4 + 3)


def test_cvrp_forgives_rounding_errors_but_nothing_more():
    tenths = make("cvrp", demand=[0, 0.1, 0.2, 0.3, 0.1], capacity=0.6)
    assert 0.1 + 0.2 + 0.3 > 0.6  # in floating point
    assert judge(tenths, solve([1, 2, 3], [4])).feasible
    above = make("cvrp", demand=[0, 0.1, 0.2, 0.300001, 0.1], capacity=0.6)
    assert not judge(above, solve([1, 2, 3], [4])).feasible


# --- pctsp: length + penalties of those left out, enough prize ----------------------------------------------------


PCTSP = {"prize": [0, 1, 2, 3, 4], "penalty": [0, 0.5, 0.25, 2, 1], "min_prize": 7}


def test_pctsp_cost():
    verdict = judge(make("pctsp", **PCTSP), solve([3, 4]))  # prize 3 + 4 = 7, penalties 0.5 + 0.25
    assert verdict.feasible
    assert verdict.length == 3 + 2.5 + 2.5
    assert verdict.cost == verdict.length + 0.75
    assert verdict.unvisited == (1, 2)


def test_pctsp_too_little_prize():
    verdict = judge(make("pctsp", **PCTSP), solve([1, 3]))  # prize 1 + 3 = 4
    assert kinds(verdict) == [("prize", 0)]
    assert verdict.violations[0].amount == 3
    assert verdict.violations[0].text == "the collected prize is 4, 3 below the 7 that is needed"
    assert verdict.cost == 4 + 5 + 3 + 0.25 + 1


def test_pctsp_a_repeated_visit_collects_once():
    assert ("prize", 0) in kinds(judge(make("pctsp", **PCTSP), solve([4, 1, 4])))  # 4 + 1, not 4 + 1 + 4


def test_pctsp_visiting_everybody_is_always_enough():
    assert judge(make("pctsp", **{**PCTSP, "min_prize": 99}), solve([1, 2, 3, 4])).feasible
    assert not judge(make("pctsp", **{**PCTSP, "min_prize": 99}), solve([1, 2, 3])).feasible


def test_pctsp_prize_tolerance():
    assert judge(make("pctsp", **{**PCTSP, "min_prize": 7 * (1 + 0.9e-5)}), solve([3, 4])).feasible
    assert not judge(make("pctsp", **{**PCTSP, "min_prize": 7 * (1 + 1.1e-5)}), solve([3, 4])).feasible


# --- tsptw: service starts inside the window ----------------------------------------------------------------------


def test_tsptw_waiting_and_arrivals():
    # leave at 0; arrive at 1 at 4, wait until 6; at 2 at 6 + 3 = 9 = its end; at 3 at 13; at 4 at 15.5; back at 18
    # though node 0 closes at 17: the return is not checked. Waiting is not length.
    instance = make("tsptw", window=[[0, 17], [6, 8], [0, 9], [0, 99], [15, 16]])
    verdict = judge(instance, solve([1, 2, 3, 4]))
    assert verdict.feasible
    assert verdict.arrivals == (4, 9, 13, 15.5)
    assert verdict.cost == 16


def test_tsptw_late():
    # as above, but 2 closes at 8: 1 late there; the clock goes on from 9, so 3 (closes at 12) is 1 late as well
    instance = make("tsptw", window=[[0, 99], [6, 8], [0, 8], [0, 12], [0, 99]])
    verdict = judge(instance, solve([1, 2, 3, 4]))
    assert kinds(verdict) == [("late", 2), ("late", 3)]
    assert [violation.amount for violation in verdict.violations] == [1, 1]
    assert verdict.violations[0].text == "node 2 is reached at 9, 1 after its window closed at 8"
    assert verdict.served == (1, 4) and verdict.failed == (2, 3)
    assert verdict.cost == 16


def test_tsptw_leaves_when_the_depot_opens():
    instance = make("tsptw", window=[[10, 99], [0, 14], [0, 99], [0, 99], [0, 99]])
    verdict = judge(instance, solve([1, 2, 3, 4]))
    assert verdict.feasible and verdict.arrivals == (14, 17, 21, 23.5)


def test_tsptw_time_tolerance_is_1e_5_of_the_longer_side():
    assert make("tsp").scale == 4
    for excess, feasible in ((0.9, True), (1.1, False)):
        end = 4 - excess * TIME_SLACK * 4
        instance = make("tsptw", window=[[0, 99], [0, end], [0, 99], [0, 99], [0, 99]])
        assert judge(instance, solve([1, 2, 3, 4])).feasible is feasible


def test_a_missing_road_makes_nobody_late_in_time():
    """999999999 where there is no way: the tolerance is that of the other ways."""
    matrix = np.full((4, 4), 1500.0)
    matrix[1, 3] = 999999999
    instance = Instance("tsptw", matrix=matrix, window=[[0, 9000], [0, 600], [0, 600], [0, 600]])
    verdict = judge(instance, solve([1, 2, 3]))
    assert [violation.kind for violation in verdict.violations] == ["late"] * 3
    assert instance.scale == pytest.approx(1500 / np.sqrt(2) * 2 * np.sqrt(2))


def test_routes_may_be_lists_and_name_the_depot_at_their_ends():
    instance = make("tsp")
    verdict = judge(instance, solve([1, 2, 3, 4]))
    for routes in ([[1, 2, 3, 4]], [[0, 1, 2, 3, 4, 0]], [[0, 1, 2, 3, 4], [0, 0]], np.array([[1, 2, 3, 4]])):
        assert judge(instance, routes).feasible and judge(instance, routes).cost == verdict.cost
    assert not judge(instance, [[1, 2, 0, 3, 4]]).feasible


@pytest.mark.parametrize(
    ("routes", "found"),
    [
        ([1, 2], "routes[0] is 1; a list of node numbers is expected"),
        ([["a"]], "routes[0][0] is 'a'; a node number is expected"),
        ([[1, 2.5]], "routes[0][1] is 2.5; a node number is expected"),
        ("12", "routes is '12'; a list of routes"),
        (None, "routes is None; a list of routes"),
    ],
)
def test_what_is_no_plan_is_refused(routes, found):
    with pytest.raises(BadInput) as error:
        judge(make("tsp"), routes)
    assert str(error.value).startswith(found)


def test_scale_of_a_matrix_is_its_largest_entry_over_the_diagonal_of_a_square():
    assert Instance("atsp", matrix=[[0, 1, 2], [3, 0, 4], [7, 8, 0]]).scale == pytest.approx(8 / np.sqrt(2))


# --- vrptw: how many are not served -------------------------------------------------------------------------------


def test_vrptw_a_late_visit_fails_and_costs_time_but_breaks_no_rule():
    # 1 at 4 in time; 2 at 7 but closed at 5: failed, no waiting there; 3 at 11, waits until 12, served; 4 left out
    instance = make("vrptw", window=[[0, 99], [4, 5], [4, 5], [12, 13], [0, 1]])
    verdict = judge(instance, solve([1, 2, 3]))
    assert verdict.feasible
    assert verdict.arrivals == (4, 7, 11)
    assert (verdict.served, verdict.failed, verdict.unvisited) == ((1, 3), (2,), (4,))
    assert verdict.cost == 2
    assert verdict.length == 4 + 3 + 4 + 3


def test_vrptw_staying_at_home_serves_nobody():
    verdict = judge(make("vrptw", window=[[0, 99]] * 5), solve())
    assert verdict.feasible and verdict.cost == 4 and verdict.length == 0


def test_vrptw_has_one_vehicle():
    assert kinds(judge(make("vrptw", window=[[0, 99]] * 5), solve([1], [2]))) == [("routes", 0)]


# --- tspdl: the load at a port must not exceed its draft limit ----------------------------------------------------


def test_tspdl_load_includes_the_port_itself():
    # demands 1, 2, 1, 1 along 1-2-3-4: loads 1, 3, 4, 5
    instance = make("tspdl", demand=[0, 1, 2, 1, 1], draft_limit=[5, 1, 3, 4, 5])
    verdict = judge(instance, solve([1, 2, 3, 4]))
    assert verdict.feasible and verdict.cost == 16


def test_tspdl_overload():
    # the other way, 4-3-2-1: loads 1, 2, 4 (limit 3: 1 over), 5 (limit 1: 4 over)
    instance = make("tspdl", demand=[0, 1, 2, 1, 1], draft_limit=[5, 1, 3, 4, 5])
    verdict = judge(instance, solve([4, 3, 2, 1]))
    assert kinds(verdict) == [("draft", 2), ("draft", 1)]
    assert [violation.amount for violation in verdict.violations] == [1, 4]
    assert verdict.violations[0].text == "the load at node 2 is 4, 1 above its draft limit of 3"
    assert verdict.served == (4, 3) and verdict.failed == (2, 1)
    assert verdict.cost == 16
