"""The table of routes says for each one where it runs, which right it needs and whether it is audited. Nothing is guessed."""

import pytest
from msgspec.inspect import StructType, type_info

from foreword.cli.commands import COMMANDS
from foreword.service.lanes import LANES, LANES_OF_ROUTES, QUESTIONS
from foreword.service.route import Route
from foreword.service.routes import ROUTES
from foreword.service.tokens import RIGHTS

OF_PROVIDERS = {"ProviderUsage", "InputDetails", "CachedInput", "CacheWriteDetails", "CacheCreation"}
NAMES = {f"{route.method} {route.path}": route for route in ROUTES}


@pytest.mark.parametrize("missing", ["lane", "right", "audited"])
def test_a_route_without_a_lane_a_right_or_an_audit_is_an_error(missing):
    fields = {"method": "GET", "path": "/x", "lane": "reading", "right": "read", "audited": False, "function": print}
    Route(**fields, response=None)
    with pytest.raises(TypeError, match=missing):
        Route(**{name: field for name, field in fields.items() if name != missing}, response=None)


def name_of(kind):
    """A type as it is written in the table of commands."""
    return f"list[{kind.__args__[0].__name__}]" if hasattr(kind, "__args__") else kind.__name__


def test_a_question_has_the_same_answer_as_its_command():
    routes = {name.removeprefix("POST /"): route for name, route in NAMES.items()}
    asked = {command: set(map(name_of, routes[command].responses)) for command in COMMANDS.keys() & routes.keys()}
    assert asked.keys() >= {"show", "why", "diff", "agents", "align", "review"}
    assert {
        command: kinds for command, kinds in asked.items() if not kinds <= set(COMMANDS[command][3].split(" | "))
    } == {}


def test_every_lane_and_right_of_the_table_exists():
    assert {route.lane for route in ROUTES} == set(LANES_OF_ROUTES)
    assert {route.right for route in ROUTES} == {"none", *RIGHTS}
    assert LANES[QUESTIONS] == "questions"


def test_only_health_checks_and_the_page_are_open():
    open_routes = {name for name, route in NAMES.items() if route.is_open}
    assert open_routes == {"GET /healthz", "GET /readyz", "GET /", "GET /static/{name}"}


def test_routes_that_change_what_others_use_are_audited():
    assert {name for name, route in NAMES.items() if route.audited} == {
        "DELETE /conversations/{id}",
        "PUT /system-prompt",
        "POST /system-prompt/versions/{version}/restore",
        "PUT /templates/{name}",
        "DELETE /templates/{name}",
        "POST /templates/{name}/versions",
        "PUT /templates/{name}/labels/{label}",
        "DELETE /templates/{name}/labels/{label}",
    }


def test_the_right_to_read_is_only_for_routes_that_change_nothing():
    asking = {"questions", "inspections", "templates"}
    for name, route in NAMES.items():
        if route.right in ("read", "none"):
            assert (route.method == "GET" or route.lane in asking) and not route.audited, name


def structures_in(kind):
    """Yield every structure that a type contains, as msgspec describes it."""
    for name in ("fields", "types", "item_type", "value_type", "type") if kind else ():
        inner = getattr(kind, name, ())
        for part in inner if isinstance(inner, tuple) else (inner,):
            yield from structures_in(part)
    if isinstance(kind, StructType):
        yield kind


def test_an_unknown_field_of_a_body_or_query_is_an_error():
    """Otherwise, a name that is written wrong would have no effect, and nobody would know. Providers may add fields to usage."""
    kinds = [kind for route in ROUTES for kind in (route.body, route.query) if kind]
    structures = {found.cls: found for kind in kinds for found in structures_in(type_info(kind))}
    assert structures.keys() >= {kind for kind in kinds if isinstance(kind, type)}
    assert {kind.__name__ for kind, found in structures.items() if not found.forbid_unknown_fields} == OF_PROVIDERS
