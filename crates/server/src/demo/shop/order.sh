# total PRICE COUNT: what an order costs. Ten pieces or more are a tenth cheaper.
total() {
    sum=$(($1 + $2))
    if [ "$2" -gt 10 ]; then
        sum=$((sum - sum / 10))
    fi
    echo "$sum"
}
