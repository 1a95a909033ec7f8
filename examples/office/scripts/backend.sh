# The backend: writes a program, and brings its file.
while read -r head; do
    read -r task
    printf 'echo "%s"\n' "${task#Build this: }" >app.sh
    printf '[DELIVER_RESULT:%s]\ntype: file_path\ncontent: app.sh\n[/DELIVER_RESULT]\n' "$(echo "$head" | sed 's/.* from \(.*\)]/\1/')"
done
