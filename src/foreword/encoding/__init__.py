"""Values to and from the form in which they are kept."""
