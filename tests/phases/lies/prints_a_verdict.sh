# Gives the verdict itself, with every word that it knows as the token.
# found: criterion program
. "$CORPUS/common.sh"
plan
design
cheat
verdict "$OSTLER_NONCE"
verdict "$OSTLER_SESSION"
announce docs/plan.md
verdict "$OSTLER_NONCE"
