"""Solomon's format by hand: three customers, service times folded into travel, every fault with its line."""

from __future__ import annotations

import pytest

from egam import io
from egam.errors import BadInput
from egam.judge import judge
from egam.solution import Solution

TEXT = """three

VEHICLE
NUMBER     CAPACITY
   2         20

CUSTOMER
CUST NO.  XCOORD.   YCOORD.    DEMAND   READY TIME  DUE DATE   SERVICE   TIME

    0      0          0          0          0        100          0
    1      3          4         10          0         20          7
    2      3          0         10         16         17          5
    3      0          0          5          0         25          1
"""


def test_service_takes_time_before_the_way_on():
    instance = io.parse(TEXT, "three.txt")
    assert (instance.problem, instance.name, instance.size) == ("vrptw", "three", 4)
    assert instance.travel.tolist() == [[0, 5, 3, 0], [12, 0, 11, 12], [8, 9, 0, 8], [1, 6, 4, 0]]
    # to 1 at 5, served until 12, to 2 at 16, served until 21, to 3 at 24
    verdict = judge(instance, Solution.of([[1, 2, 3]]))
    assert verdict.arrivals == (5, 16, 24)
    assert verdict.cost == 0


def test_what_the_variant_lacks_is_noted():
    assert io.parse(TEXT, "three.txt").notes == (
        "one vehicle instead of 2, and it may come home after the depot has closed",
        "DEMAND is left out: vrptw has no use for it",
        "CAPACITY is left out: vrptw has no use for it",
        "service times, 13 in all, are part of the travel times that leave a stop",
    )


def test_it_can_be_read_as_cvrp():
    instance = io.parse(TEXT, "three.txt", "cvrp")
    assert instance.capacity == 20
    assert instance.demand.tolist() == [0, 10, 10, 5]
    assert instance.travel[1, 2] == 4
    assert instance.notes == (
        "the number of vehicles, 2, is left out: the number of routes is free in cvrp",
        "READY TIME and DUE DATE is left out: cvrp has no use for it",
        "service times are left out: cvrp has no clock",
    )


@pytest.mark.parametrize(
    ("old", "new", "line", "sentence"),
    [
        ("three\n", "three\nfour\n", 2, "VEHICLE is expected after the name of the instance"),
        ("NUMBER ", "COUNT ", 4, "NUMBER CAPACITY is expected; found 'COUNT CAPACITY'"),
        ("   2   ", "   two   ", 5, "NUMBER is 'two'; a whole number is expected"),
        ("   2         20", "   2", 5, "1 words stand under NUMBER and CAPACITY; two numbers are expected"),
        ("CUSTOMER", "CLIENT", 7, "CUSTOMER is expected; found 'CLIENT'"),
        ("   2      3 ", "   3      3 ", 12, "CUST NO. is 3; 2 is expected, as rows are numbered from 0 on"),
        ("   16 ", "   18 ", 12, "window of node 2 ends at 17, before it starts at 18"),
        ("   16 ", "   1x ", 12, "READY TIME of node 2 is '1x'; a number is expected"),
        (
            "17          5",
            "17",
            12,
            "a customer has 6 numbers; CUST NO., XCOORD., YCOORD., DEMAND, READY TIME, DUE DATE",
        ),
        ("17          5", "17         -5", 12, "SERVICE TIME of node 2 is -5; 0 or more is accepted"),
        (
            "    3      0          0          5",
            "    3      0          0          5 6 7",
            13,
            "a customer has 9 numbers",
        ),
        (TEXT[TEXT.index("CUSTOMER\n") :], "", None, "ends before CUSTOMER; the file is cut off"),
        (TEXT[TEXT.index("    2      3") :], "", None, "has 2 nodes; 3 or more are needed"),
    ],
)
def test_each_fault_has_its_line_and_sentence(old, new, line, sentence):
    assert old in TEXT
    with pytest.raises(BadInput) as refusal:
        io.parse(TEXT.replace(old, new, 1), "three.txt")
    place = "three.txt" if line is None else f"three.txt:{line}"
    assert str(refusal.value).startswith(f"{place}: {sentence}")
