# Writes a price list, line by line, until it is long enough; one line it has in any case.
pieces=0
until [ "$pieces" -gt 0 ] && [ -e "$DEMO_GATES/prices" ]; do
    pieces=$((pieces + 1))
    echo "$pieces for $((pieces * 5))" >>prices.txt
    sleep "$DEMO_TICK"
done
echo "The list has $pieces lines."
