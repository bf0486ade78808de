"""`Inputs` in, `Prompt` out: pure."""
