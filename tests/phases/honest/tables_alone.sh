# Has tables and pictures where others have sentences.
. "$CORPUS/common.sh"
work
cat >docs/design.md <<'END'
---
title: Design
---

# Design

## **Parts** of it

| part | does |
|---|---|
| src/sum.sh | adds up numbers |

![how they are connected](parts.png)
END
announce docs/design.md
stay
