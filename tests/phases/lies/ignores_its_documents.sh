# Writes its documents, and has git ignore them before anybody can read what stands in them.
# found: not_kept docs/plan.md
. "$CORPUS/common.sh"
work
echo 'docs/plan.md' >>.git/info/exclude
announce docs/plan.md
