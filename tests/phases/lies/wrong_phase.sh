# Has done its work, and announces the last phase to be through with all of them.
# found: wrong_number
. "$CORPUS/common.sh"
work
announce docs/plan.md | sed 's/PHASE 1/PHASE 4/'
