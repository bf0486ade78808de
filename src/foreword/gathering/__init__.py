"""Layout and workspace in, `Inputs` out: every read happens here."""
