#!/bin/sh
# A check for `foreword effect`: Claude Code does a task in this clone, and the tests say whether it succeeded.
#
#     foreword effect . --arms sections -- /path/to/claude.sh "Fix the failing test in tests/test_cart.py" "make test"
#
# Status 0 is success, 1 is failure, and 2 (the agent itself failed, for example for lack of a key) is no result.
# Claude Code runs every command that it wants to. As root it refuses to, unless IS_SANDBOX=1 says that this is a container.
set -u
task=$1 check=$2
answer=$(claude --print --output-format json --dangerously-skip-permissions "$task") || exit 2
if sh -c "$check" >&2; then score=1; else score=0; fi
printf '%s' "$answer" | SCORE=$score python3 -c '
import json, os, sys
answer = json.load(sys.stdin)
print(json.dumps({"score": int(os.environ["SCORE"]), "cost": answer.get("total_cost_usd")}))
'
