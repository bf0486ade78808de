"""How many jobs each lane of a service runs at once, how many may wait, and how many of one token."""

import asyncio
import threading
from itertools import count

import pytest

from foreword.service.lanes import BUILDING, HOOKS, INSPECTIONS, QUESTIONS, READING, TEMPLATES, Job, Lanes
from foreword.service.responses import Problem
from foreword.store import waits

NAMES = {
    READING: "foreword-reading",
    BUILDING: "foreword-building",
    QUESTIONS: "foreword-question",
    TEMPLATES: "foreword-template",
    INSPECTIONS: "foreword-inspection",
    HOOKS: "foreword-hook",
}


class Callers:
    def __init__(self, has_several):
        self.has_several = lambda: has_several


def with_lanes(work, callers=None):
    """Call a function with lanes for three templates at a time and five that wait, and a function that submits a job that waits.

    `work` also gets a function that counts the threads of a lane: those of earlier tests may still be running.
    """
    earlier = set(threading.enumerate())

    def threads_of(lane):
        return sum(thread.name.startswith(NAMES[lane]) for thread in set(threading.enumerate()) - earlier)

    async def run():
        lanes, end, begun = Lanes(3, 5, callers), threading.Event(), threading.Semaphore(0)
        futures = []

        def submit(lane, token=""):
            futures.append(lanes.submit(Job(lambda: begun.release() or end.wait(60), token=token), lane))

        try:
            work(lanes, submit, begun, threads_of)
        finally:
            end.set()
            await asyncio.gather(*futures)
            lanes.close()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("lane", "threads", "problem"),
    [
        (READING, 32, None),
        (BUILDING, 8, None),
        (QUESTIONS, 4, "64 questions are already waiting; try again later"),
        (TEMPLATES, 3, "5 templates are already waiting to be rendered; try again later"),
        (INSPECTIONS, 2, "16 inspections are already waiting; try again later"),
        (HOOKS, 32, "128 turns are already waiting for hooks; try again later"),
    ],
)
def test_a_lane_has_some_threads_and_places_to_wait(lane, threads, problem):
    def fill(lanes, submit, begun, threads_of):
        places = threads + int(problem.split()[0]) if problem else 200
        for _ in range(places):
            submit(lane)
        assert threads_of(lane) == threads
        if problem:
            with pytest.raises(Problem) as raised:
                submit(lane)
            assert (raised.value.kind, str(raised.value.detail)) == ("busy", problem)

    with_lanes(fill)


@pytest.mark.parametrize(
    ("lane", "alone", "among_others"),
    [(READING, 32, 1), (BUILDING, 8, 1), (QUESTIONS, 4, 1), (TEMPLATES, 3, 1), (INSPECTIONS, 2, 1)],
)
@pytest.mark.parametrize("has_several", [False, True])
def test_a_token_uses_all_threads_of_a_lane_only_while_it_is_alone(lane, alone, among_others, has_several):
    def fill(lanes, submit, begun, threads_of):
        for _ in range(alone + 1 if lane in (READING, BUILDING) else alone):
            submit(lane, "a")
        assert threads_of(lane) == (among_others if has_several else alone)

    with_lanes(fill, Callers(has_several))


def test_a_lane_is_free_while_fewer_than_sixteen_jobs_wait():
    def fill(lanes, submit, begun, threads_of):
        for _ in range(8):
            submit(BUILDING)
        assert all(begun.acquire(timeout=60) for _ in range(8))
        waiting = count()
        while lanes.is_free(BUILDING):
            submit(BUILDING)
            next(waiting)
        assert (next(waiting), lanes.counts()["building"]) == (16, 16)

    with_lanes(fill)


def test_a_job_shares_what_was_checked_after_its_request_arrived():
    jobs = [Job(lambda: waits.is_checked(5.0), arrived=time) for time in (4.0, 6.0)]
    assert [job.run(BUILDING) for job in (*jobs, Job(lambda: waits.is_checked(5.0)))] == [True, False, False]
