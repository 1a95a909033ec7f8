# Has a program that is none, and a tool among the ignored files that says that it is fine.
# found: check_failed
. "$CORPUS/common.sh"
plan
design
mkdir -p src node_modules/.bin
echo 'if then' >src/sum.sh
printf '#!/bin/sh\nexit 0\n' >node_modules/.bin/lint
chmod +x node_modules/.bin/lint
announce docs/plan.md
