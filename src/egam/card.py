"""The card of shipped weights: what they are, how they were trained, what they reach; README.md, as model hubs show it.

Everything on it comes from two files beside it: config.json, which a training run ends with, and measured.json, which
`python -m egam.bench.card` writes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from egam.catalogue import Entry
from egam.files import write_text
from egam.instance import KINDS

MEASURED = "measured.json"


def measured(folder: Path) -> dict[str, Any]:
    """What was measured of the weights in a folder; {} if nothing was."""
    path = folder / MEASURED
    return dict(json.loads(path.read_text())) if path.exists() else {}


def write_card(entry: Entry, parameters: int) -> None:
    text = "\n\n".join(part for part in _parts(entry, parameters) if part) + "\n"
    write_text(entry.folder / "README.md", text)


def _parts(entry: Entry, parameters: int) -> list[str]:
    shape = entry.config["shape"]
    return [
        f"---\nlicense: mit\nlibrary_name: egam\ntags: [routing, combinatorial-optimization, {entry.problem}]\n---",
        f"# EGAM weights `{entry.name}`",
        f"The network of [EGAM](https://arxiv.org/abs/2601.21281) for `{entry.problem}` "
        f"({KINDS[entry.problem].title}): {shape['encoder_layers']} encoder layers of width {shape['width']} "
        f"(feed-forward {shape['hidden']}, {shape['norm']} norm), {parameters:,} parameters, stored in half precision.",
        _training(entry),
        f"```\negam solve FILE --weights {entry.name}\n```",
        _recipe(entry),
        _mask(entry),
        _temperature(entry),
        _figures(measured(entry.folder)),
        "Other sizes and kinds of instances are solved as well, and worse the further they are from these.",
        str(entry.config.get("remarks", "")),
    ]


def _stages(entry: Entry) -> list[dict[str, Any]]:
    """How the weights were trained, the first stage first."""
    stages: list[dict[str, Any]] = []
    stage: dict[str, Any] | None = entry.trained
    while stage:
        stages.insert(0, stage)
        stage = stage.get("after")
    return stages


def _training(entry: Entry) -> str:
    shown = "no solver's solutions were shown"
    if lessons := [stage["lessons"] for stage in _stages(entry) if "lessons" in stage]:
        solvers = " and ".join(dict.fromkeys(each["solver"] for each in lessons))
        imitation = f"imitation of {solvers} ({max(each['instances'] for each in lessons):,} solved instances)"
        if "lessons" in entry.trained:  # nothing came after
            return f"Trained on {entry.trained_on} by {imitation}."
        shown = f"before that by {imitation}"
    trained = entry.trained
    seen = f", {trained['instances']:,} random instances" if "instances" in trained else ""
    minutes = f" in {trained['minutes']:.0f} minutes" if "minutes" in trained else ""
    return f"Trained by reinforcement learning on {entry.trained_on}{seen}{minutes}; {shown}."


def _recipe(entry: Entry) -> str:
    stages = _stages(entry)
    if not any("recipe" in stage for stage in stages):
        return ""
    lines = ["## Training", "", "| N | steps | instances | minutes | threads | recipe |", "|---|---|---|---|---|---|"]
    for stage in stages:
        way = f"imitation of {stage['lessons']['solver']}, " if "lessons" in stage else ""
        lines.append(
            f"| {stage.get('size', '?')} | {stage.get('steps', 0):,} | {stage.get('instances', 0):,} "
            f"| {stage.get('minutes', 0):.0f} | {stage.get('threads', '?')} | {way}{stage.get('recipe', 'not noted')} |"
        )
    return "\n".join(lines)


def _mask(entry: Entry) -> str:
    """A sentence where the paper's mask is not all there is."""
    learned = str(entry.trained.get("mask", "paper"))
    if learned == entry.mask == "paper":
        return ""
    other = "" if learned == entry.mask else f", and `{learned}` in training"
    return f"Mask of next nodes: `{entry.mask}`{other} (see docs/model.md, Masks and costs)."


def _temperature(entry: Entry) -> str:
    """Sentences where samples are not those of the policy as it was trained."""

    def at(key: str) -> str:
        found = entry.config.get(key, {})
        return ", ".join(f"{value:g} at N = {size}" for size, value in found.items()) if {*found.values()} - {1} else ""

    independent, distinct = at("temperature") or "1", at("distinct_temperature") or "1"
    if independent == distinct == "1":
        return ""
    return (
        f"Samples are drawn at a temperature of {independent}, samples without replacement (`8xdistinct:20`) of "
        f"{distinct} (between and beyond by interpolation), the best of those that `python -m egam.bench.temperature` "
        "tried on instances of its own; `8x20@1` samples the policy as trained."
    )


def _figures(found: dict[str, Any]) -> str:
    if not found:
        return ""
    lines = [
        "## Measured",
        "",
        "| set | instances | decoding | cost | gap | infeasible | reference |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in found["rows"]:
        cost = "–" if row["cost"] is None else f"{row['cost']:.4f} ± {row['cost_ci95'] or 0:.4f}"
        gap = "–" if row["gap_percent"] is None else f"{row['gap_percent']:.2f} %"
        unsolvable = f" (unsolvable: {row['unsolvable_percent']:.1f} %)" if row["unsolvable_percent"] else ""
        reference = "–" if row["reference_cost"] is None else f"{row['reference_cost']:.4f}, {row['solver']}"
        lines.append(
            f"| {row['set']} | {row['count']:,} | {row['decoding']} | {cost} | {gap} "
            f"| {row['infeasible_percent']:.1f} %{unsolvable} | {reference} |"
        )
    golden = found["golden"]
    return "\n".join(lines) + (
        "\n\nCosts ± half the 95 % confidence interval, in the literature's units; cost, reference and gap over the "
        "instances that were solved feasibly.\n"
        f"`{found['command']}` at {found['commit']}, on {found['machine']}.\n"
        f"Greedy cost of the {golden['count']} instances that a test solves again: {golden['cost']:.4f}, "
        f"{golden['feasible']} of them feasible."
    )
