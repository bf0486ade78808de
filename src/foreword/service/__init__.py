"""The HTTP service. Routes parse a request, call the library and format the response; they decide nothing.

| module | contents |
|---|---|
| `routes.py` | the table of routes, from which the router and the OpenAPI document are built |
| `templates.py`, `conversations.py`, `about.py` | one function per route: a request in, a response out |
| `bodies.py` | the types of request bodies and queries |
| `request.py`, `responses.py` | a parsed request; responses and RFC 9457 problems |
| `service.py` | what a request can reach: folders, workspaces, agents, conversations |
| `guard.py` | who may send requests: token, host, origin, header size |
| `lanes.py` | thread pools, so that quick work never waits for slow work |
| `memory.py` | limits the bytes of bodies and responses in memory |
| `application.py` | one request from its first byte to its line in the log |
| `metrics.py`, `log.py` | what happened, for machines and for people |
| `openapi.py` | the OpenAPI document |
| `server.py` | the processes that listen |
| `uvicorn_adapter.py` | everything that relies on uvicorn's private parts |

Written directly on ASGI: it needs a router of thirty lines, not a framework.
"""
