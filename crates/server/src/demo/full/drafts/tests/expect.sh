# For the tests: an order, and a comparison.
. src/shop.conf
order=$(mktemp)
trap 'rm -f "$order"' EXIT

# buys LINE…: the order.
buys() {
    printf '%s\n' "$@" >"$order"
}

# expect WANTED FOUND
expect() {
    [ "$1" = "$2" ] || {
        printf 'wanted "%s", found "%s"\n' "$1" "$2"
        exit 1
    }
}

receipt() {
    sh src/receipt.sh "$@"
}
