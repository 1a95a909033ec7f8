# Asks which database the shop is to use, and writes the answer into its settings.
case $DEMO_LANGUAGE in
ko)
    echo '가게에 아직 데이터베이스가 없습니다.'
    question='가게에서 어떤 데이터베이스를 쓸까요?'
    ;;
*)
    echo 'The shop has no database yet.'
    question='Which database is the shop to use?'
    ;;
esac
cat <<END
[USER_QUESTION]
category: choice
question: $question
options: [PostgreSQL, SQLite]
required: true
[/USER_QUESTION]
END
read -r answer
echo "The answer is $answer"
database=$(printf '%s\n' "$answer" | sed -n 's/.*"answer":"\([^"]*\)".*/\1/p')
sleep "$DEMO_TICK"
echo "database = $database" >settings.conf
# Where nobody else opens the gates, the answer does.
[ -z "$DEMO_ALONE" ] || touch "$DEMO_GATES/total-1" "$DEMO_GATES/total-2" "$DEMO_GATES/prices"
