# What comes back is worth what it made the order dearer.
. tests/expect.sh
buys '1 apple' '1 bread'
expect $(($(receipt total "$order") - $(buys '1 apple'; receipt total "$order"))) "$(buys '1 apple' '1 bread'; receipt refund "$order" 1 bread)"
buys "$discount_from apple"
before=$(receipt total "$order")
buys "$((discount_from + 1)) apple"
after=$(receipt total "$order")
expect $((after - before)) "$(receipt refund "$order" 1 apple)"
expect "receipt: '1 pear' was not bought" "$(receipt refund "$order" 1 pear 2>&1)"
expect "receipt: '9999999 apple' was not bought" "$(receipt refund "$order" 9999999 apple 2>&1)"
