//! What there is to say: events of the journal as notices, and as the end of one. Pure: whoever asks says who is who.

use ostler_engine::{
    AccountId, Entry, Event, RequestId, SessionId,
    account::AccountLimit,
    graph::{GraphEvent, GroupChange},
    orchestrate::LoopStep,
    request::{Ask, Request},
    run::Outcome,
    session::{LaunchEnd, Session},
};
use serde::{Deserialize, Serialize};

use super::kind::Kind;
use crate::environment::digest;

/// The longest text of an agent in a notice, in characters.
const TEXT_MAX: usize = 500;

/// The longest name.
const NAME_MAX: usize = 80;

/// Hexadecimal digits of an id.
const ID_LENGTH: usize = 32;

/// Something that somebody is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Notice {
    /// The same, however often it is told and by whom.
    pub(crate) id: String,
    /// What it is.
    pub(crate) kind: Kind,
    /// What it is about.
    pub(crate) subject: Subject,
    /// When it happened.
    pub(crate) at_ms: u64,
    /// Who it is about, as far as that is known.
    pub(crate) who: Who,
    /// What an agent says, or what it works on.
    pub(crate) text: Option<String>,
}

/// What a notice is about. It is settled as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Subject {
    /// A card in the inbox.
    Request(RequestId),
    /// How a session stands.
    Session(SessionId),
    /// The limit of an account.
    Account(AccountId),
    /// A phase of the task file that a session goes through.
    Phase(SessionId, u32),
}

/// Who a notice is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Who {
    /// The agent.
    pub(crate) agent: String,
    /// What a person calls the project.
    pub(crate) project: String,
    /// What was asked for, in one line.
    pub(crate) title: String,
    /// The session.
    pub(crate) session: Option<SessionId>,
}

/// What an event means for those who are told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Heard {
    /// There is something to say.
    Opened(Box<Notice>),
    /// There is nothing to say of it any more.
    Settled(Subject),
}

/// Who knows more than an event says.
pub(crate) trait Known {
    /// Tells this state directory from all others.
    fn mark(&self) -> &str;

    /// Who a session is.
    fn who(&self, session: SessionId) -> Who;

    /// Whether it works for a loop through a task file, which tells of itself what came of it.
    fn is_of_loop(&self, session: SessionId) -> bool;

    /// Whether its process was lost, and nobody has started another.
    fn is_interrupted(&self, session: SessionId) -> bool;
}

/// Whether an event of this kind can mean anything: most do not, and need not be read.
pub(crate) fn matters(kind: &str) -> bool {
    let of_session = ["session.finished", "session.ended", "session.launched", "session.resumed"];
    let of_graph = ["loop.moved", "graph.group_changed"];
    kind.starts_with("request.")
        || kind.starts_with("account.")
        || of_session.contains(&kind)
        || of_graph.contains(&kind)
}

/// What an event means.
pub(crate) fn heard(entry: &Entry, known: &dyn Known) -> Option<Heard> {
    let session = entry.session;
    let who = || session.map(|session| known.who(session)).unwrap_or_default();
    let of_session = |kind: Kind, session: SessionId, which: u64| {
        let subject = Subject::Session(session);
        let who = who();
        let text = Some(who.title.clone());
        let id = id(known.mark(), subject, kind, which);
        Heard::Opened(Box::new(Notice { id, kind, subject, at_ms: entry.at_ms, who, text }))
    };
    match &entry.event {
        Event::RequestOpened { request, ask, expires_at_ms, .. }
        | Event::RequestRepeated { request, ask, expires_at_ms, .. } => {
            if goes_on_by_itself(ask, *expires_at_ms) {
                return None;
            }
            Some(Heard::Opened(Box::new(of_request(known.mark(), *request, ask, entry.at_ms, who()))))
        }
        Event::RequestSettled { request, .. } => Some(Heard::Settled(Subject::Request(*request))),
        // Whoever goes through forty tasks tries failed ones again, and is not to be heard forty times.
        Event::SessionFinished { .. } if known.is_of_loop(session?) => {
            Some(Heard::Settled(Subject::Session(session?)))
        }
        Event::SessionFinished { outcome } => Some(match outcome {
            Outcome::Completed { .. } => of_session(Kind::Done, session?, entry.seq),
            Outcome::Failed { .. } => of_session(Kind::Failed, session?, entry.seq),
            Outcome::Cancelled => Heard::Settled(Subject::Session(session?)),
        }),
        Event::LoopMoved { step: LoopStep::Recorded { phase } }
        | Event::Graph(GraphEvent::GroupChanged { number: phase, change: GroupChange::Recorded, .. }) => {
            let (subject, kind, who) = (Subject::Phase(session?, *phase), Kind::Phase, who());
            let id = id(known.mark(), subject, kind, entry.seq);
            let text = Some(format!("Phase {phase}: {}", who.title));
            Some(Heard::Opened(Box::new(Notice { id, kind, subject, at_ms: entry.at_ms, who, text })))
        }
        Event::SessionEnded { launch, end: LaunchEnd::Lost { .. }, .. } => {
            let is_interrupted = known.is_interrupted(session?);
            is_interrupted.then_some(of_session(Kind::Interrupted, session?, u64::from(*launch)))
        }
        Event::SessionLaunched { .. } | Event::SessionResumed { .. } => {
            Some(Heard::Settled(Subject::Session(session?)))
        }
        Event::AccountLimited(AccountLimit { account, .. }) => {
            let (subject, kind, who) = (Subject::Account(*account), Kind::Limit, who());
            let id = id(known.mark(), subject, kind, entry.seq);
            Some(Heard::Opened(Box::new(Notice { id, kind, subject, at_ms: entry.at_ms, who, text: None })))
        }
        Event::AccountRecovered { account } => Some(Heard::Settled(Subject::Account(*account))),
        _ => None,
    }
}

/// What a request says that is open when somebody begins to listen.
pub(crate) fn of_open(request: &Request, known: &dyn Known) -> Option<Notice> {
    let is_said = request.is_open() && !goes_on_by_itself(&request.ask, request.expires_at_ms);
    let who = || known.who(request.session);
    is_said.then(|| of_request(known.mark(), request.id, &request.ask, request.opened_at_ms, who()))
}

/// The same for a session whose process was lost.
pub(crate) fn of_interrupted(session: &Session, known: &dyn Known) -> Option<Notice> {
    let launch = session.launches.last().filter(|_| session.is_interrupted())?;
    let Some(LaunchEnd::Lost { at_ms }) = launch.ended else { return None };
    let (subject, kind, who) = (Subject::Session(session.id), Kind::Interrupted, known.who(session.id));
    let id = id(known.mark(), subject, kind, u64::from(launch.number));
    Some(Notice { id, kind, subject, at_ms, text: Some(who.title.clone()), who })
}

/// An error that its agent recovers from: only when it gives that up, it needs somebody.
fn goes_on_by_itself(ask: &Ask, expires_at_ms: Option<u64>) -> bool {
    matches!(ask, Ask::Error(_)) && expires_at_ms.is_some()
}

fn of_request(mark: &str, request: RequestId, ask: &Ask, at_ms: u64, who: Who) -> Notice {
    let (subject, kind) = (Subject::Request(request), Kind::of(ask));
    // A number of a request is given once, so that nothing else is needed to tell it from others.
    Notice { id: id(mark, subject, kind, 0), kind, subject, at_ms, who, text: words(ask) }
}

/// What is asked, in the agent's words. What a tool would be called with is none of them: it may be anything.
fn words(ask: &Ask) -> Option<String> {
    let text = match ask {
        Ask::Question(it) => it.question.clone(),
        Ask::AskUser(it) => it.question.clone(),
        Ask::Dependency(it) => format!("{}: {}", it.name, it.description),
        Ask::Error(it) => it.message.clone(),
        Ask::Fault(it) => it.sentence(),
        Ask::Stall { reason } => reason.clone(),
        Ask::Permission(it) => match &it.description {
            Some(description) => format!("{}: {description}", it.tool),
            None => it.tool.clone(),
        },
        Ask::Review(it) => format!("{} {}", it.phase, it.name),
        Ask::Steered { .. } | Ask::TimeOver { .. } | Ask::CostOver { .. } | Ask::TokensOver { .. } => {
            return None;
        }
    };
    Some(clean(&text, TEXT_MAX)).filter(|text| !text.is_empty())
}

/// An id that fits into an address and says nothing by itself.
fn id(mark: &str, subject: Subject, kind: Kind, which: u64) -> String {
    let subject = match subject {
        Subject::Request(id) => id.to_string(),
        Subject::Session(id) => id.to_string(),
        Subject::Account(id) => id.to_string(),
        Subject::Phase(id, phase) => format!("{id} {phase}"),
    };
    let text = format!("{mark}\n{subject}\n{}\n{which}", kind.as_str());
    let mut digits = digest(text.as_bytes());
    digits.truncate(ID_LENGTH);
    digits
}

/// The id of several that are told together.
pub(crate) fn id_together(notices: &[Notice]) -> String {
    let ids: Vec<&str> = notices.iter().map(|notice| notice.id.as_str()).collect();
    let mut digits = digest(ids.join("\n").as_bytes());
    digits.truncate(ID_LENGTH);
    digits
}

impl Who {
    /// Names come from configurations and directories of repositories; they are shown, and nothing else.
    pub(crate) fn new(agent: &str, project: &str, title: &str, session: SessionId) -> Who {
        Who {
            agent: clean(agent, NAME_MAX),
            project: clean(project, NAME_MAX),
            title: clean(title, TEXT_MAX),
            session: Some(session),
        }
    }
}

/// Somebody's text in one line, without anything that controls what shows it, and not longer than that.
pub(crate) fn clean(text: &str, length_max: usize) -> String {
    let is_shown = |letter: &char| {
        !letter.is_control()
            && !matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let words: Vec<String> = text
        .split_whitespace()
        .map(|word| word.chars().filter(is_shown).collect::<String>())
        .filter(|word| !word.is_empty())
        .collect();
    let text = words.join(" ");
    match text.char_indices().nth(length_max) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_line_without_controls() {
        assert_eq!(clean("  a\r\n\tb\u{1b}[31m \u{202e}c\u{200b}d\u{7}  ", 80), "a b[31m cd");
        assert_eq!(clean("\u{0}\u{202a}", 80), "");
        assert_eq!(clean("가나다라", 3), "가나다…");
        assert_eq!(clean("가나다", 3), "가나다");
    }

    #[test]
    fn an_id_is_fit_for_every_channel_and_tells_all_apart() {
        let request = |mark, number| id(mark, Subject::Request(RequestId(number)), Kind::Question, 0);
        let first = request("m", 1);
        assert_eq!(first, request("m", 1));
        assert!(first.len() == ID_LENGTH && first.bytes().all(|byte| byte.is_ascii_hexdigit()), "{first}");
        let session = |kind, which| id("m", Subject::Session(SessionId(1)), kind, which);
        let others = [
            request("m", 2),
            request("n", 1),
            session(Kind::Done, 1),
            session(Kind::Failed, 1),
            session(Kind::Failed, 2),
        ];
        let all: std::collections::BTreeSet<&String> = others.iter().chain([&first]).collect();
        assert_eq!(all.len(), 6);
    }
}
