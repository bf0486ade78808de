"""`foreword align`: find the fewest changes after which every agent reads every instruction exactly once.

    shared files ──find_sources──▶ sources ──propose──▶ proposals ──search──▶ chosen changes
                                                                     │  ▲
                                                    changes in memory▼  │what each agent reads
                                                                   mirrors

`plan.py` connects these. `sources`, `proposals`, `edits` and `search` are pure. `reading` says what each agent reads of the sources, and
`views` asks the mirrors over an overlay of the files. `write` is the only code that changes files.
"""
