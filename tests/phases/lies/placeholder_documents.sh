# Has the headings, and says what will stand below them.
# found: placeholder docs/plan.md
. "$CORPUS/common.sh"
work
printf '# Plan\n\n## Problem\n\nTODO: describe the problem\n\n## Solution\n\nTBD\n' >docs/plan.md
announce docs/plan.md
