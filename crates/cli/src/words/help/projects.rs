//! Help in Korean: phases, the office, tasks and the agents of a project.

use super::{CommandHelp, command};

pub(super) const COMMANDS: &[CommandHelp] = &[
    command("init", "프로젝트를 설정합니다. 기술 스택을 기록해 모든 에이전트가 알게 합니다")
        .more(
            "기술 스택을 찾아 근거가 되는 줄과 함께 보여 주고, 불분명한 것을 물은 뒤 .claude/memory/context에 파일 네 개를 씁니다. \
             프로젝트 템플릿의 클론에는 자기 기록을 만들어 주며, 아무것도 잃지 않습니다: docs/ko/project.md.",
        )
        .arguments(&[("--agents", "에이전트 역할 15개도 .claude/agents에 씁니다. 이미 있는 파일은 그대로 둡니다"), ("--yes", "묻지 않고 찾은 것을 받아들이며, 직접 만든 내용이 있으면 기록을 그대로 둡니다")]),
    command("context", "이 프로젝트에 대해 Ostler가 아는 것을 보여 줍니다: 기술 스택과 근거가 되는 줄, 에이전트에게 알려 주는 것")
        .more("읽기만 합니다. 무엇을 알아보는지는 docs/ko/project.md에 있습니다."),
    command("context show", "컨텍스트 파일 네 개와 에이전트에게 알려 주는 글, 그 토큰 수를 보여 줍니다"),
    command("context detect", "매니페스트, 잠금 파일, 설정, 디렉터리에서 기술 스택을 찾습니다"),
    command("phases", "아이디어를 기획, 설계, 개발, 테스트 단계로 진행합니다").more(
        "단계마다 증거와 검증자의 보고서와 당신의 승인으로 끝납니다. 무엇을 확인할지는 ostler.toml의 `[phases]`에 있고, \
         docs/ko/phases.md에 설명이 있습니다.",
    ),
    command("phases init", "ostler.toml에 단계 설정을 쓰고, 원하면 문서 틀도 만듭니다")
        .arguments(&[("--templates", "문서 틀도 guide/ 아래에 씁니다")]),
    command("phases run", "시작합니다. 에이전트가 첫 단계를 맡습니다")
        .more("바로 돌아오고, 당신이 필요한 것은 받은 요청에 들어옵니다. --follow이면 당신이 필요할 때까지 계속 보여 줍니다.")
        .arguments(&[
            ("idea", "아이디어"),
            ("--agent", "일할 에이전트. 없으면 설정에 따릅니다"),
            ("--verifier", "검증할 에이전트. none이면 검증하지 않습니다"),
        ]),
    command("phases status", "실행의 진행 상황을 보여 줍니다: 단계, 관문, 질문, 시간, 비용, 기다리는 것")
        .arguments(&[("run", "r_8 같은 실행. 없으면 진행 중인 모든 실행")]),
    command("phases report", "관문의 보고서를 Markdown으로 출력합니다").arguments(&[
        ("--phase", "단계. 없으면 보고서가 있는 마지막 단계"),
        ("--gate", "그 단계의 관문. 없으면 보고서가 있는 마지막 관문"),
    ]),
    command("phases export", "승인된 단계마다 커밋 하나를 담은 브랜치를 만들고 보고서를 출력합니다")
        .more(
            "커밋마다 승인된 트리가 그대로 들어 있습니다. 아무것도 체크아웃하지 않고, 이미 있으면서 다른 곳을 가리키는 브랜치는 \
             그대로 둡니다.",
        )
        .arguments(&[("--branch", "브랜치. 없으면 ostler/ 뒤에 실행의 ID")]),
    command("tasks", "작업 파일을 봅니다: 작업, 의존 관계, 잘못된 것").more(
        "파일은 프로젝트의 TASKS.md, docs/planning/TASKS.md, docs/planning/06-tasks.md입니다. 진행 상황은 파일의 완료 표시와, \
         있으면 .claude/orchestrate-state.json에서 읽습니다. first, skip, retry, close만 무엇인가를 바꾸며, 바꾸는 것은 그 \
         상태입니다.",
    ),
    command("tasks list", "작업을 보여 줍니다"),
    command("tasks show", "작업의 모든 것을 보여 줍니다"),
    command("tasks graph", "의존 관계를 단계별로 그립니다")
        .arguments(&[("--mermaid", "Mermaid 다이어그램으로 출력합니다")]),
    command("tasks check", "파일에서 이해한 것, 잘못되거나 이상한 것, 건너뛴 것을 줄 번호와 함께 알려 줍니다")
        .more(
            "단계와 그 작업, 의존 관계의 수, 다른 프로그램이 만든 상태 파일에서 인정하는 것을 보여 줍니다. 쓸 수 없는 파일이면 종료 \
             코드는 15입니다.",
        ),
    command("tasks critical-path", "서로 기다리는 열린 작업의 가장 긴 사슬을 보여 줍니다"),
    command("tasks first", "실행할 수 있는 다른 모든 작업보다 먼저 하게 합니다"),
    command("tasks skip", "작업을 건너뜁니다. 기다리던 작업은 진행할 수 있습니다"),
    command("tasks retry", "실패했거나 건너뛴 작업을 다시 하게 합니다"),
    command("tasks close", "메인 루프가 끝에서 하듯이 단계가 끝났다고 기록합니다").arguments(&[
        ("phase", "단계"),
        ("--with-failures", "그 단계에서 실패한 작업과 그것을 기다리는 작업을 건너뜁니다"),
    ]),
    command(
        "orchestrate",
        "작업 파일을 처리합니다. 작업마다 에이전트와 워크트리를 쓰고, 단계별로 테스트하고 병합합니다",
    )
    .more(
        "시작하고 끝나는 것을 보여 주고, 터미널에서는 지금의 그래프도 보여 주며, 당신이 필요한 것은 그 자리에서 묻습니다. 당신이 \
         없어도 계속합니다. Ctrl-C를 누르면 취소할지 두고 나갈지 묻고, 같은 명령으로 다시 볼 수 있습니다. 끝난 것은 작업 파일과 \
         .claude/orchestrate-state.json에 있으므로 언제든지 멈추고 다시 시작할 수 있습니다.",
    )
    .after("예:\n  ostler orchestrate\n  ostler orchestrate --phase 1 --max-parallel 5\n  ostler orchestrate --verify")
    .arguments(&[
        ("--ultra-thin", "일마다 한 줄씩 출력합니다"),
        ("--phase", "이 단계만"),
        ("--resume", "멈춘 곳에서 계속합니다"),
        (
            "--verbose",
            "어디서, 몇 번째로, 어떤 명령으로 하는지, 끝은 DONE:T1.3:elapsed=120s:tests=15 또는 FAIL로도 알려 줍니다",
        ),
        ("--verify", "작업 파일과 상태를 비교하고 아무것도 시작하지 않습니다"),
        ("--force", "작업 파일을 새로 읽습니다"),
        ("--max-parallel", "동시에 실행할 작업 수 [기본값: 3]"),
        ("--agent", "담당자와 상관없이 모든 작업을 할 에이전트"),
    ]),
    command("office", "이 프로젝트의 오피스를 보여 줍니다: 역할, 서로 기다리는 에이전트, 전달된 것").more(
        "역할은 .claude/agents의 파일, ostler.toml의 표, 또는 에이전트입니다. 서로 호출하는 방법: docs/ko/office.md.",
    ),
    command("office roles", "역할을 보여 줍니다. 쓸 수 없는 역할은 이유와 함께 보여 줍니다"),
    command("office questions", "오피스의 에이전트가 물은 것을 최근 것부터 보여 줍니다"),
    command("office invocations", "에이전트 사이의 호출을 최근 것부터 보여 줍니다"),
    command("office results", "에이전트가 서로 전달한 것을 최근 것부터 보여 줍니다"),
    command("office send", "역할에게 메시지를 보냅니다. 세션을 시작하거나 이어서 합니다")
        .arguments(&[("role", "역할")]),
    command("office cancel", "호출을 취소합니다. 맡은 에이전트에게 더 기다리지 않는다고 알립니다")
        .arguments(&[("id", "i_4 같은 호출")]),
    command("office diagram", "누가 누구를 호출했는지 Mermaid 시퀀스 다이어그램으로 출력합니다")
        .arguments(&[("run", "r_3 같은 이 실행이 시작한 것만")]),
    command("dispatch", "요청에 어떤 역할이 필요한지, 누가 누구를 기다리는지, 그 이유를 보여 줍니다")
        .more(
            "규칙은 한국어와 영어를 읽습니다. 아무것도 시작하지 않고 묻지도 않으며 서버도 필요 없습니다. 프로젝트는 ostler.toml의 \
             dispatch 표로 규칙을 더합니다.",
        )
        .arguments(&[("request", "하고 싶은 일"), ("--plan", "계획만 보여 주고 아무것도 시작하지 않습니다")])
        .after("예:\n  ostler dispatch --plan \"다크 모드 지원해줘\"\n  ostler dispatch --plan --json \"로그인 기능 구현해줘\""),
    command("resolve", "메인 에이전트를 위해, 지금 실행할 수 있는 작업을 정확히 한 줄로 출력합니다")
        .more(
            "리졸버의 답입니다: READY:T1.3,T1.4(모두 시작할 수 있음), WAIT, 단계나 전체가 끝났다는 것, 또는 종료 코드 15와 함께 \
             ERROR:…. 모두 docs/ko/orchestrate.md에 있습니다. .claude/orchestrate-state.json에서 리졸버의 부분을 쓰고, 두 줄을 \
             .claude/orchestrate.log에 남깁니다.",
        )
        .arguments(&[
            ("--phase", "이 단계만"),
            ("--force", "파일을 새로 읽습니다. 언제나 이렇습니다"),
            ("--groups", "단계의 그다음 차례까지 출력합니다: READY:T1.3,T1.4|T1.5"),
            (
                "--repair",
                "옛 상태를 이해할 수 없으면 완료 표시와 로그와 git에서 새 상태를 만듭니다. 옛것은 따로 보관합니다",
            ),
        ]),
    command("exec", "작업 하나를 하게 하고 DONE:ID 또는 FAIL:ID:이유를 출력합니다")
        .more(
            "담당자의 에이전트가, 담당자가 없으면 기본 에이전트가 작업 전체를 프롬프트로 받습니다. 검증 명령이 통과하고, 파일을 적은 \
             작업이면 그 파일이 바뀌어야 끝난 것입니다. 작업 파일의 표시와 상태를 씁니다. 실패하면 이유를 알려 주고 `retry_limit`번까지 \
             다시 시작하며, 같은 실패가 세 번이면 그만둡니다. 죽었다가 다시 시작하면 같은 실행을 이어 갑니다. 종료 코드는 DONE이면 0, \
             FAIL이면 1입니다.",
        )
        .arguments(&[
            ("id", "작업"),
            ("--worktree", "일할 곳. 프로젝트를 기준으로 한 경로이고, 없으면 프로젝트 자체입니다"),
            ("--meta", "추가 정보(JSON). \"timeout\"은 모든 시도를 합쳐 그 초가 지나면 끝내고, 0이면 끝내지 않습니다"),
            ("--agent", "담당자와 상관없이 일할 에이전트"),
            ("--verbose", "줄에 수치를 더합니다: DONE:T1.3:elapsed=120s:tests=15 또는 FAIL:T1.3:elapsed=300s:retries=10:이유"),
        ]),
    command("agents", "실행할 수 있는 에이전트"),
    command(
        "agents list",
        "에이전트를 보여 줍니다: 기본 제공과 직접 추가한 것, 설치되어 있는지, 로그인되어 있는지",
    )
    .more(
        "에이전트의 표에 로그인을 증명하는 변수와 파일의 이름이 있습니다. 그 값은 보여 주지 않습니다. 그중 아무것도 없으면 \
         로그인이 없고, 표에 이름이 없으면 알 수 없습니다.",
    ),
    command("agents show", "에이전트의 표를 보여 줍니다"),
    command("agents check", "CLI의 버전을 확인하고 시험한 버전과 비교합니다")
        .more("하나라도 없으면 종료 코드는 1입니다. 이름을 주면 그것만 확인합니다.")
        .arguments(&[("name", "이것만")]),
];
