"""Connects settings, layouts, gathering and building. No other package calls both `gather` and `build`."""
