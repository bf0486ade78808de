"""Services and a separate PostgreSQL server for tests that kill them."""

import importlib.util
import uuid
from pathlib import Path

import psycopg
import pytest

HERE = Path(__file__).parent


def load(name):
    spec = importlib.util.spec_from_file_location(f"machines_{name}", HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


machine = load("machine")


@pytest.fixture(scope="session")
def tools():
    """The module `machine.py`."""
    return machine


@pytest.fixture(scope="session")
def database():
    """A PostgreSQL server that these tests may stop and freeze, as long as they resume it."""
    server = machine.database()
    yield server
    server.close()


@pytest.fixture(scope="module")
def postgres_url(database):
    """The URL of a store that is empty when the first test of a module begins."""
    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return database.url.replace("/postgres?", f"/{name}?")


@pytest.fixture(scope="module")
def top(tmp_path_factory):
    """The folder of the services, with a workspace `w` and a home directory `home`."""
    return tmp_path_factory.mktemp("machines")


@pytest.fixture
def start_service(top):
    """`start_service(store, *options)` returns a running service for one test; all share one workspace."""
    yield from _start_services(top)


@pytest.fixture(scope="module")
def start_shared_service(top):
    """Like `start_service`, for all tests of a module."""
    yield from _start_services(top)


def _start_services(top):
    machines = []

    def start_service(store, *options, wait=True):
        machines.append(machine.Machine(top, store, *options, name=f"machine-{uuid.uuid4().hex}"))
        return machines[-1].start(wait)

    yield start_service
    for running in machines:
        running.close()
