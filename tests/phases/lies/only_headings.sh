# Has all headings, and nothing below them.
# found: section_empty docs/plan.md
. "$CORPUS/common.sh"
work
printf '# Plan\n\n## Problem\n\n## Solution\n' >docs/plan.md
announce docs/plan.md
