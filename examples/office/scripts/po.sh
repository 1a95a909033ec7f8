# The product owner: what a person wants goes to designer and backend at once; when both are done, QA looks at it.
invoke() { printf '[INVOKE:%s]\n%s\n[/INVOKE]\n' "$1" "$2"; }

while read -r line; do
    case $line in
    "[Result from designer]") read -r sketch ;;
    "[Result from backend]") read -r built ;;
    "[Result from QA]")
        read -r verdict
        echo "$wish: $verdict"
        sketch='' built=''
        continue
        ;;
    "[No result from "*)
        read -r why
        echo "$wish: $why"
        continue
        ;;
    "[/Result]") continue ;;
    *)
        wish=$line
        invoke designer "Sketch this: $wish"
        invoke backend "Build this: $wish"
        continue
        ;;
    esac
    if [ -n "$sketch" ] && [ -n "$built" ]; then invoke QA "Test $built against $sketch"; fi
done
