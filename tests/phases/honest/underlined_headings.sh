# Underlines its headings, and numbers them.
. "$CORPUS/common.sh"
work
cat >docs/plan.md <<'END'
Plan
====

1. Problem
----------

Whoever wants to add up numbers has to do it by hand.

2. Solution
-----------

A program that prints the sum of its arguments.
END
announce docs/plan.md
stay
