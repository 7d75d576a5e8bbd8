"""Journals: what was done is known to the next attempt, whatever a kill left behind."""

import pytest

from egam.bench import journal
from egam.errors import BadInput, EgamError


def test_the_next_attempt_knows_what_is_done(tmp_path):
    path = tmp_path / "work.partial"
    with journal.opened(path, {"seconds": 1}) as book:
        assert book.done == {}
        book.add(3, [1.5, "x"])
        book.add(7, None)
    with journal.opened(path, {"seconds": 1}) as book:
        assert book.done == {"3": [1.5, "x"], "7": None}


@pytest.mark.parametrize("cut", [1, 5, 12])
def test_a_line_cut_short_is_dropped(tmp_path, cut):
    path = tmp_path / "work.partial"
    with journal.opened(path, {}) as book:
        book.add(1, "first")
        book.add(2, "second")
    path.write_bytes(path.read_bytes()[:-cut])
    with journal.opened(path, {}) as book:
        assert book.done == {"1": "first"}
        book.add(3, "third")
    with journal.opened(path, {}) as book:
        assert book.done == {"1": "first", "3": "third"}


def test_a_cut_first_line_begins_anew(tmp_path):
    path = tmp_path / "work.partial"
    path.write_bytes(b'{"seco')
    with journal.opened(path, {"seconds": 1}) as book:
        book.add(1, 1)
    with journal.opened(path, {"seconds": 1}) as book:
        assert book.done == {"1": 1}


def test_other_work_is_refused(tmp_path):
    path = tmp_path / "work.partial"
    with journal.opened(path, {"solver": "lkh", "seconds": 1}):
        pass
    with (
        pytest.raises(BadInput, match="was begun with seconds 1, now it is 2"),
        journal.opened(path, {"solver": "lkh", "seconds": 2}),
    ):
        pass


@pytest.mark.parametrize("text", ["[1]\n2\n", "not json\n", '{"a": 1}\n{"b": 2}\n'])
def test_foreign_files_are_refused(tmp_path, text):
    path = tmp_path / "work.partial"
    path.write_text(text)
    with pytest.raises(BadInput), journal.opened(path, {"a": 1}):
        pass
    assert path.read_text() == text


def test_two_at_the_same_work_are_refused(tmp_path):
    pytest.importorskip("fcntl")
    path = tmp_path / "work.partial"
    with (
        journal.opened(path, {}),
        pytest.raises(EgamError, match="another process is at this work"),
        journal.opened(path, {}),
    ):
        pass
