# An agent in a few lines: asks for what its first argument says, and prints what it gets.
echo 'looking at the schema …'
printf '\033[32mok\033[0m 41 passed\n'
case $1 in
choice) printf '[USER_QUESTION]\ncategory: choice\nquestion: Which database would you prefer?\noptions:\n- PostgreSQL\n- MySQL\n- SQLite\ndefault: PostgreSQL\nrequired: true\n[/USER_QUESTION]\n' ;;
korean) printf '[USER_QUESTION]\ncategory: choice\nquestion: 어떤 데이터베이스를 쓸까요? 주문 표가 곧 커집니다.\noptions:\n- PostgreSQL\n- SQLite\nrequired: true\n[/USER_QUESTION]\n' ;;
confirm) printf '[USER_QUESTION]\ncategory: confirmation\nquestion: Delete the old table?\nrequired: true\n[/USER_QUESTION]\n' ;;
long)
  printf '[USER_QUESTION]\ncategory: choice\nquestion: Which of these? '
  head -c 200000 /dev/zero | tr '\0' 'x'
  printf ' the very end\noptions:\n- PostgreSQL\n- MySQL\ndefault: PostgreSQL\nrequired: true\n[/USER_QUESTION]\n'
  ;;
text) printf '[USER_QUESTION]\ncategory: clarification\nquestion: What is the service called?\nrequired: true\n[/USER_QUESTION]\n' ;;
optional) printf '[USER_QUESTION]\ncategory: choice\nquestion: Which colour?\noptions:\n- green\n- blue\ndefault: green\nrequired: false\n[/USER_QUESTION]\n' ;;
decline) printf '[USER_QUESTION]\ncategory: clarification\nquestion: Which slogan?\nrequired: false\n[/USER_QUESTION]\n' ;;
ask) printf '[ASK_USER]\nMay the colours change?\n[/ASK_USER]\n' ;;
key) printf '[DEPENDENCY_REQUEST]\ntype: api_key\nname: STRIPE_SECRET_KEY\ndescription: To charge cards in the test.\nrequired: true\n[/DEPENDENCY_REQUEST]\n' ;;
token) printf '[DEPENDENCY_REQUEST]\ntype: api_key\nname: MAIL_TOKEN\ndescription: To send mail.\nrequired: true\n[/DEPENDENCY_REQUEST]\n' ;;
service) printf '[DEPENDENCY_REQUEST]\ntype: service\nname: stripe\ndescription: Payments.\nrequired: true\n[/DEPENDENCY_REQUEST]\n' ;;
file) printf '[DEPENDENCY_REQUEST]\ntype: file\nname: logo.png\ndescription: The logo for the header.\nrequired: true\n[/DEPENDENCY_REQUEST]\n' ;;
permission) printf '[DEPENDENCY_REQUEST]\ntype: permission\nname: drop the old table\ndescription: It is empty.\nrequired: true\n[/DEPENDENCY_REQUEST]\n' ;;
may-skip) printf '[DEPENDENCY_REQUEST]\ntype: permission\nname: warm the cache\ndescription: It is faster then.\nrequired: false\n[/DEPENDENCY_REQUEST]\n' ;;
local_package) printf '[DEPENDENCY_REQUEST]\ntype: package\nname: ./pad.tgz\ndescription: It pads.\nrequired: true\n[/DEPENDENCY_REQUEST]\n' ;;
package) printf '[DEPENDENCY_REQUEST]\ntype: package\nname: left-pad\ndescription: It pads.\nrequired: true\n[/DEPENDENCY_REQUEST]\n' ;;
error) printf '[ERROR]\ntype: recoverable\nmessage: The build failed twice.\nrecovery: notify_user\n[/ERROR]\n' ;;
fault) printf '[USER_QUESTION]\ncategory: nonsense\nrequired: maybe\n[/USER_QUESTION]\n' ;;
hostile)
  printf '\033]0;stolen title\007\033]52;c;c3RvbGVu\007\033]8;;javascript:alert(1)\007link\033]8;;\007\n'
  printf '[USER_QUESTION]\ncategory: choice\nquestion: <img src=x onerror="window.stolen=1"> \342\200\256gpj.exe \342\200\213 javascript:alert(1)\noptions:\n- <script>window.stolen=2</script>\n- \342\200\256toor\nrequired: true\n[/USER_QUESTION]\n'
  ;;
work) while :; do date; sleep 1; done ;;
esac
read -r answer && echo "got $answer"
