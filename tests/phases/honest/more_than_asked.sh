# Announces more than anybody expects, and it is there.
. "$CORPUS/common.sh"
work
printf '# Manual\n\nGive it numbers.\n' >MANUAL.md
announce docs/plan.md MANUAL.md README.md
stay
