# An order costs the sum of its things.
. tests/expect.sh
buys '1 apple' '1 green tea'
expect 370 "$(receipt total "$order")"
buys '1 apple' '' '1 bread'
expect 325 "$(receipt total "$order")"
buys '1 pear'
expect 'receipt: line 1: there is no price for "pear"' "$(receipt total "$order" 2>&1)"
buys 'x apple'
expect 'receipt: line 1: "x" is no number of pieces' "$(receipt total "$order" 2>&1)"
