# Asks which database the shop is to use, and writes the answer into its settings.
echo 'The shop has no database yet.'
cat <<END
[USER_QUESTION]
category: choice
question: $DEMO_QUESTION
options: [PostgreSQL, SQLite]
required: true
[/USER_QUESTION]
END
read -r answer
echo "The answer is $answer"
database=$(printf '%s\n' "$answer" | sed -n 's/.*"answer":"\([^"]*\)".*/\1/p')
sleep "$DEMO_TICK"
echo "database = $database" >settings.conf
