"""The JSON form of every answer, which is the same for the command line, HTTP and the web page."""
