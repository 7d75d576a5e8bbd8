"""The gradient's noise scale."""

import itertools

import pytest
import torch

from egam.bench import noise
from egam.nn.egam import EGAM, Shape
from egam.problems import get_problem
from egam.train.reinforce import Extras
from egam.weights import save_model


def test_the_ratio_of_known_signal_and_noise():
    generator = torch.Generator().manual_seed(3)
    signal = torch.zeros(400, dtype=torch.float64)
    signal[0] = 5.0
    drawn = signal + torch.randn(300, 400, generator=generator, dtype=torch.float64)  # |G|² = 25, noise 400
    ratio, error = noise.signal_to_noise(drawn @ drawn.T)
    assert abs(ratio - 25 / 400) < 3 * error and 0 < error < 0.2 * ratio


def test_the_error_is_that_of_leaving_one_out():
    drawn = torch.randn(7, 30, generator=torch.Generator().manual_seed(5), dtype=torch.float64) + 0.4
    products = drawn @ drawn.T
    others = [[k for k in range(7) if k != left] for left in range(7)]
    without = torch.tensor([noise.signal_to_noise(products[keep][:, keep])[0] for keep in others])
    expected = (6 / 7 * (without - without.mean()).pow(2).sum()).sqrt()
    assert noise.signal_to_noise(products)[1] == pytest.approx(float(expected))


def test_batches_are_the_same_again_and_differ_from_each_other():
    problem = get_problem("pctsp")
    network = EGAM(problem.spec, Shape(16, 2, 32, 1))

    def first_two():
        return torch.stack(list(itertools.islice(noise.gradients(network, problem, 6, 3, 4, Extras()), 2)))

    one, two = first_two()
    assert torch.equal(first_two(), torch.stack([one, two]))
    assert float(torch.nn.functional.cosine_similarity(one, two, dim=0)) < 0.99


def test_the_table_has_a_row_for_each_number_of_samples(tmp_path, capsys):
    problem = get_problem("tsp")
    save_model(tmp_path, EGAM(problem.spec, Shape(16, 2, 32, 1)), problem, {"size": "6"})
    asked = [str(tmp_path), "--size", "6", "--batch", "2", "--batches", "4", "--samples", "4", "2", "--standardize"]
    threads = torch.get_num_threads()
    try:
        assert noise.main(asked) == 0
    finally:
        torch.set_num_threads(threads)
    rows = [row.split(" | ") for row in capsys.readouterr().out.splitlines()[2:]]
    assert [row[3] for row in rows] == ["4", "2"] and all(" ± " in row[4] for row in rows)


@pytest.mark.parametrize(
    ("asked", "told"),
    [(["--samples", "1"], "--samples is 1; 2 or more"), (["--batches", "2"], "--batches is 2; 3 or more")],
)
def test_too_few_are_refused(asked, told, capsys):
    assert noise.main(["tsp-small", *asked]) == 2
    assert told in capsys.readouterr().err
