"""The JSON of every answer, the same for the command line, HTTP and the page."""
