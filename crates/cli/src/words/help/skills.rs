//! Help in Korean: the skills of a project.

use super::{CommandHelp, command};

pub(super) const COMMANDS: &[CommandHelp] = &[
    command("skills", "이 프로젝트의 스킬과, 요청이 어느 스킬을 뜻하는지 보여 줍니다").more(
        "스킬은 .claude/skills/NAME.md나 .claude/skills/NAME/SKILL.md 파일이고, 세 개는 내장되어 있습니다. 파일에 쓰는 것: \
         docs/ko/skills.md.",
    ),
    command("skills list", "스킬을 보여 줍니다. 스킬이 아닌 파일은 이유와 함께 보여 줍니다"),
    command("skills show", "스킬을 출력합니다").arguments(&[("name", "스킬")]),
    command("skills match", "요청이 어느 스킬을 뜻하는지, 다른 스킬은 왜 아닌지 알려 줍니다")
        .more("아무것도 시작하지 않습니다. 맞는 스킬이 없으면 종료 코드는 1입니다.")
        .after(
            "예:\n  ostler skills match \"로그인 기능 구현해줘\"\n  ostler skills match \"Add product CRUD\" --json",
        )
        .arguments(&[("request", "요청하는 말")]),
];
