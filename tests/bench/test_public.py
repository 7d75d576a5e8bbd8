"""Check values of the public sets; those of TSPTW come from PIP's files, the others are recorded from Kool's recipe."""

import numpy as np
import pytest

from egam.bench.public import public_set
from egam.errors import BadInput


@pytest.mark.parametrize(
    ("variant", "ends"), [("medium", [5500, 2690, 1684, 3206, 1213]), ("easy", [5500, 3950, 3171, 4684, 2361])]
)
def test_tsptw_50(variant, ends):
    arrays = public_set("tsptw", variant, 50, count=5)
    assert arrays["coords"].shape == (5, 50, 2) and arrays["window"].shape == (5, 50, 2)
    assert arrays["coords"][0, 0] == pytest.approx([13.54881637, 88.78517027], abs=1e-8)
    assert arrays["window"][0, :5, 0].tolist() == [0, 2308, 1151, 2679, 906]
    assert arrays["window"][0, :5, 1].tolist() == ends


def test_earliest_deadline_first_fails_as_often_as_published():
    # PIP's table, TSPTW-50 medium: Greedy-C 47.52 % infeasible, mean length 25.33 of the feasible tours
    arrays = public_set("tsptw", "medium", 50)
    order = 1 + arrays["window"][:, 1:, 1].argsort(1, kind="stable")
    window = np.take_along_axis(arrays["window"], order[..., None], 1)
    stops = np.concatenate([arrays["coords"][:, :1], np.take_along_axis(arrays["coords"], order[..., None], 1)], 1)
    legs = np.linalg.norm(np.diff(stops, axis=1, append=stops[:, :1]), axis=-1)
    time, late = np.zeros(len(order)), np.zeros(len(order), bool)
    for k in range(order.shape[1]):
        time = np.maximum(time + legs[:, k], window[:, k, 0])
        late |= time > window[:, k, 1] + 1e-3
    assert late.mean() == pytest.approx(0.4752, abs=5e-5)
    assert legs.sum(1)[~late].mean() / 100 == pytest.approx(25.33, abs=0.015)


def test_tsp_50():
    coords = public_set("tsp", "", 50)["coords"]
    assert coords.shape == (10_000, 50, 2)
    assert coords[0, 0, 0] == 0.1915194503788923
    assert coords[0, :2].ravel() == pytest.approx([0.19151945, 0.62210877, 0.43772774, 0.78535858], abs=1e-8)
    assert coords.mean() == pytest.approx(0.49987984247154266, abs=1e-12)


def test_cvrp_50():
    arrays = public_set("cvrp", "", 50)
    assert arrays["coords"].shape == (10_000, 51, 2) and arrays["demand"].shape == (10_000, 51)
    assert arrays["coords"][0, 0] == pytest.approx([0.19151945, 0.62210877], abs=1e-8)
    assert arrays["coords"][0, 1] == pytest.approx([0.55426939, 0.18097824], abs=1e-8)
    assert arrays["demand"][0, :6].tolist() == [0, 9, 2, 7, 5, 7]
    assert arrays["demand"].mean() == pytest.approx(4.902311764705883, abs=1e-12)
    assert (arrays["capacity"] == 40).all()


def test_pctsp_50():
    arrays = public_set("pctsp", "", 50)
    assert arrays["coords"][0, 1] == pytest.approx([0.55426939, 0.18097824], abs=1e-8)
    assert arrays["prize"][0, :4] == pytest.approx([0, 0.00886872, 0.07582899, 0.0644998], abs=1e-8)
    assert arrays["penalty"][0, :4] == pytest.approx([0, 0.00891547, 0.08699487, 0.08013573], abs=1e-8)
    assert arrays["prize"].mean() == pytest.approx(0.039215740631637706, abs=1e-12)
    assert arrays["penalty"].mean() == pytest.approx(0.08822793046638883, abs=1e-12)


def test_a_part_is_the_beginning_of_the_whole():
    assert (public_set("cvrp", "", 20, count=3)["demand"] == public_set("cvrp", "", 20)["demand"][:3]).all()
    validation = public_set("tsp", "", 20, count=3, seed=4321)["coords"]
    assert (validation == np.random.RandomState(4321).uniform(size=(10_000, 20, 2))[:3]).all()


@pytest.mark.parametrize(("name", "variant"), [("tsptw", "hard"), ("tspdl", "medium"), ("vrptw", ""), ("tsp", "easy")])
def test_sets_that_do_not_regenerate(name, variant):
    with pytest.raises(BadInput, match="accepted: tsp, cvrp, pctsp, tsptw easy, tsptw medium"):
        public_set(name, variant, 50)


def test_too_many_instances():
    with pytest.raises(BadInput, match="1 to 10000"):
        public_set("tsp", "", 50, count=10_001)
