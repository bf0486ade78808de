"""Runs the released coding agents and compares what they send with the layouts that mirror them: `make peers`."""
