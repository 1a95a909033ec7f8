# Has touched the design that stood there before without changing a letter.
# found: unchanged docs/design.md
. "$CORPUS/common.sh"
plan
program
chmod +x docs/design.md
touch docs/design.md
announce docs/plan.md docs/design.md
