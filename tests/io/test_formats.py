"""The doors: how formats are told apart, standard input and output, options, round trips, damaged files."""

from __future__ import annotations

import io as stdio
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from damage import damaged
from hypothesis import given, settings
from hypothesis import strategies as st

import egam
from egam import io
from egam.errors import BadInput
from egam.instance import KINDS, PER_NODE, SCALARS, Instance
from egam.metric import METRICS, ON_THE_GLOBE

SQUARE = (
    "NAME : s\nTYPE : TSP\nDIMENSION : 3\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 0 9\n3 9 9\nEOF\n"
)
STOPS = "x,y\n0,0\n0,9\n9,9\n"
OBJECT = '{"problem": "tsp", "coords": [[0, 0], [0, 9], [9, 9]]}'


@pytest.mark.parametrize("name", ["a.tsp", "a.csv", "a.json", "a.txt", "a", "a.sol"])
def test_content_comes_before_the_suffix(name):
    for text in (SQUARE, STOPS, OBJECT):
        assert io.parse(text, name).coords.tolist() == [[0, 0], [0, 9], [9, 9]]


def test_a_format_can_be_forced():
    with pytest.raises(BadInput, match=r"^a.tsp:1: unknown column"):
        io.parse(SQUARE, "a.tsp", format="csv")
    with pytest.raises(BadInput, match=r"unknown format 'tsp'.*accepted: tsplib, solomon, csv, matrix, json, osrm"):
        io.parse(SQUARE, "a.tsp", format="tsp")
    with pytest.raises(BadInput, match=r"unknown problem 'tps'"):
        io.parse(SQUARE, "a.tsp", "tps")


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("a.tsp", "", "a.tsp: is empty"),
        ("a.tsp", " \n\n\t", "a.tsp: is empty"),
        ("a.tsp", "\ufeff", "a.tsp: is empty"),
        ("a.tsp", "TYPE\0", "a.tsp:1: is a binary file; text is expected"),
        ("a.png", "what is this", "a.png: looks like no format that is known here; name one of tsplib, solomon, csv"),
        ("a.vrp", "Route #1: 1 2\nCost 3\n", "a.vrp: is a solution, not an instance; read_solution reads it"),
        (
            "a.tour",
            "TYPE : TOUR\nTOUR_SECTION\n1\n-1\n",
            "a.tour:1: is a tour, not an instance; read_solution reads it",
        ),
    ],
)
def test_files_that_are_no_instances(name, text, sentence):
    with pytest.raises(BadInput) as refusal:
        io.parse(text, name)
    assert str(refusal.value).startswith(sentence)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00", ":1: is not text in UTF-8, or a binary file; save it as UTF-8"),
        (
            "name,x,y\nZ\u00fcrich,1,2\n".encode("latin-1"),
            ":2: is not text in UTF-8, or a binary file; save it as UTF-8",
        ),
        (b"", ": is empty"),
    ],
)
def test_bytes_that_are_no_text(tmp_path, data, sentence):
    path = tmp_path / "a.csv"
    path.write_bytes(data)
    with pytest.raises(BadInput) as refusal:
        io.read(path)
    assert str(refusal.value).startswith(f"{path}{sentence}")


def test_excels_unicode_text_is_read(tmp_path):
    (tmp_path / "a.csv").write_bytes("name\tx\ty\nZürich\t1\t2\nBern\t3\t4\nGenf\t5\t6\n".encode("utf-16"))
    assert io.read(tmp_path / "a.csv").names == ("Zürich", "Bern", "Genf")


def test_paths_that_cannot_be_read(tmp_path):
    with pytest.raises(BadInput, match=f"^{re.escape(str(tmp_path))}/none.tsp: cannot be read: No such file"):
        io.read(tmp_path / "none.tsp")
    with pytest.raises(BadInput, match=f"^{re.escape(str(tmp_path))}: cannot be read: Is a directory"):
        io.read(tmp_path)
    with pytest.raises(BadInput, match=r"cannot be read: embedded null byte"):
        io.read("a\0b")


def test_paths_that_cannot_be_written(tmp_path):
    instance = io.parse(SQUARE, "a.tsp")
    with pytest.raises(BadInput, match=r"a.tsp: cannot be written, as there is no folder .*none$"):
        io.write(instance, tmp_path / "none" / "a.tsp")
    with pytest.raises(
        BadInput, match=r"a.txt: the suffix '.txt' is none that instances are written with; accepted: .tsp"
    ):
        io.write(instance, tmp_path / "a.txt")
    with pytest.raises(BadInput, match=r"solomon is read only; instances are written as tsplib, csv, json"):
        io.write(instance, tmp_path / "a.txt", format="solomon")
    with pytest.raises(BadInput, match=r"a format is needed for standard output; accepted: tsplib"):
        io.write(instance, "-")
    assert list(tmp_path.iterdir()) == []


def test_standard_input_and_output():
    code = "import egam; egam.write(egam.read('-'), '-', 'csv')"
    done = subprocess.run([sys.executable, "-c", code], input=SQUARE, capture_output=True, text=True)
    assert done.stdout == "# problem = tsp\n# name = s\n# rounding = EUC_2D\nx,y\n0,0\n0,9\n9,9\n"
    done = subprocess.run([sys.executable, "-c", code], input="TYPE : x", capture_output=True, text=True)
    assert "BadInput: stdin: DIMENSION is missing" in done.stderr


def test_standard_input_is_called_stdin(monkeypatch):
    monkeypatch.setattr(sys, "stdin", stdio.TextIOWrapper(stdio.BytesIO(STOPS.encode())))
    assert io.read("-").name == "stdin"


def test_an_option_that_a_format_has_no_use_for_is_refused():
    with pytest.raises(
        BadInput, match=r"^a.tsp: capacity is given, but is of no use with tsplib files; with csv it is$"
    ):
        io.parse(SQUARE, "a.tsp", capacity=3)
    with pytest.raises(
        BadInput, match=r"^a.tsp: measure is given, but is of no use with tsplib files; with csv and osrm"
    ):
        io.parse(SQUARE, "a.tsp", measure="distances")


def test_the_package_reads_and_writes(tmp_path):
    instance = io.parse(SQUARE, "a.tsp")
    egam.write(instance, tmp_path / "a.json")
    assert egam.read(tmp_path / "a.json") == instance


def test_reading_brings_no_torch():
    code = "import sys, egam; egam.read('-'); assert 'torch' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], input=SQUARE, text=True).returncode == 0


# --- read(write(x)) = x


words = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=6)
texts = st.lists(words, min_size=1, max_size=3).map(" ".join)
numbers = st.floats(-1e15, 1e15) | st.integers(-1000, 1000).map(float)
amounts = st.floats(0, 1e15) | st.integers(0, 1000).map(float)
above_0 = st.floats(1e-9, 1e15) | st.integers(1, 1000).map(float)


@st.composite
def instances(draw, matrix=True):
    problem, size = draw(st.sampled_from(list(KINDS))), draw(st.integers(3, 6))

    def rows(values, columns=1):
        flat = np.array(draw(st.lists(values, min_size=size * columns, max_size=size * columns)))
        return flat if columns == 1 else flat.reshape(size, columns)

    fields: dict = {"names": tuple(draw(st.lists(texts, min_size=size, max_size=size, unique=True)))}
    if draw(st.booleans()):
        del fields["names"]
    globe = draw(st.booleans())
    fields["coords"] = rows(st.floats(-90, 90), 2) if globe else rows(numbers, 2)
    fields["geographic"] = globe
    shape = draw(st.sampled_from(["plain", "rounded", "matrix", "matrix only"] if matrix else ["plain", "rounded"]))
    if shape == "rounded":
        fields["rounding"] = draw(st.sampled_from([name for name in METRICS if (name in ON_THE_GLOBE) == globe]))
    if shape.startswith("matrix"):
        fields["matrix"] = rows(amounts, size)
    if shape == "matrix only":
        fields |= {"coords": None, "geographic": False}
    for field in KINDS[problem].fields:
        if field in SCALARS:
            fields[field] = draw(above_0)
        elif field == "window":
            fields[field] = np.sort(rows(numbers, 2), axis=1)
        else:
            fields[field] = rows(amounts, PER_NODE[field])
            fields[field][0] *= field == "draft_limit"
    if problem == "cvrp":
        fields["capacity"] = max(fields["capacity"], fields["demand"].max())
    notes = tuple(draw(st.lists(texts, max_size=2)))
    return Instance(problem, name=draw(texts), notes=notes, **fields)


@pytest.mark.parametrize("format", ["tsplib", "json"])
@settings(max_examples=120, deadline=None, derandomize=True)
@given(data=st.data())
def test_what_is_written_reads_back_the_same(format, data):
    instance = data.draw(instances())
    assert io.parse(io.dump(instance, format), "other name") == instance


@settings(max_examples=120, deadline=None, derandomize=True)
@given(instance=instances(matrix=False))
def test_what_is_written_as_csv_reads_back_the_same(instance):
    assert io.parse(io.dump(instance, "csv"), "other name") == instance


@settings(max_examples=60, deadline=None, derandomize=True)
@given(instance=instances())
def test_dicts_read_back_the_same_without_a_name_too(instance):
    for given_name in (instance, replace(instance, name="")):
        assert io.instance_from_dict(io.instance_to_dict(given_name)) == given_name


@pytest.mark.parametrize("suffix", [".tsp", ".vrp", ".json", ".csv"])
def test_files_read_back_the_same(tmp_path, suffix):
    instance = Instance.cvrp(
        [[0, 0], [1, 2], [3, 4.5]], demand=[0, 1, 2], capacity=2.5, names=["Å", "b", "c"], name="x"
    )
    io.write(instance, tmp_path / f"a{suffix}")
    assert io.read(tmp_path / f"a{suffix}") == instance


# --- damaged files


def check_damaged(files, tmp_path, copies: int) -> None:
    rng, read, refused = np.random.default_rng(20240501), 0, 0
    for _ in range(copies):
        original = files[rng.integers(len(files))]
        path = tmp_path / original.name
        path.write_bytes(damaged(original.read_bytes(), rng))
        options = {"problem": "tsptw", "speed": 8.0} if original.name == "van.csv" else {}
        try:
            instance = io.read(path, **options)
        except BadInput as refusal:
            refused += 1
            assert str(refusal).startswith(str(path))
            assert "\n" not in str(refusal) and len(str(refusal)) < 600
        else:
            read += 1
            assert np.isfinite(instance.travel).all() and (instance.travel >= 0).all()
    assert read > copies / 50 and refused > copies / 2


def test_damaged_published_files_are_refused_or_read(published, tmp_path):
    files = [path for pattern in ("*/*.tsp", "*/*.vrp", "solomon/*.txt") for path in sorted(published.glob(pattern))]
    check_damaged(files, tmp_path, 500)


def test_damaged_examples_are_refused_or_read(examples, tmp_path):
    check_damaged(sorted(examples.iterdir()), tmp_path, 500)


def test_damaged_solutions_are_refused_or_read(tmp_path):
    instance = Instance.cvrp(
        np.arange(24).reshape(12, 2), demand=[0] + [1] * 11, capacity=5, names=list("abcdefghijkl")
    )
    plan = egam.Solution.of([[3, 1, 2], [4, 5, 6, 7], [11, 10, 9, 8]])
    rng, read = np.random.default_rng(3), 0
    for format in ("sol", "tour", "json"):
        text = io.dump_solution(plan, instance, format).encode()
        for _ in range(200):
            path = tmp_path / f"plan.{format}"
            path.write_bytes(damaged(text, rng))
            try:
                solution = io.read_solution(path, instance)
            except BadInput as refusal:
                assert str(refusal).startswith(str(path))
            else:
                read += 1
                assert egam.judge(instance, solution).length >= 0
    assert read > 50
