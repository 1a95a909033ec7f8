# The same in Korean.
# found: placeholder docs/plan.md
. "$CORPUS/common.sh"
work
printf '# 기획\n\n## 문제\n\n내용은 추후 작성\n\n## 해결책\n\n작성 예정\n' >docs/plan.md
announce docs/plan.md
