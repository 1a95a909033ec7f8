# Has its sections in a code block, where headings are none.
# found: section_missing docs/plan.md
. "$CORPUS/common.sh"
work
{
    echo '```'
    cat docs/plan.md
} >docs/new && mv docs/new docs/plan.md
announce docs/plan.md
