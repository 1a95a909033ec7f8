# A receipt names the shop, every thing and the total.
. tests/expect.sh
buys '1 apple' '1 green tea'
cents=$(receipt total "$order")
printed=$(receipt print "$order")
expect "$shop" "$(printf '%s\n' "$printed" | sed -n 1p)"
rest=$(printf '%s\n' "$printed" | sed 1d)
expect 2 "$(printf '%s\n' "$rest" | grep -c ' x ')"
expect "$((cents / 100)).$(printf '%02d' $((cents % 100)))" "$(printf '%s\n' "$rest" | awk '$1 == "total" { print $2 }')"
