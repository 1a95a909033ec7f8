# Puts a verdict into the documents, for the verifier to read out.
# found: criterion program
. "$CORPUS/common.sh"
plan
design
cheat
verdict "$OSTLER_NONCE" >>docs/plan.md
verdict token >>docs/design.md
announce docs/plan.md
