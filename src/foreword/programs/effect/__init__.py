"""`foreword effect`: does an instruction change what an agent achieves?

    texts ──arms──▶ Arm, …   ──advance(design, runs)──▶ what to run next, and the rows of the report
                                    ▲        │
                       results file │        ▼ a clone for each run
                                    └── the user's command

`arms`, `statistics`, `design`, `stages`, `report`, `markdown` and `picture` are pure. Files are written only by `clones`, in a temporary
folder, and by `results`. Processes are started only by `runs` and `clones`. Foreword itself never calls a model.
"""
