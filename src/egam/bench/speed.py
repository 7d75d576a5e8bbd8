"""How fast the fast forms are: `python -m egam.bench.speed` prints ratios measured in one run, best and median.

    encoder      forward without gradients, fast against textbook, and its share of the machine's matrix-multiply peak
    training     one step, fast against textbook attention with step-by-step log-probabilities; instances per second of
                 one process with a thread per core, and of `egam train` with a process per core
    memory       peak of a process that makes fast training steps
Times are noisy on shared machines: every figure is a ratio to something measured beside it. Run it on quiet cores.
`ratio` compares both forms in this process, which keeps freed memory (machine.py); `ratio_plain` compares with the
textbook form in a process of its own that does not, as a plain program would run it. The textbook form is plain
PyTorch; `--plain-products` has the fast form multiply by PyTorch's own library too, which tells what the algebra gains
from what the library does (nn/linear.py).
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

import egam.nn.linear
from egam.decode import draws
from egam.decode.rollout import choose
from egam.machine import cores, keep_pages
from egam.nn.decoder import View
from egam.nn.egam import EGAM, Shape
from egam.nn.linear import linear
from egam.problems import get_problem
from egam.train.reinforce import Draw, advantages, distinct_starts, reinforce_step, symmetric_copies
from egam.train.trainer import edge_micro_batch

TEXTBOOK_PART = 8  # instances per backward pass of the textbook step, which would not fit into memory otherwise


@dataclass
class Timing:
    """Seconds of one thing, several times."""

    seconds: list[float]

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def median(self) -> float:
        return sorted(self.seconds)[len(self.seconds) // 2]


def timed(action: Callable[[], Any], repetitions: int) -> Timing:
    action()
    seconds = []
    for _ in range(repetitions):
        began = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - began)
    return Timing(seconds)


def matmul_peak(repetitions: int = 9, size: int = 2048) -> Timing:
    """PyTorch's own product."""
    left, right = torch.rand(size, size), torch.rand(size, size)
    return timed(lambda: left @ right, repetitions)


def faster_peak(repetitions: int = 9, size: int = 2048) -> Timing:
    """The product by the library that nn/linear.py takes on this machine."""
    left, right = torch.rand(size, size), torch.rand(size, size)
    with torch.inference_mode():
        return timed(lambda: linear(left, right), repetitions)


def useful_flops(nodes: int, shape: Shape) -> float:
    """Arithmetic of the fast encoder on the edges of one undirected instance: the feed-forward on the triangle and the
    folded products. What belongs to nodes is left out, so that its time counts against the share of peak."""
    triangle, edges, width = nodes * (nodes + 1) / 2, nodes * nodes, shape.width
    feed_forward = 2 * 2 * width * shape.hidden * triangle
    folded = 2 * 4 * shape.heads * width * edges  # scores and payloads of edge-node, scores and mixture of node-edge
    return shape.encoder_layers * (feed_forward + folded)


def encoder_speed(nodes: int, instances: int, repetitions: int, textbook: bool) -> dict[str, Any]:
    problem = get_problem("tsp")
    network = EGAM(problem.spec).eval()
    features = problem.features(problem.to_batch(problem.generate(np.random.default_rng(1), instances, nodes)))
    with torch.inference_mode():
        peak = matmul_peak()
        fast = timed(lambda: network.encode(features), repetitions)
        slow = encoder_textbook(nodes, instances, max(3, repetitions // 3)) if textbook else None
        peak = Timing(peak.seconds + matmul_peak().seconds)  # before and after
        faster = faster_peak()
    flops = useful_flops(nodes, network.shape) * instances
    row = {
        "nodes": nodes,
        "fast_ms": [1e3 * fast.best / instances, 1e3 * fast.median / instances],
        "gflops": _rates(flops, fast),
        "peak_gflops": _rates(2 * 2048**3, peak),
        "share_of_peak": _shares(flops, fast, peak),
        "faster_peak_gflops": _rates(2 * 2048**3, faster),
        "share_of_faster_peak": _shares(flops, fast, faster),
    }
    if slow:
        row["textbook_ms"] = [1e3 * slow.best / instances, 1e3 * slow.median / instances]
        row["ratio"] = [slow.best / fast.best, slow.median / fast.median]
        plain = _plain(f"encoder_textbook({nodes}, {instances}, 3)")
        row["ratio_plain"] = [plain.best / fast.best, plain.median / fast.median]
    return row


def _rates(flops: float, timing: Timing) -> list[float]:
    return [flops / timing.best / 1e9, flops / timing.median / 1e9]


def _shares(flops: float, timing: Timing, peak: Timing) -> list[float]:
    """The rate of `flops` in `timing` as a share of the rate of a 2048³ product, best and median."""
    return [a / b for a, b in zip(_rates(flops, timing), _rates(2 * 2048**3, peak), strict=True)]


def encoder_textbook(nodes: int, instances: int, repetitions: int) -> Timing:
    problem = get_problem("tsp")
    network = EGAM(problem.spec).eval()
    features = problem.features(problem.to_batch(problem.generate(np.random.default_rng(1), instances, nodes)))
    with torch.inference_mode():
        return timed(lambda: network.encode(features, textbook=True), repetitions)


def _plain(call: str) -> Timing:
    """The timing that `call` returns in a fresh process with the C library's own ways of freeing memory."""
    code = f"from egam.bench.speed import *; print(json.dumps({call}.seconds))"
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    return Timing(json.loads(output))


def textbook_step(network: EGAM, problem: Any, batch: Any, draw: Draw, n: int) -> None:
    """The same gradient as `reinforce_step` with m = 1, the plain way: log-probabilities kept while sampling."""
    for at in range(0, len(batch.travel), TEXTBOOK_PART):
        part = type(batch)(**{name: value[at : at + TEXTBOOK_PART] for name, value in vars(batch).items()})
        numbers = draw.instances(len(batch.travel), batch.travel.device)[at : at + TEXTBOOK_PART]
        part = symmetric_copies(part, 1, draw.seed, numbers)
        keys = draws.keys(draw.seed, numbers, torch.arange(n))
        encoded = network.encode(problem.features(part), textbook=True)
        state = problem.start(part, distinct_starts(problem, part.travel.shape[1], keys))
        likelihood: Tensor | float = 0.0
        step = 0
        while not bool(state.done.all()):
            allowed = problem.allowed(part, state)
            view = View(state.current, state.first, problem.context(part, state), allowed)
            logits = network.decoder.textbook(encoded, view)
            action = choose(logits.detach(), draws.uniforms(keys, step))
            likelihood = likelihood + logits.log_softmax(-1).gather(-1, action[..., None]).squeeze(-1)
            state = problem.step(part, state, action)
            step += 1
        weight = advantages(problem.cost(part, state) + problem.penalty(part, state), 1) / (len(batch.travel) * n)
        (weight * likelihood).sum().backward()  # type: ignore[union-attr]


def training_speed(nodes: int, instances: int, n: int, repetitions: int, textbook: bool) -> dict[str, Any]:
    problem = get_problem("tsp")
    network = EGAM(problem.spec)
    batch = problem.to_batch(problem.generate(np.random.default_rng(1), instances, nodes))
    micro = edge_micro_batch(nodes, False)

    def fast_step() -> None:
        network.zero_grad()
        reinforce_step(network, problem, batch, Draw(1, 0), 1, n, micro)

    fast = timed(fast_step, repetitions)
    row: dict[str, Any] = {
        "nodes": nodes,
        "batch": f"{instances} x {n}",
        "instances_per_second": [instances / fast.best, instances / fast.median],
    }
    if textbook:
        slow = textbook_training(nodes, instances, n, 2)
        row["textbook_seconds"], row["fast_seconds"] = [slow.best, slow.median], [fast.best, fast.median]
        row["ratio"] = [slow.best / fast.best, slow.median / fast.median]
        plain = _plain(f"textbook_training({nodes}, {instances}, {n}, 1)")
        row["ratio_plain"] = [plain.best / fast.best, plain.median / fast.median]
    return row


def textbook_training(nodes: int, instances: int, n: int, repetitions: int) -> Timing:
    problem = get_problem("tsp")
    network = EGAM(problem.spec)
    batch = problem.to_batch(problem.generate(np.random.default_rng(1), instances, nodes))

    def step() -> None:
        network.zero_grad()
        textbook_step(network, problem, batch, Draw(1, 0), n)

    return timed(step, repetitions)


def training_by_processes(nodes: int, instances: int, n: int, reports: int) -> dict[str, Any]:
    """`egam train --processes`, one per core, as anyone runs it: with Adam, metrics and all. Five steps a report."""
    settings = {"batch": instances, "n": n, "report_every": 5, "validation_count": 1, "validate_every": 10**6}
    command = [sys.executable, "-m", "egam", "train", "tsp", "--size", str(nodes), "--steps", str(5 * (reports + 1))]
    command += ["--processes", str(cores()), "--quiet"]
    command += [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*command, "--out", f"{folder}/run"], check=True, capture_output=True)
        with open(f"{folder}/run/metrics.csv") as file:
            rates = [float(row["instances_per_second"]) for row in csv.DictReader(file)][1:]  # the first warms up
    best, median = max(rates), sorted(rates)[len(rates) // 2]
    return {
        "nodes": nodes,
        "batch": f"{instances} x {n}",
        "processes": cores(),
        "instances_per_second": [best, median],
    }


def peak_memory_gib(nodes: int, instances: int, n: int) -> float:
    """Of a fresh process that makes two training steps."""
    code = (
        "import torch, resource; from egam.machine import keep_pages; keep_pages();"
        f"from egam.bench.speed import training_speed; training_speed({nodes}, {instances}, {n}, 2, False);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    return int(output) / 2**20 * (1 if sys.platform != "darwin" else 1 / 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, no textbook training step")
    parser.add_argument("--default-malloc", action="store_true", help="do not ask the C library to keep freed pages")
    parser.add_argument("--plain-products", action="store_true", help="all products by PyTorch's own library")
    arguments = parser.parse_args()
    if arguments.plain_products:
        egam.nn.linear.BY_ONEDNN = False
    kept = False if arguments.default_malloc else keep_pages()
    about = {"torch": torch.__version__, "threads": torch.get_num_threads(), "pages_kept": kept}
    print(json.dumps(about | {"onednn": egam.nn.linear.BY_ONEDNN}), flush=True)
    few = arguments.quick
    rows: list[Callable[[], dict[str, Any]]] = [
        lambda: {"encoder": encoder_speed(20, 64, 5 if few else 15, True)},
        lambda: {"encoder": encoder_speed(50, 16, 5 if few else 15, True)},
        lambda: {"encoder": encoder_speed(100, 4, 5 if few else 15, not few)},
        lambda: {"training": training_speed(20, 32, 20, 3 if few else 10, not few)},
        lambda: {"training": training_speed(50, 32, 20, 2 if few else 5, not few)},
    ]
    in_processes_of_their_own: list[Callable[[], dict[str, Any]]] = [
        lambda: {"training": training_by_processes(20, 32, 20, 4 if few else 12)},
        lambda: {"training": training_by_processes(50, 32, 20, 2 if few else 6)},
        lambda: {"training": {"nodes": 50, "batch": "32 x 20", "peak_memory_gib": peak_memory_gib(50, 32, 20)}},
    ]
    for row in rows if arguments.plain_products else rows + in_processes_of_their_own:
        print(json.dumps(_rounded(row())), flush=True)
    print(json.dumps({"own_peak_memory_gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20}))


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list) else value


if __name__ == "__main__":
    main()
