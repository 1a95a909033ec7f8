# Has all files, and some of them with nothing in them.
# found: empty docs/plan.md
# found: empty docs/design.md
. "$CORPUS/common.sh"
work
: >docs/plan.md
printf ' \n\t\n' >docs/design.md
announce docs/plan.md docs/design.md
