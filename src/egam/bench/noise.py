"""How noisy the gradient of weights is: of how many instances it must be made for signal and noise to be alike.

    python -m egam.bench.noise WEIGHTS --size 20 --samples 20 8 [--standardize] [--entropy 0.1]

Gradients g of many batches of fresh instances, without a step between them, agree in a part G and differ in the rest:
the signal is |G|² = E[g·g'] of two batches, the noise E|g|² - |G|². Their ratio grows with the size of the batch; the
number of instances at which it is 1 is the gradient's noise scale (McCandlish and others, 2018). Ratios per second of
CPU time compare ways to spend a budget: more samples of each instance, or more instances. The gradient of weights that
were trained to the end of a schedule is small by that very training, so that the ratios of one set of weights compare.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from egam.bench.program import program
from egam.errors import BadInput
from egam.machine import keep_pages
from egam.nn import Model
from egam.problems.base import Problem
from egam.train.reinforce import Draw, Extras, reinforce_step
from egam.train.trainer import edge_micro_batch
from egam.weights import load_model

SEED = 92  # test sets and the search for temperatures have others


def gradients(
    network: Model, problem: Problem, size: int, batch: int, samples: int, extras: Extras
) -> Iterator[Float[Tensor, " P"]]:
    """The gradients of endless batches, each as one vector."""
    network.train()
    step = 0
    while True:
        draw = Draw(SEED, step)
        for parameter in network.parameters():
            parameter.grad = None
        instances = problem.to_batch(draw.arrays(problem, batch, (size, size)))
        micro_batch = edge_micro_batch(size, problem.spec.directed)
        reinforce_step(network, problem, instances, draw, 1, samples, micro_batch, extras)
        yield torch.cat([p.grad.flatten() for p in network.parameters() if p.grad is not None])
        step += 1


def signal_to_noise(products: Float[Tensor, "K K"]) -> tuple[float, float]:
    """From the scalar products of K gradients: the ratio in one batch, and its standard error by the jackknife."""
    count, lengths = len(products), products.diagonal()
    together = products.sum() - lengths.sum()

    def ratio(pairs: Tensor, squares: Tensor, of: int) -> Tensor:
        signal = pairs / (of * (of - 1))
        return signal / (squares / of - signal)

    without = ratio(together - 2 * (products.sum(1) - lengths), lengths.sum() - lengths, count - 1)  # [K]
    error = math.sqrt((count - 1) / count * float((without - without.mean()).pow(2).sum()))
    return float(ratio(together, lengths.sum(), count)), error


@program
def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser("python -m egam.bench.noise", description=str(__doc__).split("\n")[0])
    parser.add_argument("weights", help="a shipped name or a folder")
    parser.add_argument("--size", type=int, default=20, help="N of the instances")
    parser.add_argument("--batch", type=int, default=16, help="instances of a gradient")
    parser.add_argument("--batches", type=int, default=200, help="gradients that are compared")
    parser.add_argument("--samples", type=int, nargs="+", default=[20], help="of each instance; several are compared")
    parser.add_argument("--standardize", action="store_true", help="as the key of training")
    parser.add_argument("--entropy", type=float, default=0.0, help="as the key of training")
    chosen = parser.parse_args(arguments)
    for name, least in (("batches", 3), ("batch", 1)):
        if getattr(chosen, name) < least:
            raise BadInput(f"--{name} is {getattr(chosen, name)}; {least} or more is accepted")
    if min(chosen.samples) < 2:
        raise BadInput(f"--samples is {min(chosen.samples)}; 2 or more is accepted")
    keep_pages()
    torch.set_num_threads(1)
    network, problem, _ = load_model(chosen.weights)
    extras = Extras(standardize=chosen.standardize, entropy=chosen.entropy)
    print("| weights | N | batch | samples | signal : noise of a batch | noise scale | CPU ms | ratio per CPU s |")
    print("|---|---|---|---|---|---|---|---|")
    for samples in chosen.samples:
        began = time.process_time()
        source = gradients(network, problem, chosen.size, chosen.batch, samples, extras)
        taken = torch.stack([next(source) for _ in range(chosen.batches)])
        seconds = (time.process_time() - began) / chosen.batches
        taken = taken.double() if taken.numel() < 1 << 24 else taken
        ratio, error = signal_to_noise((taken @ taken.T).double())
        scale = f"{chosen.batch / ratio:,.0f} instances" if ratio > error else "not told from none"
        print(
            f"| `{chosen.weights}` | {chosen.size} | {chosen.batch} | {samples} | {ratio:.4f} ± {error:.4f} | {scale} "
            f"| {1000 * seconds:.0f} | {ratio / seconds:.4f} |",
            flush=True,
        )


if __name__ == "__main__":
    sys.exit(main())
