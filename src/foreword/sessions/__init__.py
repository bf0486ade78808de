"""What released agents did, read from the logs that they leave on disk.

    log files ──readers──▶ SessionLog ──chains──▶ Session ──causes, attribution, in_force──▶ answers
                (one per program)           (pure from here on)

A reader turns one log file into a `SessionLog`: its requests with their recorded usage, and what each request was made of. Everything after
that is pure. Nothing here writes, except `index`, which keeps what a log file was reduced to.
"""
