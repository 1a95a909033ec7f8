# Writes a document about something else.
# found: section_missing docs/plan.md
. "$CORPUS/common.sh"
work
printf '# Plan\n\n## Weather\n\nIt is going to rain.\n' >docs/plan.md
announce docs/plan.md
