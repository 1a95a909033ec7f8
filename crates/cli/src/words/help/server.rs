//! Help in Korean: the commands around the server, and those that set things up.

use super::{CommandHelp, command};

pub(super) const COMMANDS: &[CommandHelp] = &[
    command("", "AI 코딩 에이전트를 돌봅니다")
        .more("명령 없이 실행하면 당신을 기다리는 것과 실행 중인 것을 보여 줍니다.")
        .after(
            "종료 코드: 0 완료, 1 실패, 2 잘못된 명령줄, 7 지금은 거부됨, 8 없는 것, 9 잘못된 설정, 10 취소됨, 11 중단됨, 12 두고 \
             나감, 13 답 없음, 14 거부됨, 15 작업 파일이나 그 상태, 16 시간 초과. 모두 docs/ko/exit-codes.md에 있습니다.",
        )
        .arguments(&[
            ("--json", "프로그램을 위해 JSON으로 출력합니다. 번역되지 않습니다"),
            ("--lang", "언어: en 또는 ko [기본값: 설정이나 환경에 따름]"),
        ]),
    command("help", "이 도움말이나 명령의 도움말을 보여 줍니다"),
    command("serve", "서버를 포그라운드에서 실행합니다")
        .more(
            "필요하면 다른 명령이 알아서 시작하므로, systemd나 터미널에서 직접 돌보려는 사람을 위한 명령입니다. 서버가 끝나도 \
             에이전트는 끝나지 않습니다.",
        )
        .arguments(&[
            ("--background", "아무 말 없이, 터미널이 닫혀도 실행됩니다. 다른 명령이 서버를 시작하는 방식입니다"),
            ("--stop", "실행 중인 서버를 끝냅니다. 에이전트는 계속합니다"),
            ("--systemd", "'systemctl --user'용 유닛을 출력합니다"),
        ]),
    command("doctor", "Ostler에 필요한 모든 것을 점검합니다")
        .more(
            "줄마다 ok, warn, bad와 할 일을 알려 줍니다. bad가 있으면 종료 코드는 1입니다. 아무것도 바꾸지 않고 서버도 시작하지 \
             않습니다.",
        )
        .arguments(&[(
            "--bundle",
            "도와줄 사람을 위한 파일도 씁니다. 일반 텍스트이고, 비밀 값과 에이전트나 사람이 한 말은 없습니다",
        )]),
    command("notify", "누가 무엇을 알림으로 받는지 보고, 시험합니다").more(
        "누구에게 알릴지는 당신의 설정에서 정합니다: docs/notifications.md의 `[[notify]]`. 주소와 토큰은 보여 주지 않습니다.",
    ),
    command("notify list", "알림 채널과 그 상태를 보여 줍니다"),
    command("notify test", "채널로 시험 알림을 보내고 도착했는지 알려 줍니다"),
    command("export", "저널을 JSON 줄로 출력합니다")
        .more("서버가 필요 없고 서버를 방해하지도 않습니다.")
        .arguments(&[("file", "쓸 파일. '-'이거나 없으면 표준 출력")]),
    command("verify", "저널을 다시 실행해 보관된 상태와 비교하고, 로그와 스풀과 보관함을 점검합니다")
        .more("서버가 필요 없고 서버를 방해하지도 않습니다. 다르거나 손상되었으면 종료 코드는 1입니다.")
        .arguments(&[(
            "--mend",
            "손상된 저널에서 읽을 수 있는 것을 살리고 손상된 것은 따로 둡니다. 서버가 실행 중이면 안 됩니다",
        )]),
    command("parse", "스트림을 읽고 항목마다 JSON 객체 하나를 출력합니다")
        .more(
            "아무리 많이 읽어도 메모리는 일정합니다. 침묵 규칙은 살아 있는 에이전트에만 적용되고 여기서는 적용되지 않습니다. thin \
             줄은 세션의 역할과 상관없이 보여 줍니다.",
        )
        .arguments(&[
            ("input", "읽을 파일. '-'이면 표준 입력"),
            ("--format", "스트림의 형식"),
            ("--chunk", "파서에 이 크기로 나누어 넘깁니다. 항목은 크기와 상관없이 같습니다"),
            ("--nonce", "세션의 nonce. 이것이 있는 태그는 'tagged'로 신뢰합니다"),
            ("--stats", "끝에 개수를 담은 JSON 객체 하나를 표준 오류에 출력합니다"),
        ]),
    command("demo", "각본대로 움직이는 에이전트 셋을 1분 동안 지켜봅니다")
        .more(
            "묻고, 서버가 강제로 종료되어도 계속하고, 끝나지 않은 일을 끝났다고 하면 다시 하게 됩니다. 모두 실제로 전용 \
             디렉터리에서 일어납니다. 당신의 프로젝트와 세션은 건드리지 않고, 아무것도 남기지 않습니다. Ctrl-C로 언제든지 끝낼 수 \
             있습니다.\n\n--full이면 각본대로 움직이는 에이전트들이 네 단계를 모두 거칩니다. 작은 프로그램을 기획하고, 설계하고, \
             쓰고, 테스트하며 필요한 것을 당신에게 묻고, 당신은 터미널이나 페이지에서 단계마다 승인합니다.",
        )
        .arguments(&[
            ("--full", "아이디어에서 테스트한 코드까지 단계별로 보여 줍니다"),
            ("--auto", "키와 멈춤 없이 혼자 진행합니다. 터미널이 아니면 언제나 이렇습니다"),
            ("--keep", "살펴볼 수 있게 디렉터리를 남깁니다"),
            ("--dir", "새 디렉터리나 빈 디렉터리 [기본값: 상태 디렉터리의 demo]"),
        ]),
    command("completions", "셸의 자동 완성을 출력합니다")
        .more(
            "그러면 셸이 명령, ID, 이름, 에이전트, 작업을 ostler에 묻습니다. bash는 ~/.bashrc에: source <(ostler completions \
             bash). zsh는 ~/.zshrc에: source <(ostler completions zsh). fish는 ~/.config/fish/config.fish에: ostler completions \
             fish | source",
        )
        .arguments(&[("shell", "셸")]),
    command("man", "매뉴얼 페이지를 출력하거나, 모든 명령의 페이지를 디렉터리에 씁니다")
        .more("읽으려면: ostler man | man -l -")
        .arguments(&[("--directory", "ostler.1과 모든 명령의 페이지를 여기에 씁니다")]),
];
