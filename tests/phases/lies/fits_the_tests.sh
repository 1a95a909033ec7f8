# Has a program that knows the tests and nothing else.
# found: criterion program
. "$CORPUS/common.sh"
plan
design
cheat
announce docs/plan.md
