"""The figures of a process at one moment: its store, queues, sandbox and memory."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..engine import sandbox

if TYPE_CHECKING:
    from .lanes import Lanes
    from .memory import MemoryLimit
    from .retention import Retention
    from .service import Service
    from .store_watch import StoreWatch
    from .streams import Streams

# The figures that are sampled, each with its name in Prometheus, its kind and what it means. Those of all processes are added up, except times.
GAUGES = {
    "store_down": ("foreword_store_down", "gauge", "Processes that currently cannot use the store"),
    "pruning": ("foreword_pruning", "gauge", "Processes that are currently removing old conversations"),
    "pruned_at": (
        "foreword_pruned_timestamp_seconds",
        "gauge",
        "When old conversations were last removed, or 0 if they are kept",
    ),
    "pool_size": ("foreword_store_connections", "gauge", "Open connections to the database server"),
    "pool_available": ("foreword_store_idle_connections", "gauge", "Connections to the database server that are idle"),
    "requests_waiting": ("foreword_store_waiting", "gauge", "Calls that are waiting for a connection"),
    "reading": ('foreword_waiting_jobs{lane="reading"}', "gauge", "Requests waiting for a thread, by lane"),
    "building": ('foreword_waiting_jobs{lane="building"}', "gauge", ""),
    "questions": ('foreword_waiting_jobs{lane="questions"}', "gauge", ""),
    "templates": ('foreword_waiting_jobs{lane="templates"}', "gauge", ""),
    "inspections": ('foreword_waiting_jobs{lane="inspections"}', "gauge", ""),
    "cached_editions": ("foreword_store_cached_editions", "gauge", "Editions in the memory of the processes"),
    "cache_hits": ("foreword_store_cache_hits_total", "counter", "Reads of a current edition that was in memory"),
    "cache_misses": (
        "foreword_store_cache_misses_total",
        "counter",
        "Reads of a current edition that was not in memory",
    ),
    "sandbox_idle": (
        'foreword_sandbox_processes{state="idle"}',
        "gauge",
        "Processes that render untrusted templates, by state",
    ),
    "sandbox_busy": ('foreword_sandbox_processes{state="busy"}', "gauge", ""),
    "sandbox_requests": (
        "foreword_sandbox_requests_total",
        "counter",
        "Requests to render or check untrusted templates",
    ),
    "sandbox_ended": (
        "foreword_sandbox_ended_total",
        "counter",
        "Such requests that ended their process: by a limit, a crash or a client that disconnected",
    ),
    "streams": ("foreword_event_streams", "gauge", "Open event streams"),
    "in_flight_bytes": ("foreword_in_flight_bytes", "gauge", "Memory used by requests and responses in flight"),
    "processes": ("foreword_processes", "gauge", "Worker processes"),
    "cpu_seconds": ("process_cpu_seconds_total", "counter", "CPU time of the worker processes"),
    "resident_bytes": ("process_resident_memory_bytes", "gauge", "Resident memory of the worker processes"),
    "open_files": ("process_open_fds", "gauge", "Open file descriptors of the worker processes"),
}
# Times, of which the latest of all processes counts.
LATEST = ("pruned_at",)
STARTED = time.time()


def sample(
    service: Service,
    lanes: Lanes,
    memory: MemoryLimit,
    watch: StoreWatch,
    streams: Streams,
    retention: Retention | None = None,
) -> dict[str, float]:
    """Return this process's figures."""
    times = os.times()
    store = service.conversations.store
    pool: Mapping[str, int] = store.pool_counts()
    return {
        "store_down": watch.is_down,
        "pruning": retention is not None and retention.is_working,
        "pruned_at": 0 if retention is None else retention.last_end,
        **{name: pool.get(name, 0) for name in ("pool_size", "pool_available", "requests_waiting")},
        **lanes.counts(),
        **store.cache_counts(),
        **sandbox.counts(),
        "streams": len(streams),
        "in_flight_bytes": memory.used,
        "processes": 1,
        "cpu_seconds": times.user + times.system,
        "resident_bytes": _resident_bytes(),
        "open_files": _open_files(),
    }


def _resident_bytes() -> int:
    """Return the resident memory, or 0 if the system does not report it."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _open_files() -> int:
    try:
        return len(os.listdir("/proc/self/fd"))
    except OSError:
        return 0
