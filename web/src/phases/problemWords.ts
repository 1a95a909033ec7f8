// What can be wrong at a gate, and why a verifier has given no verdict: by the words of the interface, in both languages.
type Sentences = Record<string, string>;

const en: Sentences = {
  not_announced: "The agent has ended and has not said that the phase is done.",
  wrong_number: "The agent says that phase {announced} is done, which is not the one that it works on.",
  not_checkpointed: "What stands there could not be kept: {message}",
  not_collected: "What was kept could not be looked at: {message}",
  missing: "{path} is missing.",
  too_few: "{glob}: there are {count} files, and at least {min} are wanted.",
  too_many: "{glob}: there are {count} files, and at most {max} are wanted.",
  empty: "{path} is empty.",
  unchanged: "{glob}: nothing has changed since the phase began.",
  section_missing: "{path} has no section “{section}”.",
  section_empty: "{path}: there is nothing in the section “{section}”.",
  placeholder: "{path}, line {line}: something is left to be written: {text}",
  announced_absent: "{path} was announced and is not there.",
  deleted: "{path} was to stay, and is gone.",
  too_large: "{path} is too large to be kept.",
  not_kept: "{path} is there and cannot be looked at: git ignores it, it is a link, or it stands in a repository of its own.",
  no_tests: "Nobody knows how the tests are run. `tests` under [phases] in ostler.toml can say it.",
  check_failed: "{run} has failed with exit code {code}.",
  check_overdue: "{run} took longer than {time}, and was ended.",
  tests_failed: "{run}: failed tests: {failures} ({failed})",
  no_tests_run: "{run} has not run a single test.",
  fewer_tests: "{run} has run {tests} tests. At an earlier gate it was {before}.",
  criterion: "The verifier says that this is not so: {text}",
  verifier: "There is no verdict.",
};

const ko: Sentences = {
  not_announced: "에이전트가 단계가 끝났다고 말하지 않고 종료했습니다.",
  wrong_number: "에이전트가 {announced}단계가 끝났다고 했지만, 지금 하는 단계가 아닙니다.",
  not_checkpointed: "파일을 보관하지 못했습니다: {message}",
  not_collected: "보관한 파일을 살펴보지 못했습니다: {message}",
  missing: "{path} 파일이 없습니다.",
  too_few: "{glob}: 파일이 {count}개입니다. 최소 {min}개가 필요합니다.",
  too_many: "{glob}: 파일이 {count}개입니다. 최대 {max}개까지입니다.",
  empty: "{path} 파일이 비어 있습니다.",
  unchanged: "{glob}: 단계가 시작된 뒤로 바뀐 것이 없습니다.",
  section_missing: "{path}에 “{section}” 절이 없습니다.",
  section_empty: "{path}의 “{section}” 절이 비어 있습니다.",
  placeholder: "{path} {line}행에 아직 쓰지 않은 곳이 있습니다: {text}",
  announced_absent: "{path} 파일을 만들었다고 했지만 없습니다.",
  deleted: "남아 있어야 할 {path} 파일이 없어졌습니다.",
  too_large: "{path} 파일이 너무 커서 보관할 수 없습니다.",
  not_kept: "{path} 파일은 있지만 살펴볼 수 없습니다. git이 무시하거나, 링크이거나, 별도의 저장소 안에 있습니다.",
  no_tests: "테스트를 어떻게 실행하는지 알 수 없습니다. ostler.toml의 [phases]에 `tests`로 적을 수 있습니다.",
  check_failed: "{run} 명령이 종료 코드 {code}로 실패했습니다.",
  check_overdue: "{run} 명령이 {time}을 넘겨 중단되었습니다.",
  tests_failed: "{run}: 테스트 {failures}개가 실패했습니다: {failed}",
  no_tests_run: "{run} 명령이 테스트를 하나도 실행하지 않았습니다.",
  fewer_tests: "{run} 명령이 테스트 {tests}개를 실행했습니다. 이전 관문에서는 {before}개였습니다.",
  criterion: "검증자가 그렇지 않다고 합니다: {text}",
  verifier: "판정이 없습니다.",
};

const verifierEn: Sentences = {
  no_place: "There is no place in which the verifier could look: {message}",
  died: "The verifier has ended without a verdict. {reason}",
  overdue: "The verifier took too long.",
  cancelled: "Somebody has ended the verifier.",
  invalid: "What the verifier said is no verdict: {message}",
  changed_place: "The verifier has changed what it was to look at: {path}",
  changed_project: "The project was changed while the verifier looked: {path}",
};

const verifierKo: Sentences = {
  no_place: "검증자가 살펴볼 곳을 만들지 못했습니다: {message}",
  died: "검증자가 판정 없이 종료했습니다. {reason}",
  overdue: "검증자가 시간을 초과했습니다.",
  cancelled: "누군가 검증자를 끝냈습니다.",
  invalid: "검증자가 한 말은 판정이 아닙니다: {message}",
  changed_place: "검증자가 살펴볼 것을 바꾸었습니다: {path}",
  changed_project: "검증자가 보는 동안 프로젝트가 바뀌었습니다: {path}",
};

export const said = { problems: { en, ko }, failures: { en: verifierEn, ko: verifierKo } };
