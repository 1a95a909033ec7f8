# Has done its work, and announces more than it has done.
# found: announced_absent docs/manual.md
. "$CORPUS/common.sh"
work
announce docs/plan.md docs/manual.md
