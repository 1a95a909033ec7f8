# Has not touched the design that stood there before.
# found: unchanged docs/design.md
. "$CORPUS/common.sh"
plan
program
announce docs/plan.md docs/design.md
