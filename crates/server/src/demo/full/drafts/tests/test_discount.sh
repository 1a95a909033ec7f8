# From a number of pieces on a thing is a tenth cheaper, and with one less it is not.
. tests/expect.sh
sum=$((discount_from * 50))
buys "$discount_from apple"
expect $((sum - sum / 10)) "$(receipt total "$order")"
less=$((discount_from - 1))
[ "$less" -gt 0 ] || exit 0
buys "$less apple"
expect $((less * 50)) "$(receipt total "$order")"
