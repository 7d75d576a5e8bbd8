"""`egam weights`: which trained networks come with the package, and what they were trained on."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from egam.cli.app import Json, app, console


@app.command()
def weights(
    name: Annotated[str, typer.Argument(help="A name or a folder; all that come with the package if not given.")] = "",
    as_json: Json = False,
) -> None:
    """List the weights that come with the package."""
    from egam.catalogue import find, shipped

    entries = [find(name)] if name else list(shipped().values())
    rows: list[dict[str, Any]] = [
        {
            "name": entry.name,
            "problem": entry.problem,
            "variant": entry.variant,
            "method": entry.method,
            "sizes": list(entry.sizes or ()),
            "trained": entry.trained,
            "sha256": entry.config["sha256"],
            "folder": str(entry.folder),
        }
        for entry in entries
    ]
    if as_json:
        print(json.dumps({"weights": rows}))
        return
    from rich.table import Table

    table = Table()
    for column in ("name", "method", "trained on", "instances seen", "minutes", "sha256"):
        table.add_column(column, justify="right" if column in ("instances seen", "minutes") else "left")
    for entry in entries:
        seen, minutes = entry.trained.get("instances"), entry.trained.get("minutes")
        table.add_row(
            entry.name,
            entry.method,
            entry.trained_on,
            "–" if seen is None else f"{seen:,}",
            "–" if minutes is None else f"{minutes:.0f}",
            str(entry.config["sha256"])[:12],
        )
    console().print(table, highlight=False, markup=False)
