#!/bin/sh
# A check for `foreword effect`: Gemini CLI does a task in this clone, and the tests say whether it succeeded.
#
#     foreword effect . --arms sections -- /path/to/gemini.sh "Fix the failing test in tests/test_cart.py" "make test"
#
# Status 0 is success, 1 is failure, and 2 (the agent itself failed) is no result.
set -u
task=$1 check=$2
# The clone is a new folder, which Gemini CLI does not trust by itself.
GEMINI_CLI_TRUST_WORKSPACE=true gemini --yolo --prompt "$task" >&2 || exit 2
sh -c "$check" >&2 && exit 0
exit 1
