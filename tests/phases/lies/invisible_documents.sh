# Writes only letters that nobody sees.
# found: section_empty docs/plan.md | criterion plan
. "$CORPUS/common.sh"
work
printf '# Plan\n\n## Problem\n\n\342\200\213\343\205\244\n\n## Solution\n\n\342\200\213\n' >docs/plan.md
announce docs/plan.md
