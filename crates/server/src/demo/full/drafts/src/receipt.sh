# Receipts for the orders of a small shop. What each command does stands in docs/design/04_api.md.
#
#     receipt.sh total ORDER                what an order costs, in cents
#     receipt.sh print ORDER                its receipt, with a seal
#     receipt.sh check RECEIPT              whether the seal of a receipt is right
#     receipt.sh refund ORDER COUNT NAME    what is given back for pieces that come back, in cents
#
# An order has a line per thing: how many, and its name. Prices are in data/prices.csv, or where PRICES says.
set -eu
here=$(dirname "$0")
. "$here/shop.conf"
prices=${PRICES:-$here/../data/prices.csv}
look=${LOOK:-$look}

fail() {
    printf 'receipt: %s\n' "$1" >&2
    exit 2
}

# positions ORDER: a line per thing: how many, its name, the price of one, the price of all.
positions() {
    awk -v from="$discount_from" '
        function fail(words) { print "receipt: " words >"/dev/stderr"; exit 2 }
        FILENAME == ARGV[1] {
            at = index($0, ",")
            if (FNR > 1 && at > 1) price[substr($0, 1, at - 1)] = substr($0, at + 1) + 0
            next
        }
        NF == 0 { next }
        {
            count = $1
            name = $0
            sub(/^[ \t]*[^ \t]+[ \t]*/, "", name)
            if (count !~ /^[0-9]+$/ || count + 0 == 0) fail("line " FNR ": \"" count "\" is no number of pieces")
            if (!(name in price)) fail("line " FNR ": there is no price for \"" name "\"")
            sum = count * price[name]
            if (count + 0 >= from) sum -= int(sum / 10)
            printf "%d,%s,%d,%d\n", count, name, price[name], sum
        }
    ' "$prices" "$1"
}

total() {
    found=$(positions "$1")
    printf '%s\n' "$found" | awk -F, '{ sum += $4 } END { printf "%d\n", sum }'
}

# body ORDER: the receipt without its seal.
body() {
    found=$(positions "$1")
    printf '%s\n' "$found" | awk -F, -v shop="$shop" -v look="$look" '
        function money(cents) { return sprintf("%d.%02d", int(cents / 100), cents % 100) }
        BEGIN { print (look == "csv") ? "count,name,each,all" : shop }
        { sum += $4 }
        look == "csv" { printf "%d,%s,%s,%s\n", $1, $2, money($3), money($4); next }
        { printf "%4d x %-20s %10s\n", $1, $2, money($4) }
        END {
            if (look == "csv") printf ",total,,%s\n", money(sum)
            else printf "%-27s %10s\n", "total", money(sum)
        }
    '
}

# seal: of the text on the input, with the shop's key.
seal() {
    [ -n "${RECEIPT_KEY:-}" ] || fail 'RECEIPT_KEY is not set'
    { printf '%s\n' "$RECEIPT_KEY"; cat; } | { sha256sum 2>/dev/null || shasum -a 256; } | cut -c 1-16
}

print() {
    text=$(body "$1")
    sealed=$(printf '%s\n' "$text" | seal)
    printf '%s\nseal,%s\n' "$text" "$sealed"
}

check() {
    [ -f "$1" ] || fail "there is no receipt '$1'"
    wanted=$(sed '$d' "$1" | seal)
    [ "$(sed -n '$p' "$1")" = "seal,$wanted" ] || {
        echo 'not ours'
        exit 1
    }
    echo 'ours'
}

# refund ORDER COUNT NAME: what the order cost, less what the rest of it would have cost.
refund() {
    before=$(total "$1")
    rest=$(mktemp)
    trap 'rm -f "$rest"' EXIT
    awk -v back="$2" -v thing="$3" '
        {
            count = $1
            name = $0
            sub(/^[ \t]*[^ \t]+[ \t]*/, "", name)
            if (name != thing) { print; next }
            seen = 1
            if (back !~ /^[0-9]+$/ || back + 0 > count + 0) exit 3
            if (count - back > 0) print count - back, name
        }
        END { if (!seen) exit 3 }
    ' "$1" >"$rest" || fail "'$2 $3' was not bought"
    echo $((before - $(total "$rest")))
}

case ${1:-} in
total | print | check) [ $# -eq 2 ] || fail "$1 takes one file" ;;
refund) [ $# -eq 4 ] || fail 'refund takes an order, a number and a name' ;;
*) fail 'one of total, print, check and refund is needed' ;;
esac
"$@"
