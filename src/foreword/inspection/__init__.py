"""Questions asked of finished prompts. Everything here is pure."""
