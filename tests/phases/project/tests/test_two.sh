[ "$(sh src/sum.sh 2 3)" = 5 ]
