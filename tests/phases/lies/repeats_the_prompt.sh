# Prints what it was told, with the marker in it.
# found: not_announced
printf '%s\n' "$1"
