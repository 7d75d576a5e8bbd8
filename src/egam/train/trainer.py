"""A training run from first step to last: schedule, validation, checkpoints, signals, several processes.

A step is `reinforce_step` (reinforce.py), or `imitation_step` where there are lessons, and one update by Adam or Muon.
All randomness follows from (seed, step), so that a checkpoint needs weights, moments, the step number and what a
baseline remembers, in one file that is replaced atomically: a run of a given number of steps that is killed and resumed
equals one that was not, bit for bit. (With a wall-clock budget the learning rate follows the clock instead.)
"""

from __future__ import annotations

import copy
import json
import math
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, distributed

from egam.decode.strategies import Decoding, decode
from egam.errors import BadInput, EgamError
from egam.files import write_text
from egam.methods import get_method
from egam.nn import NETWORKS
from egam.nn.egam import EGAM, Shape
from egam.nn.encoder import chunk_size
from egam.nn.grown import grown_state
from egam.problems import get_problem
from egam.problems.base import Arrays, map_tensors
from egam.train import processes
from egam.train.baselines import make_baseline
from egam.train.config import TrainConfig, changed, read_config
from egam.train.imitation import draw_orders, imitation_step, variety
from egam.train.invariance import Invariance
from egam.train.lessons import read_lessons
from egam.train.log import MetricsLog
from egam.train.optimizers import make_optimizers
from egam.train.reinforce import Draw, Extras, StepReport, reinforce_step
from egam.weights import load_model, load_state, read_tensors, save_model, write_tensors

VALIDATION_SEED = 4321
MICRO_CHUNKS = 4  # encoder chunks per micro-batch: gradients stay near the cache, and the decoder gets enough rows
GLIMPSE_BYTES = 128 << 20  # attention weights of a micro-batch's decisions, in networks without edges
DIVERGED = 2.0  # times the objective of the first step of that size, in the mean over the last steps
RECENT = 0.05  # weight of the newest step in that mean: one batch of unlucky instances is no divergence
UNSETTLED = 100  # steps in which costs may still be anything


def edge_micro_batch(nodes: int, directed: bool) -> int:
    """Instances whose edges fit a core's cache well enough to be encoded and scored together."""
    return MICRO_CHUNKS * chunk_size(nodes * nodes if directed else nodes * (nodes + 1) // 2)


class Trainer:
    """One run in one folder: config.toml, metrics.csv, model.safetensors + config.json, state.safetensors."""

    def __init__(self, config: TrainConfig, folder: str | Path, say: Callable[[str], Any] = print):
        self.config, self.folder, self.say = config.checked(), Path(folder), say
        self.problem = get_problem(config.problem, config.variant, config.mask, config.beta, config.hint)
        if config.batch % processes.count():
            raise BadInput(f"batch {config.batch} is not a multiple of the {processes.count()} processes")
        self.rank, self.world = processes.join(config.device)
        self.device = _device(config.device)
        torch.manual_seed(config.seed)
        shape = Shape(
            config.width,
            config.heads,
            config.hidden,
            config.encoder_layers,
            config.decoder_layers,
            config.norm,
            config.clip,
        )
        self.network = NETWORKS[get_method(config.method).network](self.problem.spec, shape).to(self.device)
        self.averaged = copy.deepcopy(self.network) if config.ema else self.network  # what is validated and saved
        self.baseline = make_baseline(config, self.network, self.problem)
        self.invariance = Invariance(config.width, config.invariance).to(self.device) if config.invariance else None
        self.lessons = read_lessons(Path(config.lessons), self.problem, config.sizes) if config.lessons else None
        if config.compile:
            self.network.encoder.compile()
        trained = [self.network, *([self.invariance] if self.invariance else ())]
        self.parameters = [parameter for module in trained for parameter in module.parameters()]
        self.optimizers = make_optimizers(config, trained)
        self.step, self.seconds, self.rate = 0, 0.0, config.lr
        self.first: dict[str, float] = {}  # size -> objective of the first step of that size
        self.drift = 0.0  # mean logarithm of the objective as a multiple of that
        self.after: dict[str, Any] = {}  # how the initial weights were trained
        self._signal = 0  # caught here
        self._stop = 0  # the one at which all processes end

    # ---- starting -----------------------------------------------------------------------------------------------

    @classmethod
    def fresh(
        cls, config: TrainConfig, folder: str | Path, init: str = "", say: Callable[[str], Any] = print
    ) -> Trainer:
        """A new run in a new folder, from random weights or from another run's (`init`)."""
        folder, first = Path(folder), os.environ.get("RANK", "0") == "0"  # one process keeps the folder
        if first and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise BadInput(f"{folder}: exists already; name a new folder, or continue that run with --resume")
        trainer = cls(config, folder, say)
        trainer.problem.generate(np.random.default_rng(0), 1, config.sizes[0])  # explains a size that cannot be
        if init:
            other, problem, about = load_model(init)
            trainer.after = about.get("trained", {})
            if problem.name != config.problem:
                say(f"note: initial weights were trained on {problem.name}, this run is on {config.problem}")
            if (other.name, other.shape) != (trainer.network.name, trainer.network.shape):
                ours = f"{trainer.network.name} {trainer.network.shape}"
                raise BadInput(f"{init}: has {other.name} {other.shape}; this run's network is {ours}")
            state = grown_state(other, trainer.problem.spec)
            load_state(trainer.network, state, init)
            load_state(trainer.averaged, state, init)
            trainer.baseline = make_baseline(config, trainer.network, trainer.problem)
        if not first:
            return trainer
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"{folder}: cannot be created: {error.strerror}") from None
        trainer._write_config()
        if init:
            trainer.save()  # a run that is killed early must not go on from random weights
        return trainer

    @classmethod
    def resumed(
        cls, folder: str | Path, overrides: dict[str, Any] | None = None, say: Callable[[str], Any] = print
    ) -> Trainer:
        """The run of a folder, from its last checkpoint; `overrides` may lengthen it."""
        folder = Path(folder)
        if not (folder / "config.toml").exists():
            raise BadInput(f"{folder}: holds no config.toml; the folder of an earlier `egam train` is expected")
        trainer = cls(changed(read_config(folder / "config.toml"), overrides or {}, "resume"), folder, say)
        if overrides:
            trainer._write_config()
        if (folder / "state.safetensors").exists():
            trainer._load_state()
        return trainer

    # ---- running ------------------------------------------------------------------------------------------------

    def train(self, on_step: Callable[[Trainer], Any] = lambda trainer: None) -> int:
        """Run to the end, or to a signal; returns the signal's number, or 0. `on_step` is called after every step."""
        log = MetricsLog(self.folder, self.step, self.say) if self.rank == 0 else None
        validation = self._validation_set()
        began, earlier = time.perf_counter(), self.seconds
        window: list[tuple[StepReport, float]] = []
        window_began = time.perf_counter()
        with self._signals():
            while self.progress < 1 and not self._stop:
                report, norm = self._one_step()
                self.step += 1
                self.seconds = earlier + time.perf_counter() - began
                report = self._agree(report)
                window.append((report, norm))
                self._check(report, norm)
                if self.step % self.config.epoch == 0 and (news := self.baseline.end_epoch(self.network)):
                    self.say(news)
                last = self.progress >= 1 or self._stop > 0
                validates = self.step % self.config.validate_every == 0 or last
                if self.step % self.config.report_every == 0 or validates:
                    row = self._row(window, time.perf_counter() - window_began)
                    if validates:
                        row |= self._validate(validation)
                    if log:
                        log.write(row)
                    window, window_began = [], time.perf_counter()
                if self.step % self.config.checkpoint_every == 0 or last:
                    self.save()
                on_step(self)
        if self.world > 1:
            distributed.barrier()  # the first process may still be writing
        return self._stop

    @property
    def progress(self) -> float:
        """The share of the run that is over."""
        if self.config.steps:
            return self.step / self.config.steps
        return self.seconds / (60 * self.config.minutes)

    def _one_step(self) -> tuple[StepReport, float]:
        self.network.train()
        for parameter in self.parameters:
            parameter.grad = None
        draw = Draw(self.config.seed, self.step, self.rank, self.world)
        rate = self.config.lr_at(self.progress)
        report = self._imitate(draw) if self.lessons else self._reinforce(draw, rate)
        self._add_up_gradients()
        norm = float(torch.nn.utils.clip_grad_norm_(self.parameters, self.config.clip_norm))
        self.rate = rate
        if math.isfinite(norm):
            for optimizer in self.optimizers.values():
                optimizer.param_groups[0]["lr"] = rate
                optimizer.step()
            self._average()
        return report, norm

    def _reinforce(self, draw: Draw, rate: float) -> StepReport:
        config = self.config
        batch = self._on_device(draw.arrays(self.problem, config.batch, config.sizes, config.even))
        n = config.n or self._size(draw)
        extras = Extras(
            standardize=config.standardize,
            imitate=config.imitate,
            entropy=config.entropy * rate / config.lr,
            turn=config.turn,
            invariance=self.invariance,
        )
        return reinforce_step(
            self.network,
            self.problem,
            batch,
            draw,
            config.m,
            n,
            self._micro_batch(batch, n),
            extras,
            self._autocast,
            self.baseline.advantages,
        )

    def _imitate(self, draw: Draw) -> StepReport:
        config, lessons = self.config, self.lessons
        assert lessons is not None
        size = self._size(draw)
        rng = np.random.default_rng([config.seed, draw.step, 1])
        arrays, routes = lessons.draw(rng, config.batch, size)
        mine = slice(draw.rank, None, draw.world)
        sequences = draw_orders(self.problem, routes, config.m, variety(self.problem, config.n or size), rng)
        sequences = sequences.unflatten(0, (config.m, -1))[:, mine].flatten(0, 1)
        batch = self._on_device({field: values[mine] for field, values in arrays.items()})
        micro_batch = self._micro_batch(batch, sequences.shape[1])
        return imitation_step(self.network, self.problem, batch, sequences, draw, micro_batch, self._autocast)

    def _on_device(self, arrays: Arrays) -> Any:
        return map_tensors(self.problem.to_batch(arrays), lambda tensor: tensor.to(self.device))

    def _size(self, draw: Draw) -> int:
        """Of the instances of a step."""
        if self.lessons is None:
            return draw.size(self.config.sizes, self.config.even)
        return self.lessons.size(np.random.default_rng([draw.seed, draw.step]), self.config.sizes)

    @torch.no_grad()
    def _average(self) -> None:
        """Move the average towards the weights; early on faster, so that it forgets the untrained ones."""
        if self.averaged is self.network:
            return
        decay = min(self.config.ema, (1 + self.step) / (10 + self.step))
        for mean, value in zip(self.averaged.state_dict().values(), self.network.state_dict().values(), strict=True):
            mean.lerp_(value, 1 - decay)

    def _micro_batch(self, batch: Any, n: int) -> int:
        """Copies that are encoded and scored together."""
        config, nodes, total = self.config, batch.travel.shape[1], len(batch.travel) * self.config.m
        if config.norm == "batch":
            return total
        if config.micro_batch or self.device.type != "cpu":
            return config.micro_batch or total
        if isinstance(self.network, EGAM):
            return edge_micro_batch(nodes, self.problem.spec.directed)
        return max(1, GLIMPSE_BYTES // (4 * config.heads * n * nodes * nodes))

    def _autocast(self) -> Any:
        if self.config.precision == "bf16":
            return torch.autocast(self.device.type, dtype=torch.bfloat16)
        return nullcontext()

    def _check(self, report: StepReport, norm: float) -> None:
        """Stop a run that has gone wrong before it overwrites its last good checkpoint."""
        size = self._size(Draw(self.config.seed, self.step - 1))
        first = self.first.setdefault(str(size), report.objective)
        kept = (
            f"the last good checkpoint is kept in {self.folder}"
            if (self.folder / "state.safetensors").exists()
            else "there was no checkpoint yet"
        )
        if not (math.isfinite(norm) and math.isfinite(report.loss)):
            raise EgamError(
                f"step {self.step}: loss {report.loss:g}, gradient norm {norm:g}: training has become NaN or infinite; "
                f"{kept}. Try a smaller lr"
            )
        multiple = min(max((report.objective + 1e-9) / (first + 1e-9), DIVERGED**-2), DIVERGED**2)
        self.drift += RECENT * (math.log(multiple) - self.drift)
        if self.step > UNSETTLED and self.drift > math.log(DIVERGED):
            raise EgamError(
                f"step {self.step}: objectives have become {math.exp(self.drift):.2g} times those of the first steps, "
                f"now {report.objective:.4g} at N = {size}: training diverges; {kept}. Try a smaller lr"
            )

    # ---- watching -----------------------------------------------------------------------------------------------

    def _validation_set(self) -> Arrays:
        rng = np.random.default_rng([VALIDATION_SEED, self.config.sizes[1]])
        return self.problem.generate(rng, self.config.validation_count, self.config.sizes[1])

    def _validate(self, arrays: Arrays) -> dict[str, float]:
        """Every process decodes its share of the validation set."""
        share = {field: values[self.rank :: self.world] for field, values in arrays.items()}
        result = decode(self.averaged, self.problem, share, Decoding(), device=str(self.device))
        sums = [result.cost[result.feasible].sum(), result.feasible.sum(), len(result.feasible)]
        cost, solved, all_of_them = self._added_up([float(value) for value in sums])
        return {
            "validation_cost": cost / solved / self.problem.unit if solved else math.nan,
            "validation_feasible": solved / all_of_them,
        }

    def _row(self, window: list[tuple[StepReport, float]], seconds: float) -> dict[str, float]:
        def mean(name: str) -> float:
            return sum(getattr(report, name) for report, _ in window) / len(window)

        return {
            "step": self.step,
            "minutes": self.seconds / 60,
            "instances": self.step * self.config.batch,
            "lr": self.rate,
            "loss": mean("loss"),
            "train_cost": mean("cost"),
            "penalty": mean("penalty"),
            "feasible": mean("feasible"),
            "entropy": mean("entropy"),
            "grad_norm": sum(norm for _, norm in window) / len(window),
            "instances_per_second": len(window) * self.config.batch / seconds,
        }

    def _write_config(self) -> None:
        text = self.config.to_toml()
        write_text(self.folder / "config.toml", text)

    # ---- checkpoints --------------------------------------------------------------------------------------------

    def save(self) -> None:
        if self.rank != 0:
            return
        tensors = {f"network.{name}": tensor for name, tensor in self.network.state_dict().items()}
        if self.averaged is not self.network:
            tensors |= {f"average.{name}": tensor for name, tensor in self.averaged.state_dict().items()}
        if self.invariance is not None:
            tensors |= {f"invariance.{name}": tensor for name, tensor in self.invariance.state_dict().items()}
        tensors |= {f"baseline.{name}": tensor for name, tensor in self.baseline.state().items()}
        for kind, optimizer in self.optimizers.items():
            for index, moments in optimizer.state_dict()["state"].items():
                tensors |= {f"{kind}.{index}.{name}": torch.as_tensor(value) for name, value in moments.items()}
        about = {"step": self.step, "seconds": self.seconds, "first": self.first, "drift": self.drift}
        about["after"] = self.after
        write_tensors(self.folder / "state.safetensors", tensors, {"run": json.dumps(about)})
        trained = {
            "steps": self.step,
            "minutes": self.seconds / 60,
            "instances": self.step * self.config.batch,
            "size": self.config.size,
            "method": self.config.method,
            "mask": self.config.mask,
            "threads": torch.get_num_threads() * self.world,
            "recipe": self.config.recipe,
        }
        if self.lessons:
            trained["lessons"] = self.lessons.about()
        if self.after:
            trained["after"] = self.after
        save_model(self.folder, self.averaged, self.problem, trained)

    def _load_state(self) -> None:
        path = self.folder / "state.safetensors"
        tensors, metadata = read_tensors(path)
        try:
            about = json.loads(metadata["run"])
            self.step, self.seconds = int(about["step"]), float(about["seconds"])
            self.first, self.drift = about.get("first", {}), about.get("drift", 0.0)
            self.after = about.get("after", {})
        except (KeyError, ValueError, TypeError):
            raise BadInput(f"{path}: not a training state of ours: its header names no step") from None
        load_state(self.network, _with_prefix(tensors, "network."), str(path))
        if self.averaged is not self.network:
            load_state(self.averaged, _with_prefix(tensors, "average."), str(path))
        if self.invariance is not None:
            load_state(self.invariance, _with_prefix(tensors, "invariance."), str(path))
        try:
            self.baseline.load(_with_prefix(tensors, "baseline."))
        except KeyError as missing:
            raise BadInput(f"{path}: baseline.{missing.args[0]} is missing; the run had another baseline") from None
        for kind, optimizer in self.optimizers.items():
            state: dict[int, dict[str, Any]] = {}
            for name, tensor in _with_prefix(tensors, f"{kind}.").items():
                index, key = name.split(".")
                state.setdefault(int(index), {})[key] = tensor
            groups = optimizer.state_dict()["param_groups"]
            optimizer.load_state_dict({"state": state, "param_groups": groups})

    # ---- signals and processes ----------------------------------------------------------------------------------

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """SIGINT and SIGTERM end the run after the current step, with a checkpoint."""

        def stop(number: int, frame: Any) -> None:
            self._signal = number

        try:
            before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
        except ValueError:  # not in the main thread: the caller handles signals
            before = {}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _add_up_gradients(self) -> None:
        """Sum gradients over processes, each already counting its share of the batch, and average what batch norm
        remembers."""
        if self.world == 1:
            return
        grads = [parameter.grad for parameter in self.parameters if parameter.grad is not None]
        remembered = [buffer for buffer in self.network.buffers() if buffer.is_floating_point()]
        flat = torch.cat([grad.flatten() for grad in grads] + [buffer.flatten() / self.world for buffer in remembered])
        distributed.all_reduce(flat)
        at = 0
        for tensor in [*grads, *remembered]:
            tensor.copy_(flat[at : at + tensor.numel()].view_as(tensor))
            at += tensor.numel()

    def _agree(self, report: StepReport) -> StepReport:
        """With several processes, all report the same means and stop at the same step: the first one's clock and any
        one's signal count."""
        if self.world == 1:
            self._stop = self._signal
            return report
        means = self._added_up([value / self.world for value in vars(report).values()])
        clock = torch.tensor([self.seconds], dtype=torch.float64, device=self.device)
        distributed.broadcast(clock, 0)
        self.seconds = float(clock)
        stop = torch.tensor([self._signal], device=self.device)
        distributed.all_reduce(stop, op=distributed.ReduceOp.MAX)
        self._stop = int(stop)
        return StepReport(*means)

    def _added_up(self, numbers: list[float]) -> list[float]:
        """Sums over all processes."""
        if self.world == 1:
            return numbers
        sums = torch.tensor(numbers, dtype=torch.float64, device=self.device)
        distributed.all_reduce(sums)
        return sums.tolist()


def _with_prefix(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _device(name: str) -> torch.device:
    try:
        device = torch.device(name)
        if device.type == "cuda" and "LOCAL_RANK" in os.environ and device.index is None:
            device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise BadInput(f"device '{name}' cannot be used here: {str(error).splitlines()[0]}") from None
    return device
