"""Convert values to and from their stored form."""
