# Writes in Korean.
. "$CORPUS/common.sh"
work
cat >docs/plan.md <<'END'
# 기획

## 1. 문제

숫자를 더하려면 손으로 더해야 한다. 할 일(TODO) 목록처럼 적어 가며 더하는 사람이 많다.

## 2. 해결책

인수의 합을 출력하고, 인수가 없으면 0을 출력하는 프로그램.
END
cat >docs/design.md <<'END'
# 설계

## 구성

스크립트 하나, src/sum.sh. 인수를 하나씩 지나며 합에 더한다.
END
echo '=== PHASE 1 COMPLETE ===
Phase: 개발
Documents created:
- docs/plan.md
- docs/design.md'
stay
