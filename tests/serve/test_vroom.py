"""VROOM's shape without a server: what becomes which instance, what is refused by name, and the times of an answer."""

import pytest

from egam.errors import BadInput
from egam.serve.limits import Limits, Refusal
from egam.serve.vroom import answer, plan
from egam.serve.vroom_read import read_vroom

# VROOM's documented example of custom matrices; start and end differ
DURATIONS = [[0, 2104, 197, 1299], [2103, 0, 2255, 3152], [197, 2256, 0, 1102], [1299, 3153, 1102, 0]]
DOCUMENTED = {
    "vehicles": [{"id": 0, "start_index": 0, "end_index": 3}],
    "jobs": [{"id": 1414, "location_index": 1}, {"id": 1515, "location_index": 2}],
    "matrices": {"car": {"durations": DURATIONS}},
}
# places on a line: 0, 10, 20, 30, 40
LINE = [[abs(a - b) for b in range(0, 50, 10)] for a in range(0, 50, 10)]


def line(vehicle=None, jobs=None, vehicles=1, **more):
    """A round trip from place 0 to jobs 1, 2, ... at places 1, 2, ... of the line."""
    jobs = jobs or [{}, {}, {}, {}]
    fleet = [{"id": n, "start_index": 0, "end_index": 0, **(vehicle or {})} for n in range(vehicles)]
    listed = [{"id": n, "location_index": n, **job} for n, job in enumerate(jobs, start=1)]
    return {"vehicles": fleet, "jobs": listed, "matrices": {"car": {"durations": LINE}}, **more}


def planned(body):
    return plan(read_vroom(body, Limits()))


def answered(body, *solutions):
    return answer(planned(body), solutions, (0, 0))


def refusal(body):
    with pytest.raises(BadInput) as caught:
        planned(body)
    return str(caught.value)


def test_the_documented_example():
    found = planned(DOCUMENTED)
    (instance,) = found.instances
    assert instance.problem == "atsp"
    # leaving node 0 is leaving place 0, entering it is entering place 3
    assert instance.travel.tolist() == [[0, 2104, 197], [3152, 0, 2255], [1102, 2256, 0]]
    # 0 -> 1414 -> 1515 -> end: 2104 + 2255 + 1102 = 5461, the cost that VROOM's documentation shows
    body = answer(found, [[[1, 2]]], (1, 2))
    assert body["code"] == 0 and body["unassigned"] == []
    assert {key: body["summary"][key] for key in ("cost", "routes", "unassigned", "duration", "waiting_time")} == {
        "cost": 5461,
        "routes": 1,
        "unassigned": 0,
        "duration": 5461,
        "waiting_time": 0,
    }
    (route,) = body["routes"]
    assert [(step["type"], step.get("id"), step["arrival"], step["duration"]) for step in route["steps"]] == [
        ("start", None, 0, 0),
        ("job", 1414, 2104, 2104),
        ("job", 1515, 4359, 4359),
        ("end", None, 5461, 5461),
    ]
    assert all(step["violations"] == [] and step["waiting_time"] == 0 for step in route["steps"])
    assert route["steps"][1]["location_index"] == 1
    # the other order, 197 + 2256 + 3152 = 5605, is worse; of several solutions the best is told
    assert answer(found, [[[2, 1]], [[1, 2]]], (1, 2))["summary"]["cost"] == 5461


def test_the_old_name_of_the_matrix():
    old = {**DOCUMENTED, "matrix": DURATIONS}
    del old["matrices"]
    assert planned(old).instances[0].travel.tolist() == planned(DOCUMENTED).instances[0].travel.tolist()


def test_capacity_becomes_cvrp_and_loads_go_down_with_deliveries():
    jobs = [{"delivery": [3]}, {"delivery": [4]}, {"delivery": [5]}, {"delivery": [6], "service": 7}]
    body = line({"capacity": [9]}, jobs, vehicles=3)
    (instance,) = planned(body).instances
    assert instance.problem == "cvrp" and instance.capacity == 9
    assert instance.demand.tolist() == [0, 3, 4, 5, 6]
    # routes 1-4 (loads 9, 6, 0; ways 10 + 30 + 40) and 2-3 (ways 20 + 10 + 30)
    first, second = answered(body, [[1, 4], [2, 3]])["routes"]
    assert [step["load"] for step in first["steps"]] == [[9], [6], [0], [0]]
    assert [step["arrival"] for step in first["steps"]] == [0, 10, 40, 87]  # 7 of service before going home
    assert (first["cost"], first["duration"], first["service"], first["delivery"], first["pickup"]) == (
        *(80, 80, 7),
        *([9], [0]),
    )
    assert (second["vehicle"], second["cost"], second["delivery"]) == (1, 60, [9])


def test_loads_go_up_with_pickups():
    jobs = [{"pickup": [3]}, {"pickup": [4]}, {"pickup": [5]}]
    (route,) = answered(line({"capacity": [12]}, jobs), [[1, 2, 3]])["routes"]
    assert [step["load"] for step in route["steps"]] == [[0], [3], [7], [12], [12]]


def test_a_capacity_that_is_never_reached_is_no_capacity():
    jobs = [{"delivery": [3]}, {"delivery": [4]}]
    assert planned(line({"capacity": [7]}, jobs, vehicles=3)).instances[0].problem == "tsp"


def test_what_no_vehicle_can_take_is_unassigned():
    jobs = [{"delivery": [3]}, {"delivery": [40]}, {"delivery": [5]}, {"delivery": [6], "description": "last"}]
    body = line({"capacity": [9]}, jobs, vehicles=1)
    found = planned(body)
    assert [job.id for job in found.jobs] == [1, 3, 4]  # 40 is above every capacity
    told = answer(found, [[[1, 3], [2]]], (0, 0))  # two routes, one vehicle: the one with more jobs is driven
    assert [step.get("id") for step in told["routes"][0]["steps"]] == [None, 1, 4, None]
    assert told["unassigned"] == [
        {"id": 2, "type": "job", "location_index": 2},
        {"id": 3, "type": "job", "location_index": 3},
    ]
    assert told["summary"]["unassigned"] == 2


def test_windows_become_a_tour_in_time_or_as_many_as_possible():
    jobs = [{"time_windows": [[100, 120]], "service": 5}, {"time_windows": [[0, 40]]}, {}]
    found = planned(line({"time_window": [10, 200]}, jobs))
    assert [instance.problem for instance in found.instances] == ["tsptw", "vrptw"]
    tour = found.instances[0]
    assert tour.window[0, 0] == 10
    assert tour.window[1:].tolist() == [[100, 120], [10, 40], [10, 170]]  # home from 3 takes 30, and hours end at 200
    assert tour.travel[1].tolist() == [15, 0, 15, 25]  # service at 1 makes all ways from there longer
    assert tour.travel[0].tolist() == [0, 10, 20, 30]
    # leaves at 10, 2 at 30, 3 at 40, 1 at 60: waits 40 until 100, home at 100 + 5 + 10 = 115.
    # Leaving 10 later, 2 is reached at its end, 40: the wait is 30.
    (route,) = answer(found, [[[2, 3, 1]]], (0, 0))["routes"]
    assert [(step["arrival"], step["waiting_time"]) for step in route["steps"]] == [
        (20, 0),
        (40, 0),
        (50, 0),
        (70, 30),
        (115, 0),
    ]
    assert (route["waiting_time"], route["duration"], route["service"]) == (30, 60, 5)


def test_late_jobs_are_unassigned_and_the_fullest_answer_wins():
    jobs = [{"time_windows": [[0, 15]]}, {"time_windows": [[0, 12]]}, {"time_windows": [[30, 35]]}]
    body = line({"time_window": [0, 1000]}, jobs)
    found = planned(body)
    # 2 is 20 away and closes at 12: after 1 at 10 it is passed by, and 3 is reached at 30
    assert not found.serves_all([[1, 2, 3]]) and not found.serves_all([[3]])
    told = answer(found, [[[3]], [[1, 2, 3]]], (0, 0))
    assert [step.get("id") for step in told["routes"][0]["steps"]] == [None, 1, 3, None]
    assert [job["id"] for job in told["unassigned"]] == [2]


def test_hours_too_short_for_a_job():
    # from 4 it is 40 back, and 35 are there: it is out; 3 would have to be left by 105, and is reached at 130
    found = planned(line({"time_window": [100, 135]}))
    assert [job.id for job in found.jobs] == [1, 2, 3]
    assert found.instances[0].window[3].tolist() == [100, 105] and not found.serves_all([[1, 2, 3]])
    told = answer(found, [[[1, 2, 3]]], (0, 0))  # 1 at 110; 2 at 120, but home only at 140
    assert [job["id"] for job in told["unassigned"]] == [2, 3, 4]
    assert told["routes"][0]["steps"][-1]["arrival"] == 120
    nothing = planned(line({"time_window": [100, 101]}))
    assert nothing.instances == () and nothing.jobs == ()
    told = answer(nothing, [], (0, 0))
    assert told["code"] == 0 and told["routes"] == [] and len(told["unassigned"]) == 4 and told["summary"]["cost"] == 0


def test_without_hours_the_vehicle_leaves_in_time_for_the_first_window():
    stamp = 1_700_000_000
    jobs = [{"time_windows": [[stamp, stamp + 5]]}, {"time_windows": [[stamp + 50, stamp + 60]]}]
    found = planned(line(None, jobs))
    assert stamp - 1000 < found.leaves < stamp
    (route,) = answer(found, [[[1, 2]]], (0, 0))["routes"]
    # the wait at 1 is gone; at 2, 10 further on, there is one of 40 less what 1's window leaves: 5
    assert [(step["arrival"] - stamp, step["waiting_time"]) for step in route["steps"]] == [
        (-5, 0),
        (5, 0),
        (15, 35),
        (70, 0),
    ]


def test_a_lone_job_and_routes_without_start_or_end():
    found = planned(line(None, [{"time_windows": [[50, 60]]}]))
    assert found.instances[0].size == 3
    assert found.serves_all([[2, 1]])  # 2 is its twin
    (route,) = answer(found, [[[2, 1]]], (0, 0))["routes"]
    assert [(step["type"], step["arrival"]) for step in route["steps"]] == [("start", 40), ("job", 50), ("end", 60)]
    body = line()
    del body["vehicles"][0]["end_index"]
    (instance,) = planned(body).instances
    assert instance.problem == "atsp" and instance.travel[:, 0].tolist() == [0, 0, 0, 0, 0]
    (route,) = answered(body, [[1, 2, 3, 4]])["routes"]
    assert [step["type"] for step in route["steps"]] == ["start", "job", "job", "job", "job"]
    assert route["duration"] == 40


def test_costs_and_distances_of_their_own():
    body = line()
    body["matrices"]["car"]["costs"] = [[2 * way for way in row] for row in LINE]
    body["matrices"]["car"]["distances"] = [[100 * way for way in row] for row in LINE]
    assert planned(body).instances[0].travel[0].tolist() == [0, 20, 40, 60, 80]
    (route,) = answered(body, [[1, 2, 3, 4]])["routes"]
    assert (route["cost"], route["duration"], route["distance"]) == (160, 80, 8000)
    assert [step["distance"] for step in route["steps"]] == [0, 1000, 2000, 3000, 4000, 8000]


def test_locations_need_a_speed_or_a_matrix():
    body = {
        "vehicles": [{"id": 1, "start": [2.35, 48.72], "end": [2.35, 48.72]}],
        "jobs": [{"id": 1, "location": [1.99, 48.70]}, {"id": 2, "location": [2.04, 48.61]}],
    }
    assert "no routing engine" in refusal(body)
    request = read_vroom(body, Limits(), speed=10.0)
    # 2.35 - 1.99 degrees of longitude at 48.71 north: 0.36 * 111195 * cos(48.71) = 26.4 km, in 10 m/s
    assert request.durations[0, 1] == pytest.approx(2650, abs=15)
    (instance,) = plan(request).instances
    assert instance.geographic and instance.problem == "tsp"
    told = answer(plan(request), [[[1, 2]]], (0, 0))
    assert told["routes"][0]["steps"][1]["location"] == (1.99, 48.70)
    assert isinstance(told["summary"]["cost"], int)


NOT_MODELLED = {
    "shipments": lambda b: b.update(shipments=[{"amount": [1], "pickup": {"id": 1}, "delivery": {"id": 2}}]),
    "options": lambda b: b.update(options={"g": True}),
    "jobs[1].skills": lambda b: b["jobs"][1].update(skills=[1]),
    "jobs[1].priority": lambda b: b["jobs"][1].update(priority=5),
    "jobs[1].setup": lambda b: b["jobs"][1].update(setup=60),
    "jobs[1].service_per_type": lambda b: b["jobs"][1].update(service_per_type={"bike": 1}),
    "vehicles[0].breaks": lambda b: b["vehicles"][0].update(breaks=[{"id": 1, "time_windows": [[0, 9]]}]),
    "vehicles[0].skills": lambda b: b["vehicles"][0].update(skills=[1, 14]),
    "vehicles[0].speed_factor": lambda b: b["vehicles"][0].update(speed_factor=1.5),
    "vehicles[0].max_tasks": lambda b: b["vehicles"][0].update(max_tasks=4),
    "vehicles[0].costs": lambda b: b["vehicles"][0].update(costs={"fixed": 100}),
    "vehicles[0].steps": lambda b: b["vehicles"][0].update(steps=[{"type": "start"}]),
}


@pytest.mark.parametrize("field", NOT_MODELLED)
def test_what_is_not_modelled_is_refused_by_name(field):
    body = line()
    NOT_MODELLED[field](body)
    assert refusal(body) == f"{field} is not modelled by this service; leave it out"


def test_what_says_nothing_is_no_reason_to_refuse():
    body = line({"skills": [], "breaks": [], "speed_factor": 1.0, "time_window": None, "costs": {}}, shipments=[])
    body["jobs"][0].update(skills=[], priority=0, setup=0, description=None)
    assert planned(body).instances[0].problem == "tsp"


WRONG = {
    "jobs is missing": lambda b: b.pop("jobs"),
    "vehicles is '[]'": lambda b: b.update(vehicles=[]),
    "jobs[2].skils is unknown (did you mean 'skills'?)": lambda b: b["jobs"][2].update(skils=[1]),
    "jobs[1].id is 1, which an earlier one has": lambda b: b["jobs"][1].update(id=1),
    "jobs[1].id is 'x'": lambda b: b["jobs"][1].update(id="x"),
    "jobs[1].location_index is 5; the matrix has rows 0 to 4": lambda b: b["jobs"][1].update(location_index=5),
    "jobs[1].location_index is missing": lambda b: b["jobs"][1].pop("location_index"),
    "jobs[1].service is '-1'": lambda b: b["jobs"][1].update(service=-1),
    "jobs[1].delivery is '[1, 2]'; a list of one number": lambda b: b["jobs"][1].update(delivery=[1, 2]),
    "jobs[1].delivery is given, but the vehicles have no capacity": lambda b: b["jobs"][1].update(delivery=[1]),
    "jobs[1].time_windows is": lambda b: b["jobs"][1].update(time_windows=[[0, 1], [5, 6]]),
    "jobs[1].time_windows[0] ends at 1, before": lambda b: b["jobs"][1].update(time_windows=[[5, 1]]),
    "vehicles[0] has neither start nor end": lambda b: [b["vehicles"][0].pop(k) for k in ("start_index", "end_index")],
    "matrices has no 'bike'": lambda b: b["vehicles"][0].update(profile="bike"),
    "matrices.car.durations[1][2] is 'x'": lambda b: b["matrices"]["car"]["durations"][1].__setitem__(2, "x"),
    "matrices.car.durations[1] has 6 entries": lambda b: b["matrices"]["car"]["durations"][1].append(0),
    "matrices.car.durations is missing": lambda b: b.update(matrices={"car": {"costs": LINE}}),
    "matrices is '5'": lambda b: b.update(matrices=5),
    "jobs is '5'": lambda b: b.update(jobs=5),
    "vehicles[0].capacity is '5'": lambda b: b["vehicles"][0].update(capacity=5),
}


@pytest.mark.parametrize("sentence", WRONG)
def test_wrong_requests(sentence):
    body = line()
    body["matrices"]["car"]["durations"] = [list(row) for row in LINE]
    WRONG[sentence](body)
    assert refusal(body).startswith(sentence)


def test_kinds_of_vehicles_times_of_fleets_and_mixed_amounts():
    two = line(vehicles=2)
    two["vehicles"][1]["capacity"] = [5]
    assert refusal(two).startswith("vehicles[1].capacity differs from that of vehicles[0]")
    fleet = line({"time_window": [0, 100]}, vehicles=2)
    assert refusal(fleet) == "vehicles[0].time_window: times are modelled for one vehicle, and there are 2"
    windows = line(None, [{"time_windows": [[0, 9]]}, {}], vehicles=2)
    assert refusal(windows).startswith("time_windows of jobs: times are modelled for one vehicle")
    full = line({"time_window": [0, 100], "capacity": [1]}, [{"delivery": [1]}, {"delivery": [1]}])
    assert "can carry everything" in refusal(full)
    mixed = line({"capacity": [9]}, [{"delivery": [1]}, {"pickup": [1]}])
    assert refusal(mixed).startswith("jobs[0] has a delivery and jobs[1] a pickup")
    costs = line({"time_window": [0, 100]})
    costs["matrices"]["car"]["costs"] = [[2 * way for way in row] for row in LINE]
    assert "matrices has other costs" in refusal(costs)


def test_too_many_jobs():
    with pytest.raises(Refusal, match=r"jobs has 4 entries; up to 3 are accepted here") as caught:
        read_vroom(line(), Limits(nodes=4))
    assert caught.value.status == 413
