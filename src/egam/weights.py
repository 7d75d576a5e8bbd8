"""Network weights on disk: folders in Hugging Face's layout, written atomically, checked when read.

`save_model` writes what a training run ends with (model.safetensors and config.json, which names its hash), `ship`
makes of such a run a folder of `pretrained/`: half precision, and a card. `load_model` reads both, by name or path (see
catalogue.py), and refuses what is damaged or foreign with what differs. Networks compute in single precision always.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from egam import catalogue
from egam.card import MEASURED, write_card
from egam.catalogue import FORMAT, Entry
from egam.errors import BadInput
from egam.files import write_atomically, write_text
from egam.nn import NETWORKS, Model
from egam.nn.egam import Shape
from egam.nn.temperature import Temperature
from egam.problems import get_problem
from egam.problems.base import Problem

DTYPES = {"float32": torch.float32, "float16": torch.float16}  # that files may have


def write_tensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str]) -> None:
    held = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    write_atomically(path, lambda temporary: save_file(held, temporary, metadata))


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except FileNotFoundError:
        raise BadInput(f"{path}: no such file") from None
    except (SafetensorError, OSError) as error:
        raise BadInput(f"{path}: not a readable safetensors file ({error})") from None


def save_model(folder: Path, network: Model, problem: Problem, trained: dict[str, Any]) -> None:
    """Write model.safetensors, then config.json, which names its hash."""
    about = {"network": network.name, "problem": problem.name, "variant": problem.variant, "mask": problem.mask}
    about["hint"] = getattr(problem, "hint", "paper")
    _write(folder, network.state_dict(), "float32", {**about, "shape": network.shape.to_dict(), "trained": trained})


def load_model(weights: str | Path) -> tuple[Model, Problem, dict[str, Any]]:
    """The network (in evaluation mode), its problem and its config.json, by a shipped name or a folder."""
    return load_entry(catalogue.find(weights))


def load_entry(entry: Entry) -> tuple[Model, Problem, dict[str, Any]]:
    config, path = entry.config, entry.folder / "model.safetensors"
    tensors, _ = read_tensors(path)
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != config["sha256"]:
        raise BadInput(
            f"{path}: hash {found[:12]}… differs from config.json's {str(config['sha256'])[:12]}…; "
            "the file is damaged or foreign"
        )
    _check_numbers(path, tensors, str(config.get("dtype", "float32")))
    problem = get_problem(entry.problem, entry.variant, entry.mask, hint=entry.hint)
    shape = _shape(entry.folder / "config.json", config)
    network = NETWORKS[config["network"]](problem.spec, shape)
    load_state(network, tensors, str(path))
    for name in ("temperature", "distinct_temperature"):
        if name in config:
            setattr(network, name, Temperature.read(config[name], f"{entry.folder / 'config.json'}: {name}"))
    return network.eval(), problem, config


def load_state(network: torch.nn.Module, tensors: dict[str, Tensor], where: str) -> None:
    """Copy tensors into a network, or say what differs."""
    expected = network.state_dict()
    if missing := sorted(set(expected) - set(tensors)):
        raise BadInput(f"{where}: {len(missing)} tensors of the network are missing, the first is {missing[0]}")
    if unknown := sorted(set(tensors) - set(expected)):
        raise BadInput(f"{where}: {len(unknown)} tensors are not the network's, the first is {unknown[0]}")
    for name, tensor in expected.items():
        if tensor.shape != tensors[name].shape:
            raise BadInput(f"{where}: {name} has shape {tuple(tensors[name].shape)}; {tuple(tensor.shape)} is expected")
    network.load_state_dict(tensors)


# ---- shipping ---------------------------------------------------------------------------------------------------


def ship(
    run: str | Path, name: str, remarks: str = "", folder: Path = catalogue.PRETRAINED, mask: str | None = None
) -> Path:
    """Put the weights of a run into `folder/name`: checked, in half precision, with a card that ends with `remarks`.
    `mask` is the one to solve with, if that is not the one of training."""
    network, _, config = load_model(run)
    tensors = {key: tensor.to(torch.float16) for key, tensor in network.state_dict().items()}
    if broken := [key for key, tensor in tensors.items() if not tensor.isfinite().all()]:
        raise BadInput(f"{run}: {broken[0]} has numbers that half precision does not hold")
    target = folder / name
    target.mkdir(parents=True, exist_ok=True)
    keys = ("network", "problem", "variant", "shape")
    about = {**{key: config[key] for key in keys}, "mask": mask or config.get("mask", "paper")}
    about["hint"] = config.get("hint", "paper")
    get_problem(config["problem"], config["variant"], about["mask"])  # explains a mask that cannot be
    (target / MEASURED).unlink(missing_ok=True)  # of the weights before
    _write(target, tensors, "float16", {**about, "trained": config.get("trained", {}), "remarks": remarks})
    write_card(catalogue.entry_of(target, name), sum(tensor.numel() for tensor in tensors.values()))
    return target


# ---- both -------------------------------------------------------------------------------------------------------


def _write(folder: Path, tensors: dict[str, Tensor], dtype: str, about: dict[str, Any]) -> None:
    weights = folder / "model.safetensors"
    write_tensors(weights, tensors, {"format": "pt"})
    hashed = {"sha256": hashlib.sha256(weights.read_bytes()).hexdigest()}
    text = json.dumps({"format": FORMAT, "dtype": dtype, **hashed, **about}, indent=2) + "\n"
    write_text(folder / "config.json", text)


def _check_numbers(path: Path, tensors: dict[str, Tensor], dtype: str) -> None:
    if dtype not in DTYPES:
        raise BadInput(f"{path}: config.json says dtype {dtype}; accepted: {', '.join(DTYPES)}")
    for name, tensor in tensors.items():
        if tensor.dtype != DTYPES[dtype]:
            raise BadInput(f"{path}: {name} is {str(tensor.dtype).removeprefix('torch.')}; config.json says {dtype}")
        if not tensor.isfinite().all():
            raise BadInput(f"{path}: {name} holds numbers that are not finite")


def _shape(path: Path, config: dict[str, Any]) -> Shape:
    if str(config["network"]) not in NETWORKS:
        raise BadInput(f"{path}: is of network '{config['network']}'; accepted: {', '.join(NETWORKS)}")
    names = {field.name for field in fields(Shape)}
    if not isinstance(config["shape"], dict) or set(config["shape"]) != names:
        raise BadInput(f"{path}: shape must have exactly {', '.join(sorted(names))}")
    for key, expected in Shape().to_dict().items():
        value = config["shape"][key]
        if type(value) is not type(expected) or (not isinstance(value, str) and value <= 0):
            raise BadInput(f"{path}: shape's {key} is {value!r}; something like {expected!r} is expected")
    if config["shape"]["width"] % config["shape"]["heads"]:
        raise BadInput(f"{path}: shape's width is no multiple of its heads")
    return Shape(**config["shape"])
