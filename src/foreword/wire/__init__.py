"""The forms of answers: what the command line, HTTP and the page print."""
