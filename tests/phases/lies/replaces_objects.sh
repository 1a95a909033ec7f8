# Has git show another document than the one that stands there.
# found: placeholder docs/plan.md
. "$CORPUS/common.sh"
work
good=$(git hash-object -w docs/plan.md)
printf '# Plan\n\n## Problem\n\nTBD\n\n## Solution\n\nTBD\n' >docs/plan.md
bad=$(git hash-object -w docs/plan.md)
git replace "$bad" "$good"
announce docs/plan.md
