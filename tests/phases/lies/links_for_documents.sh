# Has links in place of documents, to something that is there.
# found: not_kept docs/plan.md
. "$CORPUS/common.sh"
work
mkdir -p build
mv docs/plan.md build/plan.md
ln -s ../build/plan.md docs/plan.md
announce docs/plan.md
