"""Analyses finished prompts: how they differ, what caching costs, and which files each agent reads."""
