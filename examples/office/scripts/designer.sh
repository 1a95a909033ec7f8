# The designer: writes a sketch, and brings its file.
while read -r head; do
    read -r task
    printf '# Sketch\n\n%s\n' "${task#Sketch this: }" >sketch.md
    printf '[DELIVER_RESULT:%s]\ntype: file_path\ncontent: sketch.md\n[/DELIVER_RESULT]\n' "$(echo "$head" | sed 's/.* from \(.*\)]/\1/')"
done
