#!/bin/sh
# A main agent that knows the thin dialect and nothing else. It asks what can run, has all of that done, and asks again
# whenever something is done, until nothing is left:
#
#   ostler run --main -- examples/main/main.sh
#
# Everything it says is a line on its output, and everything it learns is a line on its input.

failed=0
echo "RESOLVE_NEXT"
while IFS= read -r line; do
    case $line in
    READY:*)
        # READY:T1.3,T1.4: all of these can run now, at once.
        for id in $(echo "${line#READY:}" | tr ',|' '  '); do
            echo "TASK_ID:$id"
        done
        ;;
    DONE:*) echo "RESOLVE_NEXT" ;;
    FAIL:*)
        failed=1
        echo "RESOLVE_NEXT"
        ;;
    # Something is being done; its line comes when it is through.
    WAIT) ;;
    # Everything of a phase is done: that is recorded, and the next one begins.
    PHASE_DONE:*) echo "CUSTOM:CLOSE:${line#PHASE_DONE:}" ;;
    CUSTOM:OK:*) echo "RESOLVE_NEXT" ;;
    ALL_DONE) exit "$failed" ;;
    *)
        # ERROR:BLOCKED:T1.3 and the like: somebody has to decide.
        echo "it cannot go on: $line" >&2
        exit 1
        ;;
    esac
done
