"""Figures from small made-up runs and results: what is drawn is what was given."""

import csv
import io

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from test_tables import result, vrptw

from egam.bench import sets
from egam.bench.cells import plan
from egam.bench.figures import canvas, curves
from egam.bench.figures.dynamics import dynamics
from egam.bench.figures.heatmap import excess, heatmap
from egam.bench.figures.layers import layers
from egam.bench.figures.solutions import solutions
from egam.bench.figures.tradeoff import tradeoff
from egam.bench.model_tables import trained_and_tested
from egam.bench.run import Settings, run
from egam.errors import BadInput
from egam.train.log import COLUMNS


def made_run(folder, feasible=1.0, falls=0.1):
    folder.mkdir()
    lines = []
    for k in range(10):
        row = dict.fromkeys(COLUMNS, 0.0) | {"step": k, "instances": 1000 * k, "loss": -k, "train_cost": 5 - falls * k}
        row |= {"feasible": feasible, "validation_cost": 4 - falls * k, "validation_feasible": feasible}
        if k % 3:  # validated now and then
            row |= {"validation_cost": "", "validation_feasible": ""}
        lines.append(row)
    with (folder / "metrics.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(lines)
    return folder


def is_png(path) -> bool:
    return path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 5000


def test_smoothing_by_hand():
    assert curves.smoothed(np.array([1.0, 2.0, 0.0]), 0.9) == pytest.approx([1.0, 1.1, 0.99])  # 0.9 + 0.2; 0.99 + 0


def test_dynamics_show_what_the_run_wrote(tmp_path):
    runs = [curves.read(str(made_run(tmp_path / "a"))), curves.read(f"slow={made_run(tmp_path / 'b', falls=0.05)}")]
    assert [run.label for run in runs] == ["a", "slow"]
    figure = dynamics(runs)
    assert [axis.get_title() for axis in figure.axes] == [
        *("Training loss", "Training cost (sampled)", "Validation cost (greedy)"),  # all is feasible: no shares
    ]
    line = figure.axes[2].lines[0]
    assert line.get_xdata() == pytest.approx([0, 3, 6, 9]) and line.get_ydata() == pytest.approx([4, 3.7, 3.4, 3.1])
    canvas.write(figure, tmp_path / "out" / "dynamics.png")
    assert is_png(tmp_path / "out" / "dynamics.png")


def test_feasible_shares_are_drawn_where_some_are_not(tmp_path):
    figure = dynamics([curves.read(str(made_run(tmp_path / "a", feasible=0.6)))])
    assert len(figure.axes) == 5 and figure.axes[4].lines[0].get_ydata() == pytest.approx([60] * 4)


def test_layers_are_smoothed(tmp_path):
    figure = layers([curves.read(f"3 layers={made_run(tmp_path / 'a')}")], keep=0.5)
    thin, thick = figure.axes[0].lines
    assert thin.get_ydata() == pytest.approx([4, 3.7, 3.4, 3.1])
    assert thick.get_ydata() == pytest.approx([4, 3.85, 3.625, 3.3625]) and thick.get_label() == "3 layers"


def test_heat_map_is_zero_on_its_diagonal(tmp_path):
    costs = {(20, 20): 4, (20, 50): 30, (50, 50): 20, (50, 20): 5, (100, 100): 50, (100, 20): 6}
    rows = [vrptw(trained_on=str(own), size=str(size), cost=str(cost)) for (own, size), cost in costs.items()]
    sizes, table = excess(trained_and_tested(rows, "vrptw")["EGAM"])
    assert sizes == [20, 50, 100] and np.diag(table) == pytest.approx([0, 0, 0])
    assert table[0, 1] == pytest.approx(50) and table[1, 0] == pytest.approx(25) and table[2, 0] == pytest.approx(50)
    assert np.isnan(table[0, 2])  # not measured
    figure = heatmap(rows, "vrptw")
    assert [text.get_text() for text in figure.axes[0].texts][:3] == ["+0.0 %", "+50.0 %", "–"]
    canvas.write(figure, tmp_path / "heat.png")
    assert is_png(tmp_path / "heat.png")


def test_tradeoff_has_every_method_with_a_gap(tmp_path):
    base = {"set": "tsp20", "reference": "highs 60s", "cost": "4"}
    rows = [
        result(**base, method="or-tools", form="1s", gap_percent="0.5", gap_ci95="0.1"),
        result(**base, method="or-tools", form="10s", gap_percent="0", seconds_per_instance="10"),
        result(**base, method="EGAM", kind="learned", form="greedy", gap_percent="2", seconds_per_instance="0.01"),
        result(**{**base, "method": "lkh", "feasible": "900"}, gap_percent="1"),
        result(set="tsp20", method="no reference"),
    ]
    figure = tradeoff(rows, "tsp20")
    axis = figure.axes[0]
    assert [text.get_text() for text in axis.get_legend().get_texts()] == ["LKH-3", "OR-Tools", "EGAM"]
    ours = next(line for line in axis.lines if line.get_label() == "OR-Tools")
    assert ours.get_xdata() == pytest.approx([1.01, 10]) and ours.get_ydata() == pytest.approx([0.5, 0])
    assert "hollow" in axis.get_title()
    canvas.write(figure, tmp_path / "gap.svg")
    assert "<svg" in (tmp_path / "gap.svg").read_text()
    with pytest.raises(BadInput, match="no results with gaps on 'tsp50'; sets with gaps: tsp20"):
        tradeoff(rows, "tsp50")


def test_solutions_side_by_side(tmp_path):
    loaded = dict(sets.load(name, 2) for name in ("tsp20", "vrptw20"))
    cells = plan(loaded, ["nearest-neighbour", "cheapest-insertion"], [1], [], ["greedy"])
    run(cells, loaded, Settings(tmp_path, tmp_path))
    for name in loaded:
        figure = solutions(tmp_path, name, 1, ["nearest-neighbour", "cheapest-insertion"])
        data = io.BytesIO()
        figure.savefig(data)
        assert len(data.getvalue()) > 20000
    with pytest.raises(BadInput, match="measured there: cheapest-insertion, nearest-neighbour"):
        solutions(tmp_path, "tsp20", 1, ["lkh_1s"])
    with pytest.raises(BadInput, match="instance 2 is asked for; 0 to 1"):
        solutions(tmp_path, "tsp20", 2, ["nearest-neighbour"])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [(None, "is expected"), ("step,instances\n", "no metrics yet"), ("step,instances\n1,x\n", "not a number")],
)
def test_bad_runs_are_explained(tmp_path, text, sentence):
    if text is not None:
        (tmp_path / "metrics.csv").write_text(text)
    with pytest.raises(BadInput, match=sentence):
        curves.read(str(tmp_path))


def test_other_names_are_refused_before_the_work(tmp_path):
    with pytest.raises(BadInput, match="a name that ends with"):
        canvas.check_name(tmp_path / "figure.jpg")
