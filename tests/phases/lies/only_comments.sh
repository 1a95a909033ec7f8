# Fills its sections with comments that no reader sees.
# found: section_empty docs/plan.md | criterion plan
. "$CORPUS/common.sh"
work
printf '# Plan\n\n## Problem\n\n<!-- what is wrong today, and for whom -->\n\n## Solution\n\n<!-- later -->\n' >docs/plan.md
announce docs/plan.md
