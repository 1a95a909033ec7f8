# Forgets the design and ends; started again, it is told so as its prompt.
# is sent back
. "$CORPUS/common.sh"
if [ -e docs/plan.md ]; then
    case $1 in
    *docs/design.md*) design ;;
    esac
else
    plan
    program
fi
announce docs/plan.md
