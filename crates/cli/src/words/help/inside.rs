//! Help in Korean: the commands that agents use inside a session.

use super::{CommandHelp, command};

pub(super) const COMMANDS: &[CommandHelp] = &[
    command("ask", "세션 안에서: 사람에게 묻고 기다렸다가 답을 출력합니다")
        .more(
            "서버가 다시 시작하는 동안에도 답이 올 때까지 기다립니다. 이 명령을 실행한 도구가 포기하고 끝내면 답은 메시지로 옵니다.",
        )
        .after(
            "예:\n  ostler ask \"어떤 데이터베이스를 쓸까요?\" --option PostgreSQL --option SQLite\n  if [ \"$(ostler ask --type \
             confirm '옛 테이블을 지울까요?')\" = Yes ]; then …; fi\n\n종료 코드: 0 답을 받음, 7 세션 안이 아님, 13 사람이 \
             거절했거나, 답이 없거나, 답이 메시지로 옴.",
        )
        .arguments(&[
            ("question", "질문"),
            ("--option", "고를 수 있는 답. 하나마다 한 번씩 씁니다"),
            ("--type", "답하는 방식 [기본값: 선택지가 있으면 choice, 없으면 text]"),
            ("--type=text", "글로"),
            ("--type=choice", "선택지 가운데 하나로"),
            ("--type=confirm", "예나 아니요로"),
            ("--default", "아무도 답하지 않을 때의 답"),
            ("--optional", "끝없이 기다리지 않습니다. 하루가 지나면 기본값이 답이고, 없으면 답 없이 계속합니다"),
        ]),
    command("need", "세션 안에서: 키, 파일, 허락 등을 요청하고 기다립니다")
        .more(
            "키나 변수의 값, 파일의 경로, `approved`, `installed`를 출력합니다. 서비스는 변수마다 NAME=value 한 줄을 출력합니다.",
        )
        .after(
            "예:\n  eval \"$(ostler need --export STRIPE_SECRET_KEY --description '결제')\"\n  cp \"$(ostler need logo.svg --type \
             file --description '가게 로고')\" assets/\n  ostler need 'orders 테이블 지우기' --type permission && …\n\n종료 \
             코드: 0 받음, 1 설치하지 못함, 7 세션 안이 아님, 13 답이 없거나 답이 메시지로 옴, 14 거절되었거나 없이 계속함.",
        )
        .arguments(&[
            ("name", "필요한 것의 이름: 변수, 서비스, 파일, 패키지, 또는 허락받을 일"),
            ("--type", "필요한 것의 종류"),
            ("--type=api_key", "비밀 키"),
            ("--type=env_variable", "환경 변수"),
            ("--type=service", "변수가 딸린 서비스"),
            ("--type=file", "파일"),
            ("--type=permission", "예나 아니요"),
            ("--type=package", "프로젝트의 패키지 관리자로 설치할 패키지"),
            ("--description", "어디에 쓰는지"),
            ("--default", "아무도 주지 않을 때 쓸 값"),
            ("--optional", "거절되면 없이 계속합니다"),
            ("--export", "셸이 평가할 수 있는 줄을 출력합니다: export NAME='value'"),
        ]),
    command("error", "세션 안에서: 오류를 보고하고 결정을 기다립니다")
        .more("`retry`나 `continue`, 또는 사람이 한 말을 출력합니다. 사람이 포기하면 세션이 끝납니다.")
        .after("종료 코드: 0 결정됨, 1 포기함, 7 세션 안이 아님, 13 결정이 메시지로 옴.")
        .arguments(&[
            ("message", "무엇이 잘못되었는지 한 줄로"),
            ("--fatal", "다시 시도해도 해결되지 않습니다"),
            ("--recovery", "이제 해야 할 일 [기본값: notify_user]"),
            ("--recovery=pause_and_retry", "기다렸다가 다시 시도합니다"),
            ("--recovery=checkpoint_and_fail", "세션을 끝냅니다"),
            ("--recovery=notify_user", "사람에게 묻습니다"),
            ("--details", "오류에 대해 알려진 모든 것"),
        ]),
    command("step", "세션 안에서: 한 걸음이 끝났다고 알립니다")
        .arguments(&[("step", "끝난 걸음의 이름"), ("--summary", "결과")]),
    command("invoke", "세션 안에서: 이 프로젝트의 다른 에이전트를 호출합니다")
        .more(
            "호출의 ID를 출력하고, 결과는 메시지로 옵니다. --wait이면 서버가 다시 시작하는 동안에도 끝날 때까지 기다렸다가 결과를 \
             바이트 그대로 출력합니다. 이 명령을 실행한 도구가 포기하고 끝내면 결과는 메시지로 옵니다.",
        )
        .after(
            "예:\n  ostler invoke designer \"로그인 화면을 그려 줘\" --context \"docs/brief.md 참고\"\n  ostler invoke --wait QA \
             \"테스트를 돌리고 실패한 것을 알려 줘\"\n\n종료 코드: 0 호출했거나 끝남, 1 하지 못함, 7 세션 안이 아님, 13 결과가 \
             메시지로 옴.",
        )
        .arguments(&[
            ("role", "호출할 역할"),
            ("task", "할 일"),
            ("--stdin", "할 일을 표준 입력에서 읽습니다"),
            ("--context", "호출받은 에이전트가 알아야 할 것"),
            ("--wait", "끝날 때까지 기다렸다가 결과를 출력합니다"),
        ]),
    command("deliver", "세션 안에서: 이 프로젝트의 다른 에이전트에게 결과를 전달합니다")
        .more("맡고 있는 호출의 결과이면 그 호출이 끝납니다.")
        .after(
            "예:\n  ostler deliver PO \"모든 테스트를 통과했습니다\"\n  ostler deliver PO --type json --stdin < report.json\n  \
             ostler deliver PO --type file_path docs/design.md",
        )
        .arguments(&[
            ("role", "결과를 받을 역할"),
            ("content", "결과"),
            ("--stdin", "결과를 표준 입력에서 읽습니다"),
            ("--type", "결과의 종류"),
            ("--type=message", "일반 글"),
            ("--type=github_issue", "GitHub 이슈"),
            ("--type=markdown", "Markdown 글"),
            ("--type=json", "JSON"),
            ("--type=file_path", "프로젝트에 있는 파일의 경로"),
            ("--for", "i_7처럼, 어느 호출의 결과인지. 없으면 지금 맡고 있는 호출"),
        ]),
    command("mcp", "세션 안에서: 사람에게 묻는 도구를 주는 MCP 서버(표준 입출력)")
        .more("도구는 `ask_human`, `need`, `report_error`입니다. Ostler가 시작하는 에이전트는 저절로 받습니다.")
        .arguments(&[("--channel", "세션의 소켓 [기본값: 환경에 따름]")]),
    command("guide", "에이전트에게 묻는 방법을 가르치는 짧은 글을 출력합니다").more(
        "에이전트의 시스템 프롬프트에 넣으십시오. 길어야 400토큰이고 버전이 적혀 있습니다. Ostler가 시작하는 에이전트는 저절로 \
         받습니다. --lang이 없으면 영어입니다.",
    ),
];
