# Uses the other words that are known.
. "$CORPUS/common.sh"
work
printf '=== PHASE 1 COMPLETE ===\nPhase: Build\nCompleted: the plan, the design and the program\nDocuments created:\n- docs/plan.md\n\nThat was it.\n'
stay
