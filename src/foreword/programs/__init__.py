"""Whole programs on top of the engine: proofread, watch, check for stability."""
