"""Conversations: decide what an event does, publish editions, run hooks and create turns.

| module | contents |
|---|---|
| `conversations.py`, `conversation.py` | the two public classes: opening conversations, and the methods of one |
| `shared.py` | what the conversations of one process share |
| `decide.py`, `state.py`, `tools.py`, `notices.py` | pure: the steps for events, the stored state, tool definitions, added messages |
| `transitions.py` | carries out what `decide.py` decided |
| `editions.py` | the edition in use: read, publish, update, and continue while the store is down |
| `builder.py`, `assembling.py`, `contributions.py`, `agents.py` | build an edition: from which layout and inputs, for which agent |
| `turns.py`, `hooks.py`, `sub_agents.py`, `leading.py`, `accounts.py` | what is sent to the model |
| `touch.py`, `touching.py` | the instructions for files that the agent touches |
"""
