# Prints what its first argument says.
case $1 in
looks)
  printf '\033[1mbold\033[0m \033[31mred\033[0m \033[38;5;208morange\033[0m \033[38;2;5;5;5mdark\033[0m \033[7mturned\033[0m\n'
  printf '\341\204\222\341\205\241\341\206\253 데이터베이스 준비 끝\n'
  printf '\033]0;stolen title\007\033]2;stolen\033\\\033]52;c;c3RvbGVu\007\033]8;;javascript:alert(1)\007a link\033]8;;\007\n'
  printf '<img src=x onerror="window.stolen=1"> \342\200\256gpj.exe\n'
  head -c 4096 /dev/urandom
  printf '\033[0m\033[?1049l\033c\nafter the binary\n'
  ;;
many) seq -f 'line %.0f of many' 1 100000 ;;
more)
  # Many lines, and more than are kept once somebody says so.
  seq -f 'line %.0f of more' 1 10000
  until [ -e "$2" ]; do sleep 0.05; done
  seq -f 'line %.0f of more' 10001 28000
  ;;
long) head -c 3000000 /dev/zero | tr '\0' 'x'; echo; echo 'after the long line' ;;
count)
  # A step every so often, until somebody says that it is enough.
  n=0
  while [ ! -e "$2" ]; do
    n=$((n + 1))
    echo "count $n."
    sleep 0.02
  done
  echo 'counted to the end'
  ;;
work)
  echo 'more' >>README.md
  printf '[USER_QUESTION]\ncategory: choice\nquestion: Which database?\noptions:\n- PostgreSQL\n- MySQL\nrequired: true\n[/USER_QUESTION]\n'
  read -r answer
  echo "$answer" >>README.md
  echo 'new' >added.txt
  ;;
clear)
  echo 'before the screen was cleared 지우기 전'
  printf '\033[H\033[2J\033[3J'
  echo 'after it'
  ;;
listen) while read -r line; do echo "heard: $line"; done ;;
esac
