"""Counts how deep a command's calls nest, and how many modules of Foreword it runs and loads:

.venv/bin/python tests/frames.py show .
"""

import sys


class Depth:
    """The deepest stack of frames in this package, and the modules with a function that runs. Imports do not count."""

    def __init__(self):
        self.stack = []
        self.modules = set()

    def __call__(self, frame, event, _):
        if event != "call":
            return
        stack = []
        while frame is not None:
            package, _, name = frame.f_code.co_filename.rpartition("/foreword/")
            if package and frame.f_code.co_name == "<module>":
                return
            if package:
                stack.append(f"{name}:{frame.f_lineno} {frame.f_code.co_qualname}")
            frame = frame.f_back
        self.modules.update(line.partition(":")[0] for line in stack[:1])
        if len(stack) > len(self.stack):
            self.stack = stack


def main():
    from foreword.cli import main as run

    depth = Depth()
    sys.setprofile(depth)
    try:
        status = run(sys.argv[1:])
    finally:
        sys.setprofile(None)
    loaded = [name for name in sys.modules if name.startswith("foreword")]
    counts = f"{len(depth.stack)} frames, {len(depth.modules)} modules run, {len(loaded)} loaded"
    print(*reversed(depth.stack), counts, sep="\n", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
