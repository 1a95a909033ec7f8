# Has its plan under a name that only looks the same.
# found: missing docs/plan.md
. "$CORPUS/common.sh"
work
mv docs/plan.md docs/Plan.md
announce docs/plan.md
