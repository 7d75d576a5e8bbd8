"""What trainings took: a table from config.toml and metrics.csv."""

import pytest

from egam.bench.training_table import training_table
from egam.errors import BadInput

METRICS = """instances,instances_per_second,validation_cost,validation_feasible
600,10,,
1200,1,5.5,0.5
1800,20,,
2400,10,,
"""


def run(folder, config, metrics=METRICS):
    folder.mkdir()
    (folder / "config.toml").write_text(config)
    (folder / "metrics.csv").write_text(metrics)


def test_a_pause_does_not_count(tmp_path):
    run(tmp_path / "a", 'problem = "vrptw"\nmethod = "gam"\nsize = "20"\nencoder_layers = 3\n')
    run(
        tmp_path / "b",
        'problem = "tsp"\nmethod = "pomo"\nsize = "50"\nencoder_layers = 6\n',
        METRICS.splitlines()[0] + "\n5,5,,\n",
    )
    table = training_table(tmp_path)
    assert table.rows[0] == ["VRPTW20", "GAM", "3", "692,736", "2,400", "10.0", "4", "5.500", "50.0 %"]
    assert table.rows[1][0] == "TSP50" and table.rows[1][-2:] == ["–", "–"]
    assert table.breaks == [1]


@pytest.mark.parametrize(
    "config", ["problem = ", 'problem = "tsp"', 'problem = "tsp"\nmethod = "no"\nencoder_layers = 1']
)
def test_no_config_of_ours(tmp_path, config):
    run(tmp_path / "a", config)
    with pytest.raises(BadInput, match="not the config of a run"):
        training_table(tmp_path)


def test_no_runs(tmp_path):
    with pytest.raises(BadInput, match="holds no runs"):
        training_table(tmp_path)
