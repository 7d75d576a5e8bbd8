"""The paper's tables: its own numbers as printed, ours beside them, dashes where there is nothing."""

import re

import pytest

from egam.bench import paper
from egam.bench.model_tables import count_parameters
from egam.bench.render import Table
from egam.bench.results import COLUMNS
from egam.bench.tables import form_of, table
from egam.errors import BadInput
from egam.instance import KINDS
from egam.methods import METHODS


def result(**given) -> dict[str, str]:
    """A line of results.csv."""
    base = {column: "" for column in COLUMNS}
    base |= {"set": "tsp50", "problem": "tsp", "size": "50", "origin": "public", "kind": "classical", "form": "1s"}
    base |= {"count": "1000", "feasible": "1000", "infeasible_percent": "0", "seconds_per_instance": "1.01"}
    return base | given


def lines(found: Table) -> dict[tuple[str, str], list[str]]:
    return {(row[0], row[1]): list(row[2:]) for row in found.rows}


def test_every_printed_gap_fits_its_cost():
    """Gap = cost / best cost - 1, up to rounding and to means of gaps; a slip of the pen would show."""
    best = {"tsp": 5.70, "cvrp": 10.38, "pctsp": 4.47, "tsptw": 13.01, "tspdl": 10.86, "vrptw": 18.39}
    count = 0
    for problem, least in best.items():
        for row in paper.printed(problem):
            low, high = ((row.cost + e) / (least - e) - 1 for e in (-0.005, 0.005))
            assert 100 * low - 0.05 <= row.gap <= 100 * high + 0.05, (problem, row)
            count += 1
    assert count == 14 + 13 + 11 + 12 + 11 + 11  # lines of tables 1 to 3 without those that are '/'


def test_printed_numbers_that_the_text_repeats():
    """The paper's text: 2.29 % and 7.16 % better than POMO on TSPTW, 2.21 % on TSPDL, 2.04 % than Sym-NCO on VRPTW."""
    problems = ("tsptw", "tspdl", "vrptw")
    greedy = {(each, row.method): row for each in problems for row in paper.printed(each) if row.form == "greedy"}
    ours, pomo = greedy["tsptw", "EGAM"], greedy["tsptw", "POMO"]
    assert (round(pomo.gap - ours.gap, 2), round(pomo.infeasible - ours.infeasible, 2)) == (2.29, 7.16)
    assert round(greedy["tspdl", "POMO"].gap - greedy["tspdl", "EGAM"].gap, 2) == 2.21
    assert round(greedy["vrptw", "Sym-NCO"].gap - greedy["vrptw", "EGAM"].gap, 2) == 2.04


def test_paper_and_ours_stand_side_by_side():
    ours = [
        result(method="or-tools", form="60s", cost="5.71", cost_ci95="0.02", gap_percent="0.1", gap_ci95="0.03",
               reference="highs 60s", reference_proven="1000", unsolvable="0"),
        result(method="lkh", cost="5.69"),
        result(method="EGAM", kind="learned", form="greedy", cost="5.8", seconds_per_instance="0.0123"),
        result(method="EGAM", kind="learned", form="starts", cost="5.75"),
    ]  # fmt: skip
    tsp, cvrp, pctsp = table("1", ours, 50)
    rows = lines(tsp)
    assert rows["OR-Tools", "60 s"] == ["1000", "5.710 ± 0.020", "0.10 ± 0.03", "1.01", "5.70", "0.00", "2.6h"]
    assert rows["OR-Tools", "600 s"] == ["–", "–", "–", "–", "5.70", "0.00", "1.1d"]
    assert rows["LKH-3", "1 s"] == ["1000", "5.690", "–", "1.01", "5.70", "0.00", "1.3m"]
    assert rows["EGAM", "greedy"] == ["1000", "5.800", "–", "0.0123", "5.72", "0.49", "6s"]
    assert rows["EGAM", "all starts"][4:] == ["–", "–", "–"]
    assert len(rows) == 15  # the paper's 14, and one that only we have
    assert "Reference costs: HiGHS, 60 s at most, all of them proven." in tsp.notes
    assert len(cvrp.rows) == 13 and len(pctsp.rows) == 11
    ways = [row[1] for row in tsp.rows]
    assert ways.index("greedy") > ways.index("600 s") and ways.index("8 × 20 samples") > ways.index("greedy")


def test_infeasible_shares_and_how_many():
    row = result(problem="tsptw", method="or-tools", form="600s", cost="13.1", cost_ci95="0.1", feasible="845")
    row |= {"infeasible_percent": "15.5", "reference": "pyvrp 1s", "reference_proven": "0", "unsolvable": "3"}
    part = row | {"method": "pyvrp", "form": "1s", "count": "200", "feasible": "199", "unsolvable": "1"}
    tsptw, tspdl = table("2", [row, part], 50)  # the note is of all instances, not of the row that comes last
    assert lines(tsptw)["OR-Tools", "600 s"] == [
        *("845 of 1000", "13.100 ± 0.100", "15.50", "–", "1.01"),
        *("13.05", "15.52", "0.30", "22h"),
    ]
    assert tsptw.notes[0] == (
        "Reference costs: PyVRP, 1 s at most, 0 of 1000 proven, the others upper bounds of the optimum; "
        "3 of 1000 have no feasible solution."
    )
    assert ("OR-Tools", "600 s") not in lines(tspdl)


def test_other_sizes_have_no_figures_of_the_paper():
    (block,) = table("1", [result(size="20", method="lkh", cost="3.8")], 20)
    assert len(block.rows) == 1 and not any("aper" in column for column in block.columns)
    (block,) = table("atsp", [result(problem="atsp", size="20", method="lkh", cost="3.8")], 20)
    assert block.rows[0][:4] == ["LKH-3", "1 s", "1000", "3.800"]
    with pytest.raises(BadInput, match="table 3 at N = 20"):
        table("3", [], 20)
    with pytest.raises(BadInput, match="unknown table '4'; accepted: 1, 2, 3"):
        table("4", [], 50)


def test_parameters_are_counted():
    (found,) = table("parameters", [vrptw(layers="4", cost="19.5", cost_ci95="0.2")], 50)
    rows = lines(found)
    assert rows["EGAM", "4"] == ["2,157,696", "2.16 M", "1000", "19.500 ± 0.200", "19.60"]
    assert rows["Sym-NCO", "12"][1:] == ["2.47 M", "–", "–", "–"]
    for each in paper.parameters():  # decisions: one layer of EGAM is 461,056, of Sym-NCO 197,760
        assert count_parameters(each["method"], each["layers"]) / 1e6 == pytest.approx(each["millions"], abs=0.005)


def vrptw(**given) -> dict[str, str]:
    base = {"problem": "vrptw", "kind": "learned", "method": "EGAM", "trained_as": "egam", "form": "greedy"}
    return result(**{**base, "trained_on": "50", **given})


def test_generalisation_has_all_pairs():
    found = [
        vrptw(cost="19.5", cost_ci95="0.2", layers="4"),
        vrptw(cost="19.9", layers="3"),  # not the method's own depth: in the table of parameters
        vrptw(size="20", cost="5"),
        vrptw(trained_on="20", size="20", cost="4.5"),
        vrptw(trained_on="20-50", size="20", cost="4.4"),  # of several sizes: not in this table
    ]
    same, pairs = table("generalisation", found, 50)
    assert [list(row) for row in same.rows] == [
        ["EGAM", "4.50 (n = 1000)", "19.50 ± 0.20 (n = 1000)", "–"],
        ["Sym-NCO (paper)", "4.65", "19.97", "52.92"],
        ["EGAM (paper)", "4.58", "19.60", "52.53"],
    ]
    assert [list(row) for row in pairs.rows] == [
        ["N = 20", "4.50 (n = 1000)", "–", "–"],
        ["N = 50", "5.00 (n = 1000)", "19.50 ± 0.20 (n = 1000)", "–"],
    ]


def test_every_method_of_the_paper_is_one_of_ours():
    titles = {method.title for method in METHODS.values()} | set(paper.TITLES.values())
    assert {row.method for problem in KINDS for row in paper.printed(problem)} <= titles


def test_markdown_and_latex():
    found = Table("A & B", ["Method", "Gap %"], [["x_1", "0.1 ± 0.2"], ["y", "–"]], ["50 % of 8 × 20"], breaks=[1])
    assert found.markdown().splitlines() == [
        *("**A & B**", "", "| Method | Gap % |", "| --- | --- |", "| x_1 | 0.1 ± 0.2 |", "| y | – |"),
        *("", "50 % of 8 × 20"),
    ]
    latex = found.latex()
    assert r"\caption{A \& B}" in latex and r"x\_1 & 0.1 $\pm$ 0.2 \\" in latex and r"50 \% of 8 $\times$ 20" in latex
    assert latex.count(r"\midrule") == 2 and not re.search(r"(?<!\\)%", latex)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("greedy", "greedy"),
        ("8x20", "8 × 20 samples"),
        ("8xdistinct:20@2", "8 × 20 different samples at T = 2"),
        ("distinct:9", "9 different samples"),
        ("sample:1280", "1280 samples"),
        ("0.5s", "0.5 s"),
        ("", ""),
    ],
)
def test_forms_in_print(form, text):
    assert form_of(form) == text
