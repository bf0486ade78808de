"""The one place that connects gathering and building."""
