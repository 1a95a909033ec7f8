[ "$(sh src/sum.sh)" = 0 ]
