"""Network weights on disk: a folder with model.safetensors and config.json, written atomically, checked when read."""

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

from egam.errors import BadInput
from egam.files import write_atomically
from egam.nn.egam import EGAM, Shape
from egam.problems import get_problem
from egam.problems.base import Problem

FORMAT = 1


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


def save_model(folder: Path, network: EGAM, problem: Problem, trained: dict[str, Any]) -> None:
    """Write model.safetensors, then config.json, which names its hash."""
    weights = folder / "model.safetensors"
    write_tensors(weights, network.state_dict(), {"format": "pt"})
    config = {
        "format": FORMAT,
        "network": "egam",
        "problem": problem.name,
        "variant": problem.variant,
        "shape": network.shape.to_dict(),
        "sha256": hashlib.sha256(weights.read_bytes()).hexdigest(),
        "trained": trained,
    }
    text = json.dumps(config, indent=2) + "\n"
    write_atomically(folder / "config.json", lambda temporary: temporary.write_text(text) and None)  # type: ignore[arg-type]


def load_model(folder: str | Path) -> tuple[EGAM, Problem, dict[str, Any]]:
    """The network (in evaluation mode), its problem and its config.json."""
    folder = Path(folder)
    config = _read_config(folder)
    weights = folder / "model.safetensors"
    tensors, _ = read_tensors(weights)
    found = hashlib.sha256(weights.read_bytes()).hexdigest()
    if found != config["sha256"]:
        raise BadInput(
            f"{weights}: hash {found[:12]}… differs from config.json's {str(config['sha256'])[:12]}…; "
            "the file is damaged or foreign"
        )
    problem = get_problem(config["problem"], config["variant"])
    network = EGAM(problem.spec, Shape(**config["shape"]))
    load_state(network, tensors, str(weights))
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


def _read_config(folder: Path) -> dict[str, Any]:
    path = folder / "config.json"
    try:
        config = json.loads(path.read_text())
    except FileNotFoundError:
        raise BadInput(f"{folder}: holds no config.json; a folder written by `egam train` is expected") from None
    except (json.JSONDecodeError, UnicodeDecodeError, OSError) as error:
        raise BadInput(f"{path}: not readable as JSON: {error}") from None
    keys = {"format", "network", "problem", "variant", "shape", "sha256"}
    if not isinstance(config, dict) or not keys <= set(config):
        raise BadInput(f"{path}: not a model description of ours; it must have {', '.join(sorted(keys))}")
    if config["format"] != FORMAT or config["network"] != "egam":
        raise BadInput(
            f"{path}: format {config['format']} of network '{config['network']}'; format {FORMAT} of 'egam' is expected"
        )
    names = {field.name for field in fields(Shape)}
    if not isinstance(config["shape"], dict) or set(config["shape"]) != names:
        raise BadInput(f"{path}: shape must have exactly {', '.join(sorted(names))}")
    return config
