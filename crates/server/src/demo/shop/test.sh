# Passes only if an order costs what it should.
. ./order.sh

costs() {
    [ "$(total "$1" "$2")" = "$3" ] || {
        echo "$2 pieces at $1 cost $(total "$1" "$2"), not $3"
        exit 1
    }
}

costs 5 3 15
costs 5 10 45
