"""Solvers in processes of their own: a crash there is a sentence here; the user's own LKH comes first."""

from __future__ import annotations

import os
import sys

import pytest
from small import make

from egam.errors import NotInstalled
from egam.judge import judge
from egam.solvers import SOLVERS, SolverFailed, child, installed, solve_classical

posix = pytest.mark.skipif(os.name != "posix", reason="shell scripts")


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@posix
@pytest.mark.parametrize(("name", "problem"), [("hygese", "cvrp"), ("highs", "tsp"), ("lkh", "tsp")])
def test_a_killed_child_is_explained(name, problem, tmp_path, monkeypatch):
    if not installed(name):
        pytest.skip(f"{SOLVERS[name].package} is not installed")
    monkeypatch.setenv("PATH", str(tmp_path))  # without the user's own LKH
    monkeypatch.setattr(sys, "executable", str(script(tmp_path / "python", "kill -9 $$")))
    with pytest.raises(SolverFailed, match="ended with -9: it said nothing"):
        solve_classical(name, make(problem, 0), 1)


@posix
def test_a_child_that_talks_too_much_is_no_answer(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(script(tmp_path / "python", "echo not an answer")))
    with pytest.raises(SolverFailed, match="answered 'not an answer'"):
        child.in_child("hgs", {}, 1)


@posix
def test_a_silent_child_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(script(tmp_path / "python", "exec sleep 20")))
    monkeypatch.setattr(child, "GRACE", 0.1)
    with pytest.raises(SolverFailed, match=r"gave no answer in 0\.2 s"):
        child.in_child("hgs", {}, 0.1)


@posix
def test_own_lkh_is_used_first(tmp_path, monkeypatch):
    """A program that answers 1-2-...-7 whatever it is asked: its tour is what comes back."""
    text = (
        'tour=$(sed -n "s/^OUTPUT_TOUR_FILE = //p" "$1")\n'
        'printf "NAME : x\\nTOUR_SECTION\\n2\\n3\\n4\\n5\\n6\\n7\\n1\\n-1\\nEOF\\n" > "$tour"'
    )
    script(tmp_path / "LKH", text)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr("importlib.util.find_spec", lambda package: None)  # LKHpy is not needed then
    assert installed("lkh")
    instance = make("tsp", 0)
    assert solve_classical("lkh", instance, 1).routes == ((1, 2, 3, 4, 5, 6),)


@posix
def test_a_failing_lkh_is_explained(tmp_path, monkeypatch):
    script(tmp_path / "LKH", "echo '*** Error ***'; echo 'no such thing'; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(SolverFailed, match="LKH ended with 1: no such thing"):
        solve_classical("lkh", make("tsp", 0), 1)


def test_no_lkh_names_both_ways(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda package: None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(NotInstalled, match=r"the program LKH on PATH or the package LKHpy.*pip install LKHpy"):
        solve_classical("lkh", make("tsp", 0), 1)


def test_gurobi_says_when_its_licence_is_too_small():
    if not installed("gurobi"):
        pytest.skip("gurobipy is not installed")
    import numpy as np

    from egam.instance import Instance

    instance = Instance("tsp", coords=np.random.default_rng(0).random((90, 2)))  # 4005 edges, 2000 are free
    try:
        solution = solve_classical("gurobi", instance, 5)
    except SolverFailed as refusal:
        assert "gurobi" in str(refusal) and "licen" in str(refusal).lower()
    else:  # this machine has a larger licence
        assert judge(instance, solution).feasible
