# A receipt can be read by a machine.
. tests/expect.sh
export LOOK=csv
buys '1 green tea'
cents=$(receipt total "$order")
money="$((cents / 100)).$(printf '%02d' $((cents % 100)))"
printed=$(receipt print "$order" | sed '$d')
expect "count,name,each,all
1,green tea,3.20,$money
,total,,$money" "$printed"
