"""Values to and from their stored form."""
