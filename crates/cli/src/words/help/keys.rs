//! Help in Korean: the commands for secrets, trust and tokens.

use super::{CommandHelp, command};

pub(super) const COMMANDS: &[CommandHelp] = &[
    command("secret", "프로젝트의 에이전트를 위한 비밀 값을 보관합니다"),
    command("secret set", "비밀 값을 보관합니다. 같은 이름의 값은 바꿉니다")
        .more("값을 보이지 않게 묻습니다. 표준 입력에서 읽거나, 필요할 때마다 다른 곳에서 찾게 할 수도 있습니다.")
        .arguments(&[
            ("name", "이름. 에이전트가 받을 변수의 이름입니다"),
            ("--stdin", "값을 표준 입력에서 읽습니다. 끝의 줄바꿈 하나는 뺍니다"),
            ("--from", "필요할 때마다 찾을 곳: env:NAME(서버가 실행되는 곳), file:PATH, cmd:COMMAND"),
            ("--ask", "에이전트가 달라고 할 때마다 당신에게 묻습니다"),
            ("--plain", "비밀이 아닙니다. 에이전트가 출력하는 곳에 그대로 보여 줍니다"),
        ]),
    command("secret list", "비밀 값의 이름을 보여 줍니다. 값은 보여 주지 않습니다")
        .arguments(&[("--all", "모든 프로젝트의 것과 세션 하나에만 준 것도 보여 줍니다")]),
    command("secret rm", "비밀 값을 지웁니다").arguments(&[("--session", "그 값을 혼자 받은 세션")]),
    command("secret get", "비밀 값을 출력합니다"),
    command("secret unlock", "서버가 끝날 때까지 보관함의 암호문을 알려 줍니다")
        .arguments(&[("--stdin", "암호문을 표준 입력에서 읽습니다")]),
    command(
        "secret mend",
        "손상된 보관함에서 아직 열 수 있는 것을 살리거나, 백업에서 되살린 보관함을 받아들입니다",
    ),
    command("trust", "저장소가 실행하려는 것을 보고 허락합니다")
        .more(
            "프로그램을 실행하는 git 설정, ostler.toml의 에이전트, 작업의 검증 명령은 이렇게 허락한 뒤에만 실행됩니다. 그중 하나가 \
             바뀌면 다시 묻습니다.",
        )
        .arguments(&[
            ("path", "저장소, 또는 그 안의 아무 디렉터리. 없으면 지금 있는 곳"),
            ("--list", "지금까지 동의한 모든 것을 보여 줍니다"),
            ("--revoke", "동의를 거둡니다. 저장소의 것은 더 실행되지 않습니다"),
            ("--tasks", "프로젝트의 작업 파일이 아닌, 저장소의 이 작업 파일이 실행하는 것도 허락합니다"),
            ("--config", "저장소 대신 당신의 설정: 서버가 직접 실행하는 명령 가운데 새것이거나 바뀐 것"),
        ]),
    command("token", "TCP로 접속할 스크립트를 허락하고, 누가 들어올 수 있는지 봅니다"),
    command("token make", "토큰을 만들고 한 번만 출력합니다").arguments(&[
        ("name", "토큰의 이름"),
        ("--days", "쓸 수 있는 날수"),
        ("--read-only", "보기만 할 수 있고 비밀 값은 볼 수 없습니다"),
    ]),
    command("token list", "토큰과 로그인한 브라우저를 보여 줍니다"),
    command("token revoke", "토큰은 이름으로, 로그인은 ID로 끝냅니다").arguments(&[("name", "끝낼 것")]),
];
