"""The one door, with the weights that come with the package: units, odd numbers, lists, limits, notes, refusals.

Costs are never compared with figures of one set of weights: others will come.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import egam
from egam import Instance, Solution, judge
from egam.catalogue import shipped
from egam.errors import BadInput
from egam.problems import get_problem
from egam.problems.base import unstack
from egam.solve import Best, rank

PROBLEMS = list(egam.KINDS)


def instances(problem, count=1, size=12, seed=1):
    return unstack(problem, get_problem(problem).generate(np.random.default_rng(seed), count, size))


def instance(problem, size=12, seed=1):
    return instances(problem, 1, size, seed)[0]


def quick(*args, **more):
    return egam.solve(*args, **{"samples": 0, **more})


def matrix_of(coords):
    return np.linalg.norm(coords[:, None] - coords[None, :], axis=-1)


# ---- every problem ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("problem", PROBLEMS)
def test_every_problem(problem):
    given = instance(problem)
    result = egam.solve(given, samples=16)
    verdict = judge(given, result.solution)
    assert (result.cost, result.feasible) == (verdict.cost, verdict.feasible)
    assert result.method == "egam" and shipped()[result.weights].problem == problem
    assert result.tries >= 24 and result.seconds > 0
    if problem not in ("tsptw", "tspdl"):
        assert result.feasible and not result.violations
    random = judge(given, Solution.of([range(1, given.size)]))
    assert rank(result.verdict) < rank(random)


def test_the_network_is_near_the_optimum():
    """Held-Karp proves; weights of any quality find 12 nodes within a few per cent with all starts and samples."""
    given = instance("tsp")
    best = egam.solve(given, "held-karp")
    assert best.proven and best.method == "held-karp" and best.weights == ""
    found = egam.solve(given)
    assert best.cost - 1e-9 <= found.cost < 1.05 * best.cost


# ---- units ------------------------------------------------------------------------------------------------------


MOVED = {"offset": (1.0, 1e6), "large": (1e6, -3e7), "small": (1e-6, 0.0), "degrees": (0.05, 13.4)}


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("unit", MOVED)
def test_any_unit_and_offset_gives_the_same_route(problem, unit):
    """Lengths, penalties and times are in the user's unit; prizes, demands and capacities have their own."""
    scale, offset = MOVED[unit]
    given = instance(problem)
    fields = {"demand": given.demand, "capacity": given.capacity, "draft_limit": given.draft_limit}
    fields |= {"prize": given.prize, "min_prize": given.min_prize}
    fields["penalty"] = None if given.penalty is None else given.penalty * scale
    fields["window"] = None if given.window is None else given.window * scale + 5 * scale
    matrix = None if given.matrix is None else given.matrix * scale
    moved = Instance(problem, coords=given.coords * scale + offset, matrix=matrix, **fields)
    one, other = quick(given), quick(moved)
    assert one.routes == other.routes
    times = 1 if given.kind.cost == "unserved" else scale
    assert other.cost == pytest.approx(one.cost * times, rel=1e-6)


@pytest.mark.parametrize("problem", ["tsp", "cvrp", "tsptw", "vrptw"])
@pytest.mark.parametrize("scale", [1e6, 1e-6])
def test_a_matrix_in_any_unit_gives_the_same_route(problem, scale):
    given = instance(problem)
    more = {"demand": given.demand, "capacity": given.capacity}
    window = given.window
    one = quick(Instance(problem, matrix=given.travel, window=window, **more))
    window = None if window is None else window * scale
    assert quick(Instance(problem, matrix=given.travel * scale, window=window, **more)).routes == one.routes


PLACES = {
    "line": np.stack([np.arange(8.0), np.zeros(8)], 1),
    "steep line": np.stack([np.zeros(8), np.arange(8.0) * 1e5], 1),
    "duplicates": np.repeat(np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]]), 2, axis=0),
    "one point": np.full((8, 2), 3.7),
    "three nodes": np.array([[0.0, 0], [3, 0], [3, 4]]),
}


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("place", PLACES)
def test_odd_places(problem, place):
    coords = PLACES[place]
    size = len(coords)
    ones = np.r_[0.0, np.ones(size - 1)]
    own = {
        "cvrp": {"demand": ones, "capacity": 3},
        "pctsp": {"prize": ones, "penalty": ones, "min_prize": 2},
        "tsptw": {"window": [[0, 1e7]] * size},
        "tspdl": {"demand": ones, "draft_limit": np.full(size, size)},
        "vrptw": {"window": [[0, 1e7]] * size},
    }.get(problem, {})
    for geometry in ({"coords": coords}, {"matrix": matrix_of(coords)}):
        result = egam.solve(Instance(problem, **geometry, **own), samples=8)
        assert result.feasible and np.isfinite(result.cost)
        if place == "line" and problem in ("tsp", "atsp"):
            assert result.cost == 14  # there and back: 2 x 7
        if place == "three nodes" and problem in ("tsp", "atsp", "tsptw", "tspdl"):
            assert result.cost == pytest.approx(12)  # 3 + 4 + 5
        if place == "one point" and problem not in ("pctsp", "vrptw"):
            assert result.cost == 0


# ---- odd numbers ------------------------------------------------------------------------------------------------


def with_(problem, **changes):
    given = instance(problem)
    fields = {name: getattr(given, name) for name in ("coords", "matrix", *given.kind.fields)}
    return Instance(problem, **{**fields, **changes})


def never_ends(window):
    return np.stack([window[:, 0], np.where(np.arange(len(window)) % 3 == 0, 1e9, window[:, 1])], -1)


ODD = {
    "windows that never end": lambda: with_("tsptw", window=[[0, 1e9]] * 12),
    "some windows that never end": lambda: with_("tsptw", window=never_ends(instance("tsptw").window)),
    "windows since ever": lambda: with_("tsptw", window=[[-1e9, 1e9]] * 12),
    "seconds since 1970": lambda: with_("tsptw", window=[[0, 2e9]] + [[1.7e9, 1.7e9 + 1e5]] * 11),
    "vrptw that never ends": lambda: with_("vrptw", window=[[0, 1e9]] * 13),
    "vrptw since 1970": lambda: with_("vrptw", window=instance("vrptw").window + 1.7e9),
    "capacity for all": lambda: with_("cvrp", capacity=1e9),
    "no demand at all": lambda: with_("cvrp", demand=np.zeros(13)),
    "no prizes": lambda: with_("pctsp", prize=np.zeros(13)),
    "more prize than there is": lambda: with_("pctsp", min_prize=1e9),
    "less prize than any": lambda: with_("pctsp", min_prize=1e-9),
    "penalties of 1e9": lambda: with_("pctsp", penalty=np.r_[0, np.full(12, 1e9)]),
    "no penalties": lambda: with_("pctsp", penalty=np.zeros(13)),
    "draft limits of 1e9": lambda: with_("tspdl", draft_limit=np.full(12, 1e9)),
    "no loads": lambda: with_("tspdl", demand=np.zeros(12)),
}


@pytest.mark.parametrize("case", ODD)
def test_odd_numbers_have_feasible_answers(case):
    result = egam.solve(ODD[case](), samples=8)
    assert result.feasible, result
    assert len(set(result.solution.visits)) == len(result.solution.visits)


def test_odd_numbers_mean_what_they_mean():
    assert len(egam.solve(ODD["capacity for all"]()).routes) <= 2
    for case in ("more prize than there is", "no prizes", "penalties of 1e9"):
        assert not egam.solve(ODD[case](), samples=8).verdict.unvisited, case
    assert egam.solve(ODD["vrptw that never ends"]()).cost == 0
    shifted = egam.solve(ODD["vrptw since 1970"](), samples=8)  # float64 of 1.7e9 + x keeps x to 1e-7
    assert shifted.cost == egam.solve(instance("vrptw"), samples=8).cost


def test_forbidden_ways_are_avoided():
    """Of 12 x 11 ways, 6 cost 1e9: the rest must still look to the network as they did."""
    given = instance("atsp")
    matrix = given.matrix.copy()
    for i, j in ((0, 1), (1, 2), (3, 5), (7, 2), (9, 10), (11, 4)):
        matrix[i, j] = 1e9
    result = egam.solve(Instance.atsp(given.coords, matrix=matrix), samples=32)
    assert result.cost < 1.3 * egam.solve(given, samples=32).cost


def test_loads_are_exact():
    """Demands that differ from a third of the capacity by 1e-8 of it: three of the heavy ones do not fit together,
    which float32 cannot see; a route must be cut where they came together."""
    heavy, light = 1e9 + 30, 1e9 - 60
    demand = np.r_[0, np.tile([heavy, heavy, light], 4)]
    given = Instance.cvrp(np.random.default_rng(5).random((13, 2)), demand=demand, capacity=3e9)
    assert egam.solve(given, samples=8).feasible


# ---- what the weights never saw -----------------------------------------------------------------------------------


def test_an_asymmetric_tsp_is_solved_with_the_weights_for_atsp():
    road = instance("atsp")
    result = quick(Instance.tsp(road.coords, matrix=road.matrix))
    assert result.weights == "atsp"
    assert "solved with weights for atsp, as ways there and back cost different" in result.notes
    assert result.routes == quick(road).routes


def test_a_symmetric_atsp_is_solved_with_the_weights_for_tsp():
    coords = instance("tsp").coords
    result = quick(Instance.atsp(coords, matrix=matrix_of(coords)))
    assert shipped()[result.weights].problem == "tsp" and any("for tsp" in note for note in result.notes)


def test_an_asymmetric_matrix_elsewhere():
    road = instance("atsp")
    given = Instance.cvrp(matrix=road.matrix, demand=np.r_[0, np.ones(11)], capacity=4)
    result = quick(given)
    assert result.feasible and result.cost == judge(given, result.solution).cost
    assert any("mean of both ways" in note for note in result.notes)
    assert any("positions derived from the matrix" in note for note in result.notes)


@pytest.mark.parametrize("problem", ["tsp", "cvrp", "pctsp", "vrptw"])
def test_a_matrix_is_solved_about_as_well_as_its_points(problem):
    plain, bare = [], []
    for given in instances(problem, 8, 15):
        fields = {name: getattr(given, name) for name in given.kind.fields}
        plain.append(given)
        bare.append(Instance(problem, matrix=given.travel, **fields))
    costs = [np.mean([result.cost for result in egam.solve(each, samples=8)]) for each in (plain, bare)]
    assert costs[1] < 1.06 * costs[0]


def test_sizes_far_from_training():
    entries = [entry for entry in shipped().values() if entry.problem == "tsp"]
    low, high = min(entry.sizes[0] for entry in entries), max(entry.sizes[1] for entry in entries)
    assert not any("far from" in note for note in quick(instance("tsp", high)).notes)
    assert any("far from" in note for note in quick(instance("tsp", int(1.6 * high))).notes)
    notes = quick(instance("tsp", 3)).notes
    assert any("3 nodes are far from what" in note and f"(tsp with N = {low}" in note for note in notes)


def test_wide_windows():
    assert any("wider" in note for note in quick(with_("tsptw", window=[[0, 1000]] * 12)).notes)
    assert not any("wider" in note for note in quick(instance("tsptw", 20)).notes)


def test_notes_of_the_reader_come_first():
    given = Instance("tsp", coords=PLACES["line"], notes=("column colour was left out",))
    assert quick(given).notes[0] == "column colour was left out"


# ---- infeasible -------------------------------------------------------------------------------------------------


def test_provably_infeasible():
    window = np.array([[0, 100]] * 7 + [[0, 3]])  # node 7 is 7 away
    result = egam.solve(Instance.tsptw(PLACES["line"], window=window, names=list("abcdefgh")), samples=8)
    assert not result.feasible and result.violations[0].kind == "late"
    assert "node 7 (h)" in result.violations[-1].text
    assert any("stop h cannot be reached before 7" in note for note in result.notes)


def test_none_found():
    """Three stops, any two of which can be in time, have a proof. Twelve that are all a step apart, of which any eleven
    can be in time, have none: no more than ten are looked at."""
    coords = np.array([[0.0, 0], [0, 1], [0, -1], [1, 0]])
    given = Instance.tsptw(coords, window=[[0, 100], [0, 3.7], [0, 3.7], [0, 3.7]])  # 1 + 1.41 + 1.41 = 3.83
    result = egam.solve(given, samples=8)
    assert not result.feasible
    assert (
        "no plan can keep all windows: stops 1, 2 and 3 cannot all be reached in time, in whatever order"
        in result.notes
    )
    matrix = np.ones((13, 13)) - np.eye(13)
    result = egam.solve(Instance.tsptw(matrix=matrix, window=[[0, 100], *[[0, 11.5]] * 12]), samples=8)
    assert not result.feasible
    assert any("no plan that keeps all rules was found among" in note for note in result.notes)


def test_fewer_violations_beat_cost():
    """Late stops 0 < late stops 1 < late stops 2; among equals the lesser lateness, then the length."""
    given = Instance.tsptw(PLACES["line"][:4], window=[[0, 9], [0, 1], [0, 2], [0, 3]])
    best = Best(given)
    assert best.offer(Solution.of([[3, 2, 1]]))  # 2 at 4, 1 at 5: two late
    assert best.offer(Solution.of([[1, 3, 2]]))  # 2 at 4: one late
    assert not best.offer(Solution.of([[3, 2, 1]]))
    assert best.offer(Solution.of([[1, 2, 3]]))  # none
    assert best.verdict.feasible


# ---- lists ------------------------------------------------------------------------------------------------------


def test_a_list_keeps_its_order_and_changes_no_answer():
    mixed = [instance("tsp", 7), instance("cvrp", 6), instance("tsp", 9), instance("tsp", 7, seed=2)]
    mixed.append(instance("atsp", 7))
    mixed.append(Instance.tsp(matrix=matrix_of(instance("tsp", 7).coords)))
    finished = []
    together = egam.solve(mixed, samples=8, progress=finished.append)
    assert [result.instance for result in together] == mixed and sum(finished) == 6
    for one, result in zip(mixed, together, strict=True):
        assert egam.solve(one, samples=8).routes == result.routes
    assert egam.solve([]) == []


def test_should_stop_leaves_the_rest_of_a_list():
    results = egam.solve([instance("tsp", 7), instance("tsp", 8)], samples=0, should_stop=lambda: True)
    assert results[0].feasible and results[0].begun
    assert not results[1].begun and not results[1].feasible and results[1].routes == []
    assert any("before this instance was begun" in note for note in results[1].notes)


# ---- effort -----------------------------------------------------------------------------------------------------


def test_more_samples_are_never_worse():
    given = instance("cvrp", 30)
    costs = [egam.solve(given, samples=count).cost for count in (0, 8, 64, 200)]
    assert costs == sorted(costs, reverse=True) and costs[-1] < costs[0]


def test_the_seed_decides():
    given = instance("cvrp", 40)
    routes = [egam.solve(given, decoding="sample:2", seed=seed).routes for seed in (1, 1, 2)]
    assert routes[0] == routes[1] != routes[2]


def test_what_was_tried_is_told():
    assert egam.solve(instance("cvrp"), samples=0).decoding == "1 greedy solution"
    result = egam.solve(instance("cvrp"), samples=10)
    assert (result.tries, result.decoding) == (24, "8 greedy and 16 sampled solutions on 8 symmetric copies")
    assert egam.solve(instance("tsp"), decoding="starts").tries == 12


def test_a_time_limit_is_used_and_kept():
    given, better = instance("cvrp", 15), []
    quick(given)  # loads
    began = time.perf_counter()
    result = egam.solve(given, time_limit=2, on_improvement=better.append)
    assert 1 < time.perf_counter() - began < 6
    assert result.tries > 8 and result.routes == better[-1].routes
    costs = [each.cost for each in better]
    assert costs == sorted(costs, reverse=True) and len(better) >= 1


def test_rounds_decide_not_the_clock():
    """The same number of rounds, stopped by a counter, gives the same answer."""
    given, answers = instance("cvrp", 40), []
    for _ in range(2):
        left = iter([False] * 3 + [True])
        answers.append(egam.solve(given, time_limit=60, should_stop=lambda left=left: next(left)))
    assert answers[0].routes == answers[1].routes and answers[0].tries == answers[1].tries
    assert "stopped early: this is the best so far" in answers[0].notes


def test_a_greedy_decoding_ends_before_its_time_limit():
    began = time.perf_counter()
    egam.solve(instance("tsp"), decoding="greedy", time_limit=100)
    assert time.perf_counter() - began < 50


def test_ctrl_c_returns_the_best_so_far():
    code = """
import egam, signal, numpy as np
signal.signal(signal.SIGINT, signal.default_int_handler)  # a process in the background may have been told to ignore it
result = egam.solve(
    egam.Instance.tsp(np.random.default_rng(0).random((30, 2))), time_limit=100,
    on_improvement=lambda result: print("better", flush=True),
)
print(result.feasible, result.interrupted, result.notes[-1], flush=True)
"""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout.readline() == "better\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=60)
    assert said.splitlines()[-1] == "True True stopped by Ctrl-C: this is the best so far"


def test_ctrl_c_in_a_list():
    calls = []

    def stop(result):
        calls.append(result)
        raise KeyboardInterrupt

    mixed = [instance("tsp", 7), instance("tsp", 8)]
    results = egam.solve(mixed, samples=0, on_improvement=stop)
    assert results[0].feasible and results[0].interrupted and not results[1].begun and len(calls) == 1


# ---- classical --------------------------------------------------------------------------------------------------


def test_a_classical_solver_comes_through_the_same_door():
    told, finished = [], []
    pair = [instance("tsp", 8), instance("tsp", 9)]
    results = egam.solve(pair, "held-karp", on_improvement=told.append, progress=finished.append)
    assert all(result.proven and "proven optimal" in str(result) for result in results)
    assert [result.cost for result in told] == [result.cost for result in results] and finished == [1, 1]
    half = egam.solve(pair, "held-karp", should_stop=lambda: True)
    assert half[0].begun and not half[1].begun


# ---- refusals ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"method": "egma"}, r"unknown method 'egma' \(did you mean 'egam'\?\)"),
        ({"method": "hygese"}, "hygese does not solve tsp"),
        ({"method": "pomo"}, "no weights of pomo for tsp come with the package.*--method pomo"),
        ({"samples": -1}, "samples is -1"),
        ({"samples": 2.5}, "samples is 2.5; a whole number"),
        ({"time_limit": float("nan")}, "time_limit is nan"),
        ({"time_limit": 0}, "time_limit is 0"),
        ({"time_limit": "5"}, "time_limit is '5'; seconds above 0"),
        ({"memory": "6"}, "memory is '6' GiB"),
        ({"method": None}, "unknown method 'None'"),
        ({"decoding": 3}, "decoding is 3; a text such as"),
        ({"device": None}, "device is None; a text such as"),
        ({"method": "held-karp", "samples": 5}, "samples is given, but held-karp is no network"),
        ({"seed": -1}, "seed is -1"),
        ({"memory": 0}, "memory is 0 GiB"),
        ({"device": "abacus"}, "device 'abacus' cannot be used"),
        ({"decoding": "greedo"}, "decoding 'greedo' is unknown"),
        ({"decoding": "greedy", "samples": 5}, "both given"),
        ({"weights": "cvrp"}, "is tsp, but the weights cvrp are for cvrp"),
        ({"weights": "nowhere"}, "nowhere: holds no config.json and is no name of shipped weights"),
        ({"weights": "tsp", "method": "held-karp"}, "held-karp is no network"),
        ({"weights": "tsp", "method": "pomo"}, "are of egam, not of pomo"),
    ],
)
def test_refusals(arguments, found):
    with pytest.raises(BadInput, match=found):
        egam.solve(instance("tsp"), **arguments)


def test_not_an_instance():
    with pytest.raises(BadInput, match=r"instances\[1\] is of type dict"):
        egam.solve([instance("tsp"), {}])


@pytest.mark.parametrize("given", [None, 3, "orders.csv"])
def test_nothing_like_an_instance(given):
    with pytest.raises(BadInput, match=f"instances is of type {type(given).__name__}; an egam.Instance is expected"):
        egam.solve(given)


@pytest.mark.parametrize("method", ["egam", "nearest-neighbour"])
def test_a_prize_out_of_reach_is_told(method):
    coords = np.random.default_rng(0).random((6, 2))
    asked = Instance.pctsp(coords, prize=[0, 1, 2, 3, 4, 5], penalty=[0, 9, 9, 9, 9, 9], min_prize=600)
    result = egam.solve(asked, method)
    assert result.feasible and result.unserved == []
    assert result.notes[-1].startswith("all prizes together are 15, below min_prize 600")


def test_an_overrun_time_limit_is_told():
    result = egam.solve(instance("tsp"), time_limit=1e-4)
    assert any(note.startswith("the time limit of 0.0001 s was overrun: ") for note in result.notes)
    assert not any("overrun" in note for note in egam.solve(instance("tsp"), time_limit=2).notes)


def test_too_large_for_the_memory():
    large = Instance.tsp(np.random.default_rng(0).random((1500, 2)))
    with pytest.raises(BadInput, match=r"1500 nodes need about 1\.\d GiB, the limit is 0\.7, which \d+ nodes fit into"):
        egam.solve(large, memory=0.7)


# ---- large ------------------------------------------------------------------------------------------------------


def test_some_hundred_nodes():
    result = quick(instance("tsp", 300))
    assert result.feasible and result.cost < 30  # random: 156


# A process's getrusage begins with the size of the one that started it; the kernel's own high-water mark does not.
PEAK_GIB = "int(re.search(r'VmHWM:\\s+(\\d+) kB', open('/proc/self/status').read())[1]) / 2**20"
on_linux = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")


@on_linux
@pytest.mark.slow
@pytest.mark.parametrize("problem", ["tsp", "atsp", "cvrp"])
def test_a_thousand_nodes_in_six_gib_and_two_minutes(problem):
    code = f"""
import re, egam
from tests.test_solve import instance
result = egam.solve(instance({problem!r}, 1000), samples=0)
print(result.feasible, result.seconds, {PEAK_GIB})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    feasible, seconds, gib = done.stdout.split()
    assert feasible == "True" and float(gib) < 6 and float(seconds) < 120


@on_linux
def test_peak_memory_is_near_the_estimate():
    """600 nodes in a process of its own: its peak is below what `needed_gib` says."""
    code = f"""
import re, egam, numpy as np
egam.solve(egam.Instance.tsp(np.random.default_rng(0).random((600, 2))), samples=0)
from egam.decode.search import needed_gib
from egam.weights import load_model
print({PEAK_GIB}, needed_gib(load_model("tsp")[0], 600))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    peak, estimate = map(float, done.stdout.split())
    assert estimate / 2 < peak < estimate
