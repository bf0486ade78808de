"""The HTTP service. Routes only parse the request, call the library and format the response.

| module | contents |
|---|---|
| `routes.py` | the table of routes, from which the router and the OpenAPI document are built |
| `templates.py`, `conversations.py`, `about.py` | one function per route: a request in, a response out |
| `bodies.py` | the types of request bodies and queries |
| `request.py`, `request_body.py`, `responses.py` | a parsed request, its body, responses and RFC 9457 problems |
| `service.py`, `requested_agents.py` | the resources that routes use: folders, workspaces and conversations; the agents that requests describe |
| `guard.py` | who may send requests: token, host, origin, header size |
| `lanes.py`, `thread_pool.py` | thread pools, so that quick work never waits for slow work |
| `side_process.py`, `inspections.py`, `inspector.py` | other processes for work that would hold this one's interpreter for long |
| `error_problems.py` | converts the library's errors to problems |
| `url_hooks.py` | hooks that are URLs |
| `memory.py` | limits the memory used for bodies and responses |
| `application.py` | handles a request from its first byte to its line in the log |
| `metrics.py`, `log.py` | metrics and the log |
| `openapi.py` | the OpenAPI document |
| `server.py` | starts the processes that listen |
| `uvicorn_adapter.py` | everything that uses uvicorn's private attributes |

The service uses ASGI directly, because a router of thirty lines is all it would need from a framework.
"""
