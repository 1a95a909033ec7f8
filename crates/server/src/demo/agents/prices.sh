# Writes a price list, line by line, until it is long enough.
pieces=1
until [ -e "$DEMO_GATES/prices" ]; do
    echo "$pieces for $((pieces * 5))" >>prices.txt
    pieces=$((pieces + 1))
    sleep "$DEMO_TICK"
done
echo "The list has $((pieces - 1)) lines."
