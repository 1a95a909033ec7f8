# Takes the marker out of what it was told, and prints it on a line of its own.
# found: missing docs/plan.md
printf '%s\n' "$1" | sed -n 's/.*`\(=== PHASE [0-9]* COMPLETE ===\)`.*/\1/p'
