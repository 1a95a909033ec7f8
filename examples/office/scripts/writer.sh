# The writer: is in a directory of its own, and through when one thing is written.
read -r wish
printf '# Notes\n\n%s\n' "$wish" >NOTES.md
echo "written: $wish"
