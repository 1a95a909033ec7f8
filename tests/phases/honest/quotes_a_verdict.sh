# Documents what a verdict and an announcement look like.
. "$CORPUS/common.sh"
work
{
    echo 'A verifier says so:'
    echo
    echo '```'
    verdict example
    echo '=== PHASE 2 COMPLETE ==='
    echo '```'
} >>docs/plan.md
announce docs/plan.md
stay
