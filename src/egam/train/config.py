"""Everything a training run can be told, as one dataclass: read from TOML, changed by `--set key=value`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from egam.errors import BadInput, nearest
from egam.methods import get_method

PRESETS = Path(__file__).parent / "presets"
SCHEDULES = ("warmup-cosine", "drop-last-tenth", "constant")
PRECISIONS = ("float32", "bf16")
NORMS = ("instance", "batch", "layer")
OPTIMIZERS = ("adam", "muon")
BASELINES = ("symmetry", "symnco", "exponential", "rollout")  # see baselines.py
TURNS = ("all", "others", "none")
EVEN = ("steps", "time")


@dataclass(frozen=True)
class TrainConfig:
    # what is learned
    problem: str = "tsp"
    variant: str = ""  # "": the problem's default
    mask: str = "paper"  # which next nodes may be chosen: the paper's, or "lookahead" (tsptw, tspdl, vrptw)
    hint: str = "paper"  # what the network is told: the paper's numbers, another clock ("stop"), or "levels" as well
    size: str = "20"  # one N, or a range "20-50" from which each batch draws its N
    even: str = "steps"  # what all N of a range get alike: steps, or time, of which a step takes about N²
    method: str = "egam"  # a row of egam.methods; naming one sets the keys that the row decides
    # the network (see nn/egam.py)
    width: int = 128
    heads: int = 8
    hidden: int = 512
    encoder_layers: int = 4
    decoder_layers: int = 1
    norm: str = "instance"
    clip: float = 10.0  # α of the output's tanh
    # REINFORCE
    batch: int = 16  # instances per step, over all processes
    m: int = 1  # turned or mirrored copies of each instance
    beta: float = 1.0  # the paper's β: weight of the penalty for what is infeasible (tsptw, tspdl)
    n: int = 20  # sampled solutions of each copy; 0: as many as the size
    turn: str = "all"  # which of the copies are turned or mirrored: all, others (than the first), none
    baseline: str = "symmetry"  # what costs are compared with
    epoch: int = 2500  # steps after which the rollout baseline's copy is challenged
    held_out: int = 10_000  # instances of that challenge
    invariance: float = 0.0  # weight of Sym-NCO's invariance term
    standardize: bool = False  # divide an instance's advantages by their standard deviation
    imitate: float = 0.0  # weight of imitating the best of an instance's m·n solutions
    entropy: float = 0.0  # weight of the policy's entropy; falls with the learning rate
    # imitation (imitation.py), instead of REINFORCE
    lessons: str = ""  # a folder of `egam lessons`: learn from these solved instances
    # how long: a number of steps, or a wall-clock budget that the learning-rate schedule follows too
    steps: int = 0
    minutes: float = 0.0
    # how gradients move the weights (optimizers.py)
    optimizer: str = "adam"  # or "muon": matrices by their orthogonal momentum, everything else by Adam
    lr: float = 3e-4
    pace: float = 0.8  # of Muon's matrices: the root mean square of an entry's change in one step, in units of lr
    schedule: str = "warmup-cosine"
    warmup: float = 0.02  # share of the run
    final_lr: float = 0.02  # last learning rate as a share of lr
    clip_norm: float = 1.0
    weight_decay: float = 0.0
    ema: float = 0.0  # decay of the moving average of weights that is validated and saved; 0: the weights themselves
    # watching
    report_every: int = 50  # steps
    validate_every: int = 250  # steps
    validation_count: int = 256  # instances, of the largest N
    checkpoint_every: int = 250  # steps
    # where and how
    seed: int = 1
    device: str = "cpu"
    precision: str = "float32"  # bf16: automatic mixed precision
    compile: bool = False
    micro_batch: int = 0  # copies that are encoded together; 0: what fits a CPU's cache, all on a GPU

    @property
    def sizes(self) -> tuple[int, int]:
        """Smallest and largest N."""
        low, _, high = self.size.partition("-")
        try:
            pair = int(low), int(high or low)
        except ValueError:
            raise BadInput(f"size is '{self.size}'; a number (20) or a range (20-50) is accepted") from None
        if pair[0] > pair[1] or pair[0] < 1:
            raise BadInput(f"size is '{self.size}'; a range goes from a smaller to a larger number, both above 0")
        return pair

    def checked(self) -> TrainConfig:
        """This config, or a sentence that says which key has a value that cannot be."""
        _ = self.sizes
        get_method(self.method)
        self._check_numbers()
        for key, accepted in (
            ("schedule", SCHEDULES),
            ("precision", PRECISIONS),
            ("norm", NORMS),
            ("baseline", BASELINES),
            ("optimizer", OPTIMIZERS),
            ("turn", TURNS),
            ("even", EVEN),
        ):
            if getattr(self, key) not in accepted:
                raise BadInput(f"{key} is '{getattr(self, key)}'; accepted: {', '.join(accepted)}")
        if self.lessons and self.even != "steps":  # lessons have sizes of their own
            raise BadInput(f"even is '{self.even}'; with lessons 'steps' is accepted")
        self._check_samples()
        return self

    def _check_numbers(self) -> None:
        for key in (
            "width",
            "heads",
            "hidden",
            "encoder_layers",
            "decoder_layers",
            "batch",
            "m",
            "epoch",
            "report_every",
            "validate_every",
            "validation_count",
            "checkpoint_every",
        ):
            if getattr(self, key) < 1:
                raise BadInput(f"{key} is {getattr(self, key)}; 1 or more is accepted")
        if self.width % self.heads:
            raise BadInput(f"width {self.width} is not a multiple of heads {self.heads}")
        if self.lr <= 0 or not 0 <= self.warmup < 1 or not 0 <= self.final_lr <= 1 or self.clip_norm <= 0:
            raise BadInput("lr and clip_norm must be above 0, warmup in [0, 1) and final_lr in [0, 1]")
        if self.pace <= 0:
            raise BadInput(f"pace is {self.pace:g}; a number above 0 is accepted")
        if self.weight_decay and self.optimizer != "adam":
            raise BadInput(f"weight_decay is {self.weight_decay:g}; the optimizer '{self.optimizer}' accepts 0 only")
        if self.beta <= 0:
            raise BadInput(f"beta is {self.beta:g}; a number above 0 is accepted")
        if not 0 <= self.ema < 1:
            raise BadInput(f"ema is {self.ema:g}; a decay of 0 or more and below 1 is accepted")
        for key in ("n", "imitate", "entropy", "invariance", "weight_decay"):
            if getattr(self, key) < 0:
                raise BadInput(f"{key} is {getattr(self, key):g}; 0 or more is accepted")
        if (self.steps > 0) == (self.minutes > 0):
            raise BadInput(
                f"steps is {self.steps} and minutes is {self.minutes:g}; exactly one of them must be above 0"
            )

    def _check_samples(self) -> None:
        """Are there enough solutions of an instance for what compares them?"""
        compares = [f"baseline '{self.baseline}'"] if self.baseline in ("symmetry", "symnco") else []
        compares += [key for key in ("standardize", "imitate", "entropy") if getattr(self, key)]
        if compares and self.m * self.n == 1:
            raise BadInput(f"m·n is 1; {compares[0]} compares an instance's m·n solutions, 2 or more are needed")
        if self.invariance and self.m < 2:
            raise BadInput(f"m is {self.m}; the invariance term compares copies of an instance, 2 or more are needed")
        if self.baseline == "rollout" and self.held_out < 2:
            raise BadInput(f"held_out is {self.held_out}; the rollout baseline's t-test needs 2 or more")

    def lr_at(self, progress: float) -> float:
        """The learning rate when a share `progress` in [0, 1] of the run is over."""
        import math

        if self.schedule == "constant":
            return self.lr
        if self.schedule == "drop-last-tenth":
            return self.lr if progress < 0.9 else self.lr * 0.1
        if progress < self.warmup:
            return self.lr * max(progress / self.warmup, 0.01)
        along = (progress - self.warmup) / (1 - self.warmup)
        return self.lr * (self.final_lr + (1 - self.final_lr) * 0.5 * (1 + math.cos(math.pi * min(along, 1.0))))

    @property
    def recipe(self) -> str:
        """What is not the default, for those who read about the weights later; without what only this run needs."""
        silent = {"problem", "variant", "size", "method", "steps", "minutes", "seed", "device", "validation_count"}
        silent |= {"report_every", "validate_every", "checkpoint_every", "width", "heads", "hidden", "mask"}
        silent |= {"encoder_layers", "decoder_layers", "norm", "clip", "micro_batch", "compile", "lessons"}
        plain = TrainConfig()
        shown = {"lr": self.lr, "batch": self.batch, "m": self.m, "n": self.n}
        others = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in silent}
        shown |= {key: value for key, value in others.items() if value != getattr(plain, key)}
        return ", ".join(
            f"{key} {value:g}" if not isinstance(value, bool | str) else f"{key} {value}"
            for key, value in shown.items()
        )

    def to_toml(self) -> str:
        lines = []
        for field in fields(self):
            value = getattr(self, field.name)
            text = (
                f'"{value}"'
                if isinstance(value, str)
                else str(value).lower()
                if isinstance(value, bool)
                else repr(value)
            )
            lines.append(f"{field.name} = {text}")
        return "\n".join(lines) + "\n"


def read_config(path: str | Path) -> TrainConfig:
    """A preset's name (`cpu`, `paper`) or a TOML file."""
    source = Path(path)
    if not source.exists() and (PRESETS / f"{path}.toml").exists():
        source = PRESETS / f"{path}.toml"
    try:
        table = tomllib.loads(source.read_text())
    except FileNotFoundError:
        known = ", ".join(sorted(preset.stem for preset in PRESETS.glob("*.toml")))
        raise BadInput(f"config '{path}' is neither a file nor a preset; presets: {known}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise BadInput(f"{source}: not readable as TOML: {error}") from None
    return changed(TrainConfig(), table, str(source))


def changed(config: TrainConfig, table: dict[str, Any], where: str) -> TrainConfig:
    """The config with the given keys replaced, each value checked against the key's type. Another method replaces the
    keys that its row decides before the other given keys do."""
    kinds = {field.name: type(getattr(config, field.name)) for field in fields(config)}
    values = {}
    for key, value in table.items():
        if key not in kinds:
            raise BadInput(f"{where}: unknown key '{key}'{nearest(key, list(kinds))}; accepted: {', '.join(kinds)}")
        values[key] = _as(kinds[key], value, f"{where}: {key}")
    if (method := values.get("method", config.method)) != config.method:
        values = get_method(method).settings() | values
    return replace(config, **values)


def with_settings(config: TrainConfig, settings: list[str]) -> TrainConfig:
    """`--set key=value` arguments applied."""
    table = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise BadInput(f"--set {setting}: key=value is expected")
        table[key.strip()] = value.strip()
    return changed(config, table, "--set")


def _as(kind: type, value: Any, where: str) -> Any:
    """`value` (of TOML's type, or a string from the command line) as the key's type."""
    if kind is str and not isinstance(value, bool | float):
        return str(value)
    if kind is bool and (isinstance(value, bool) or value in ("true", "false")):
        return value in (True, "true")
    if kind in (int, float) and not isinstance(value, bool):
        try:
            number = kind(value)
            if number == float(value):
                return number
        except (TypeError, ValueError):
            pass
    accepted = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}[kind]
    raise BadInput(f"{where} is {value!r}; {accepted} is accepted")
