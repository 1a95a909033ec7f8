# Corrects what an order costs. At first it sees only half of what is wrong, and says that it is done. The second time
# it has the failure of the check before it.
until [ -e "$DEMO_GATES/total-$OSTLER_LAUNCH" ]; do sleep 0.02; done
sleep "$DEMO_TICK"
case $OSTLER_PROMPT in
*'10 pieces at 5 cost 50, not 45'*) change='s/-gt 10/-ge 10/' ;;
*) change='s/\$1 + \$2/$1 * $2/' ;;
esac
sed "$change" order.sh >order.new
mv order.new order.sh
echo 'Done: an order costs what it should.'
