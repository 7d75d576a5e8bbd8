"""Rounds of a search: the same solutions as `decode`, whatever is encoded together, kept or forgotten."""

import numpy as np
import pytest

from egam.decode import search as module
from egam.decode.effort import Effort, Round, as_given, rounds
from egam.decode.search import Search, check_memory, needed_gib
from egam.decode.strategies import Decoding, decode
from egam.errors import BadInput
from egam.instance import Instance
from egam.judge import judge
from egam.nn.egam import EGAM, Shape
from egam.problems import get_problem
from egam.problems.base import stack, unstack

SMALL = Shape(width=32, heads=4, hidden=64, encoder_layers=2)


def case(name, count=3, size=9):
    problem = get_problem(name)
    return EGAM(problem.spec, SMALL), problem, unstack(name, problem.generate(np.random.default_rng(2), count, size))


@pytest.mark.parametrize(("name", "text"), [("tsp", "8xstarts"), ("cvrp", "8xgreedy"), ("tsptw", "greedy")])
def test_greedy_rounds_find_what_decode_finds(name, text):
    network, problem, instances = case(name)
    found = Search(network, problem, instances).round(Decoding.parse(text))
    decoded = decode(network, problem, stack(instances), Decoding.parse(text), generated=False)
    for instance, sequences, cost in zip(instances, found, decoded.cost, strict=True):
        assert judge(instance, problem.to_solution(sequences[0].tolist())).cost == pytest.approx(cost, rel=1e-4)


@pytest.mark.parametrize("text", ["8x3", "sample:5", "8xdistinct:3", "8xstarts"])
def test_company_pieces_and_memory_change_nothing(text, monkeypatch):
    network, problem, instances = case("tsp")
    decoding = Decoding.parse(text)
    whole = Search(network, problem, instances, seed=3).round(decoding)
    alone = [Search(network, problem, [instance], seed=3).round(decoding)[0] for instance in instances]
    table = 9 * 9 * 32 * 4
    monkeypatch.setattr(module, "ENCODED_TOGETHER", 2 * table)  # 24 copies in 12 parts
    if not decoding.distinct:  # whose pieces are as large in any company
        monkeypatch.setattr(module, "STEP_BYTES", 1)  # one rollout after the other
    forgetful = Search(network, problem, instances, seed=3, memory_gib=8 * table / 2**30)  # keeps one part
    pieces = forgetful.round(decoding)
    assert len(forgetful.parts) == 1
    for a, b, c in zip(whole, alone, pieces, strict=True):
        best = [tuple(map(tuple, sequences[:1])) for sequences in (a, b, c)]
        assert best[0] == best[1] == best[2]


def test_samples_are_numbered():
    """Samples 0-7 and 8-15 in two rounds are samples 0-15 in one: numbers go over copies first."""
    network, problem, instances = case("cvrp", count=1)
    search = Search(network, problem, instances, seed=1)

    def costs(decoding, first):
        (sequences,) = search.round(decoding, first)
        return [judge(instances[0], problem.to_solution(sequence.tolist())).cost for sequence in sequences]

    together = costs(Decoding(8, samples=2), 0)
    apart = costs(Decoding(8, samples=1), 0) + costs(Decoding(8, samples=1), 8)
    assert sorted(apart)[:2] == pytest.approx(together[:2])
    assert costs(Decoding(8, samples=1), 0) != costs(Decoding(8, samples=1), 8)


def test_all_starts_need_a_free_start():
    network, problem, instances = case("cvrp")
    with pytest.raises(BadInput, match="cvrp begins at node 0"):
        Search(network, problem, instances).round(Decoding(all_starts=True))


def test_what_does_not_fit_is_refused_with_what_would():
    network = EGAM(get_problem("tsp").spec, Shape(encoder_layers=1))
    large = Instance.tsp(np.random.default_rng(0).random((2000, 2)), name="large")
    check_memory(network, large, 6.0)
    # 2000² edges of 4 x 128 bytes are 1.9 GiB, and something comes on top
    assert 1.9 < needed_gib(network, 2000) < 3
    with pytest.raises(BadInput, match=r"large: 2000 nodes need about 2\.\d GiB, the limit is 1, which \d{3,4} nodes"):
        check_memory(network, large, 1.0)


def listed(effort, samples=None, endless=False, most=20):
    return [round_ for round_, _ in zip(rounds(effort, samples, endless), range(most), strict=False)]


def test_effort_by_size():
    """400 rollouts of 100 nodes: at N=100, 400; at 20, 25 times as many; at 1,000, 4. A copy's encoding takes 20."""
    assert (Effort(20, True).starts, Effort(20, True).copies, Effort(20, True).samples) == (20, 4, 128)
    # N=100: 20 + 100 starts per copy; 3 copies take 360 of 400
    assert (Effort(100, True).starts, Effort(100, True).copies, Effort(100, True).samples) == (100, 3, 40)
    # without a free start: 20 + 1 per copy, 8 copies take 168 and leave 232
    assert (Effort(100, False).starts, Effort(100, False).copies, Effort(100, False).samples) == (1, 8, 128)
    assert (Effort(1000, True).starts, Effort(1000, True).copies, Effort(1000, True).samples) == (1, 1, 0)


def test_rounds():
    small, large = Effort(20, False), Effort(1000, False)

    def different(number, copies, first=0):
        return Round(Decoding(samples=number, distinct=True), copies, first)

    assert listed(small, samples=0) == listed(small, samples=1) == [Round(Decoding(), (0,))]
    every = tuple(range(8))
    assert listed(small) == [Round(Decoding(), every), different(16, every)]  # 8 x 16 = 128
    assert listed(small, samples=1026)[-1] == different(1, every, first=1024)  # rounded up to 1032
    four = tuple(range(4))
    assert listed(Effort(20, True)) == [Round(Decoding(all_starts=True), four), different(32, four)]
    assert listed(Effort(20, True), endless=True)[1].copies == every
    assert listed(large) == [Round(Decoding(), (0,))]
    endless = listed(large, endless=True, most=14)
    assert [round_.copies for round_ in endless[:8]] == [(copy,) for copy in range(8)]
    assert [round_.copies for round_ in endless[8:]] == [(0,)] * 4 + [(1,)] * 2
    firsts = [round_.first for round_ in endless[8:]]
    assert len(set(firsts)) == len(firsts)


def test_a_given_decoding_is_done_once_unless_it_can_go_on():
    assert list(as_given(Decoding(8), endless=True)) == [Round(Decoding(8), tuple(range(8)))]
    going_on = as_given(Decoding(8, samples=3), endless=True)
    assert [next(going_on).first for _ in range(3)] == [0, 24, 48]
