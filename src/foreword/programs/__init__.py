"""Programs on top of the engine: answer questions, proofread, watch, check stability."""
