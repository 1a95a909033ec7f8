//! Help in Korean: the memory of a project.

use super::{CommandHelp, command};

pub(super) const COMMANDS: &[CommandHelp] = &[
    command("memory", "이 프로젝트의 메모리를 찾습니다: 컨텍스트, 계획, 메모, 결정, 산출물").more(
        "메모리는 .claude/memory 아래의 Markdown 파일입니다. 에이전트와 사람이 거기에 쓰는 것은 바로 찾을 수 있습니다.",
    ),
    command("memory search", "모든 낱말이 있는 파일을 가장 잘 맞는 것부터 보여 줍니다")
        .more(
            "대소문자와 상관없이, 다른 낱말의 일부여도 찾고, 따옴표로 묶은 낱말은 함께 찾습니다. 계층은 이름, 절(낱말이 있는 줄과 \
             앞뒤 다섯 줄), 파일 전체입니다. --layer가 없으면 이름을, 가장 잘 맞는 파일 다섯 개는 절까지 보여 줍니다. 찾은 파일이 \
             없으면 종료 코드는 1입니다.",
        )
        .after(
            "예:\n  ostler memory search 인증 JWT\n  ostler memory search Critical --layer 2\n  ostler memory search \"page \
             size\" --layer 3 -n 1\n  ostler memory search retry --in docs",
        )
        .arguments(&[
            ("words", "파일에 있어야 할 낱말"),
            ("--layer", "보여 줄 만큼: 1 이름, 2 절, 3 파일 전체"),
            ("--in", "프로젝트의 다른 디렉터리에 있는 Markdown 파일에서 찾습니다"),
            ("--limit", "이 파일 수까지만"),
        ]),
];
