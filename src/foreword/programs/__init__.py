"""Programs on top of the engine: answer questions, lint, watch, and check stability."""
