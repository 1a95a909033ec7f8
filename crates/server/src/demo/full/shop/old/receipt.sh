# The receipt as it was: a sum, without a list of what was bought.
awk '{ sum += $1 } END { print "total " sum }'
