"""Async forms of methods, for programs with an event loop: the same method, in a thread."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any, Concatenate, ParamSpec, TypeVar

    Owner = TypeVar("Owner")
    Parameters = ParamSpec("Parameters")
    Result = TypeVar("Result")


def in_thread(
    method: Callable[Concatenate[Owner, Parameters], Result],
) -> Callable[Concatenate[Owner, Parameters], Coroutine[Any, Any, Result]]:
    """Return an async method that runs this one in a thread, so that the event loop does not wait for files and the store.

    If the task is cancelled, the method still runs to its end, as it would in a synchronous program that does not use its result.
    """

    async def in_a_thread(owner: Owner, /, *args: Parameters.args, **options: Parameters.kwargs) -> Result:
        from asyncio import to_thread

        return await to_thread(method, owner, *args, **options)

    in_a_thread.__name__ = f"a{method.__name__}"
    in_a_thread.__qualname__ = f"{method.__qualname__.rpartition('.')[0]}.{in_a_thread.__name__}"
    in_a_thread.__doc__ = f"Do the same as `{method.__name__}` in a thread, for async code."
    in_a_thread.__wrapped__ = method  # type: ignore[attr-defined]  # for signatures
    return in_a_thread
