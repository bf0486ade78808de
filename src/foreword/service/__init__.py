"""The HTTP face: routes that parse, call and answer. No decision lives here.

| module | what |
|---|---|
| `routes.py` | the table of routes, from which the router and the description are made |
| `templates.py`, `conversations.py`, `about.py` | what each route does: a call in, an answer out |
| `bodies.py` | what a request may say |
| `answers.py` | answers, and problems as a person reads them |
| `service.py` | what a request may reach: folders, workspaces, agents, conversations |
| `guard.py` | who may ask: token, host, origin, sizes |
| `connection.py` | what a connection may send before it is a request, and how long it may take to read |
| `lanes.py` | which threads do what, so that nothing quick waits behind something slow |
| `budget.py` | how many bytes of bodies and answers are held at the same time |
| `application.py` | one request from its first byte to its line in the log |
| `metrics.py`, `log.py` | what happened, for machines and for people |
| `openapi.py` | the description of the service |
| `server.py` | the processes that listen |

Written straight on ASGI: it needs a router of thirty lines and no framework.
"""
