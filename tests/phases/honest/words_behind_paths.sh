# Announces files as people write them.
. "$CORPUS/common.sh"
work
announce '`docs/plan.md`' './docs/design.md' "$PWD/src/sum.sh" 'docs/plan.md - what is planned' 'src/sum.sh (the program)'
stay
