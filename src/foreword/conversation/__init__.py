"""Conversations: decide what an event does, keep editions, run hooks, make turns."""
