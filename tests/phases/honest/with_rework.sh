# Forgets the design, is told so, and puts it right.
# is sent back
. "$CORPUS/common.sh"
plan
program
announce docs/plan.md
read -r line
echo "told: $line"
case $line in
*docs/design.md*) design ;;
esac
announce docs/design.md
stay
