# Writes about TODO lists, and shows code that has TODO in it.
. "$CORPUS/common.sh"
work
cat >>docs/plan.md <<'END'

People keep a TODO list of what to add up... and lose it. A template such as `{{ sum }}` is not used.

```sh
# TODO: negative numbers
echo TBD
...
```

~~~
FIXME
~~~
END
announce docs/plan.md
stay
