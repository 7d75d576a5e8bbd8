"""Who waits and who is solved together. The work here is adding numbers: order and companions are what counts."""

import threading
import time

import pytest

from egam.serve.batching import Job, Lane
from egam.serve.limits import Refusal


class Adder:
    """Adds 1 to each task, remembers its batches, and waits at a gate while it is shut."""

    def __init__(self):
        self.batches, self.gate, self.begun = [], threading.Event(), threading.Event()
        self.gate.set()

    def __call__(self, jobs):
        self.begun.set()
        self.gate.wait(10)
        self.batches.append([job.task for job in jobs])
        if any(job.task == "bad" for job in jobs):
            raise ValueError("bad")
        return [job.task + 1 for job in jobs]


@pytest.fixture
def adder():
    return Adder()


@pytest.fixture
def lane(adder):
    lane = Lane("test", adder, longest=6, heaviest=100, largest_batch=4, window=0.05)
    yield lane
    adder.gate.set()
    assert lane.close(10)


def answers(jobs):
    return [job.answer.result(10) for job in jobs]


def blocked(lane, adder):
    """Keep the thread busy until the gate opens."""
    adder.gate.clear()
    adder.begun.clear()
    job = Job(0)
    lane.put([job])
    assert adder.begun.wait(10)
    return job


def test_jobs_that_arrive_together_are_one_batch(lane, adder):
    jobs = [Job(k, key="same") for k in range(3)]
    for job in jobs:
        lane.put([job])
    assert answers(jobs) == [1, 2, 3]
    assert adder.batches == [[0, 1, 2]]


def test_batches_hold_one_key_and_no_more_than_allowed(lane, adder):
    first = blocked(lane, adder)
    jobs = [Job(k, key=k % 2) for k in (10, 11, 12, 13, 14, 16)]
    lane.put(jobs)
    adder.gate.set()
    assert answers([first, *jobs]) == [1, 11, 12, 13, 14, 15, 17]
    # the oldest and its like, at most four of them; then the odd ones
    assert adder.batches == [[0], [10, 12, 14, 16], [11, 13]]


def test_jobs_that_take_long_make_small_batches(lane, adder):
    first = blocked(lane, adder)
    jobs = [Job(k, key="same", together=2) for k in (1, 2, 3)]
    lane.put(jobs)
    adder.gate.set()
    assert answers([first, *jobs]) == [1, 2, 3, 4]
    assert adder.batches == [[0], [1, 2], [3]]


def test_a_lone_job_waits_no_longer_than_the_window(lane):
    began = time.monotonic()
    job = Job(1, key="only")
    lane.put([job])
    assert job.answer.result(10) == 2
    assert 0.04 < time.monotonic() - began < 5


def test_jobs_without_a_key_wait_for_nobody(adder):
    lane = Lane("alone", adder, longest=6, largest_batch=4, window=30)
    jobs = [Job(1), Job(2)]
    lane.put(jobs)
    assert answers(jobs) == [2, 3] and adder.batches == [[1], [2]]
    assert lane.close(10)


def test_a_full_queue_takes_all_or_none(lane, adder):
    blocked(lane, adder)
    lane.put([Job(k) for k in range(4)])
    with pytest.raises(Refusal, match=r"^4 of at most 6 places in the queue are taken and 3 are needed$") as caught:
        lane.put([Job(k) for k in range(3)])
    assert caught.value.status == 429 and caught.value.retry_after >= 1
    assert lane.waiting == 4
    urgent = Job(50)
    lane.put([urgent], first=True)  # goes ahead, whatever the length
    adder.gate.set()
    assert urgent.answer.result(10) == 51
    assert adder.batches[1] == [50]


def test_long_jobs_fill_the_queue_sooner(lane, adder):
    blocked(lane, adder)
    lane.put([Job(1, weight=80)])
    with pytest.raises(Refusal, match="take long wait already"):
        lane.put([Job(2, weight=30)])
    lane.put([Job(3, weight=20)])


def test_nobody_waits_for_stopped_jobs(lane, adder):
    running = blocked(lane, adder)
    jobs = [Job(k, key="same") for k in range(3)]
    lane.put(jobs)
    lane.forget([running, jobs[1]])
    assert lane.waiting == 2 and jobs[1].answer.cancelled()
    assert running.stopped.is_set()  # what runs is asked to end, and looks at this
    adder.gate.set()
    assert answers([jobs[0], jobs[2]]) == [1, 3]
    assert adder.batches == [[0], [0, 2]]


def test_an_error_hits_only_the_job_that_causes_it(lane, adder):
    jobs = [Job(1, key="same"), Job("bad", key="same"), Job(3, key="same")]
    lane.put(jobs)
    assert answers([jobs[0], jobs[2]]) == [2, 4]
    with pytest.raises(ValueError, match="bad"):
        jobs[1].answer.result(10)
    after = Job(7, key="same")
    lane.put([after])
    assert after.answer.result(10) == 8  # the thread lives on


def test_threads_share_what_waits():
    begun, gate, sizes = threading.Semaphore(0), threading.Event(), []

    def solve(jobs):
        sizes.append(len(jobs))
        begun.release()
        gate.wait(10)
        return [job.task for job in jobs]

    lane = Lane("shared", solve, longest=20, largest_batch=16, window=0.05, workers=2)
    jobs = [Job(k, key="same") for k in range(6)]
    lane.put(jobs)
    assert begun.acquire(timeout=10) and begun.acquire(timeout=10)  # both are at work at the same time
    assert sizes == [3, 3] and lane.at_work == 2
    gate.set()
    assert answers(jobs) == list(range(6))
    assert lane.close(10) and lane.at_work == 0


def test_closing_finishes_what_is_there_and_takes_nothing_more(adder):
    lane = Lane("closing", adder, longest=6)
    running = blocked(lane, adder)
    waiting = Job(5)
    lane.put([waiting])
    assert not lane.close(0.05) and lane.busy
    with pytest.raises(Refusal) as caught:
        lane.put([Job(6)])
    assert caught.value.status == 503
    adder.gate.set()
    assert lane.close(10) and not lane.busy
    assert answers([running, waiting]) == [1, 6]
