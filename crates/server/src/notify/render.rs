//! A message as each channel wants it. Whatever an agent said is text here and stays text: it is escaped, or stands
//! where nobody looks for markup.

use ring::hmac;
use serde_json::{Value, json};

use super::{
    ledger::{Message, What},
    notice::{Notice, Subject},
    words::Language,
};
use crate::{config::NotifyChannel, random::hexadecimal};

/// The version of what webhooks and commands get.
const VERSION: u32 = 1;

/// How many of those that are told together have a line of their own.
const LINES_MAX: usize = 20;

/// How notices are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Style {
    /// The channel.
    pub(crate) channel: String,
    /// The language of who reads it.
    pub(crate) language: Language,
    /// Whether what agents say is shown.
    pub(crate) text: bool,
    /// Where the page is, without a slash at the end.
    pub(crate) page: String,
}

/// What is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said<'a> {
    /// Something that happened, or its end.
    Message(&'a Message),
    /// A person wants to see whether it arrives.
    Test {
        /// Its id.
        id: &'a str,
    },
}

impl Style {
    pub(crate) fn of(config: &NotifyChannel, language: Language, page: String) -> Style {
        Style { channel: config.name.clone(), language, text: config.text, page }
    }

    /// Who it is and what happened, in a line.
    fn title(&self, notice: &Notice) -> String {
        let who = [&notice.who.agent, &notice.who.project];
        let who: Vec<&str> = who.into_iter().map(String::as_str).filter(|it| !it.is_empty()).collect();
        let what = self.language.of_kind(notice.kind);
        if who.is_empty() { what.to_owned() } else { format!("{}: {what}", who.join(" · ")) }
    }

    fn text<'a>(&self, notice: &'a Notice) -> Option<&'a str> {
        notice.text.as_deref().filter(|text| self.text && !text.is_empty())
    }

    /// Exactly that card.
    fn url(&self, notice: &Notice) -> String {
        match (notice.subject, notice.who.session) {
            (Subject::Request(id), _) => format!("{}/requests/{id}", self.page),
            (Subject::Session(id) | Subject::Phase(id, _), _) | (Subject::Account(_), Some(id)) => {
                format!("{}/sessions/{id}", self.page)
            }
            (Subject::Account(_), None) => format!("{}/", self.page),
        }
    }

    /// What stands above a message, and where it leads.
    fn head(&self, said: Said<'_>) -> (String, String) {
        match said {
            Said::Test { .. } => (self.language.test_title().to_owned(), format!("{}/", self.page)),
            Said::Message(message) => match message.notices.as_slice() {
                [notice] => (self.title(notice), self.url(notice)),
                notices => (self.language.together(notices.len()), format!("{}/", self.page)),
            },
        }
    }

    /// What stands below that: what was said, or a line for each.
    fn lines(&self, said: Said<'_>) -> Vec<String> {
        let notices = match said {
            Said::Test { .. } => return vec![self.language.test().to_owned()],
            Said::Message(message) => &message.notices,
        };
        if let [notice] = notices.as_slice() {
            return self.text(notice).map(str::to_owned).into_iter().collect();
        }
        let line = |notice: &Notice| match self.text(notice) {
            Some(text) => format!("{}: {text}", self.title(notice)),
            None => self.title(notice),
        };
        let more = notices.len().saturating_sub(LINES_MAX);
        let more = (more > 0).then(|| self.language.more(more));
        notices.iter().take(LINES_MAX).map(line).chain(more).collect()
    }

    /// For an incoming webhook of Slack: our own words with a link, and the agent's in a block without markup.
    pub(crate) fn slack(&self, said: Said<'_>) -> Value {
        let (title, url) = self.head(said);
        let lines = self.lines(said);
        let head = format!("<{}|{}>", slack_escaped(&url), slack_escaped(&title));
        let mut blocks = vec![json!({
            "type": "section",
            "text": { "type": "mrkdwn", "text": head, "verbatim": true },
        })];
        if !lines.is_empty() {
            // Slack takes 3000 characters in a block, and fifty blocks.
            blocks.extend(lines.iter().map(|line| {
                json!({ "type": "section", "text": { "type": "plain_text", "text": line, "emoji": false } })
            }));
        }
        let whole = std::iter::once(&title).chain(&lines).map(|line| slack_escaped(line));
        json!({
            "text": whole.collect::<Vec<_>>().join("\n"),
            "blocks": blocks,
            "unfurl_links": false,
            "unfurl_media": false,
        })
    }

    /// For ntfy: the topic stands in the body, so that nothing of an agent is ever a header.
    pub(crate) fn ntfy(&self, topic: &str, said: Said<'_>) -> Value {
        let (title, url) = self.head(said);
        let lines = self.lines(said);
        let text = if lines.is_empty() { title.clone() } else { lines.join("\n") };
        let is_urgent = match said {
            Said::Message(message) => message.notices.iter().any(|it| it.kind.needs_somebody()),
            Said::Test { .. } => false,
        };
        json!({
            "topic": topic,
            "title": title,
            "message": text,
            "click": url,
            "priority": if is_urgent { 4 } else { 3 },
            "sequence_id": said.id(),
        })
    }

    /// For programs: webhooks and commands get the same.
    pub(crate) fn program(&self, said: Said<'_>, now_ms: u64) -> Value {
        let notices = match said {
            Said::Message(message) => message.notices.iter().map(|notice| self.notice(notice)).collect(),
            Said::Test { .. } => Vec::new(),
        };
        let (title, url) = self.head(said);
        json!({
            "v": VERSION,
            "id": said.id(),
            "event": said.event(),
            "channel": self.channel,
            "sent_at": now_ms,
            "title": title,
            "text": self.lines(said).join("\n"),
            "url": url,
            "notices": Value::Array(notices),
        })
    }

    fn notice(&self, notice: &Notice) -> Value {
        let request = match notice.subject {
            Subject::Request(id) => Some(id.to_string()),
            Subject::Session(_) | Subject::Account(_) | Subject::Phase(..) => None,
        };
        json!({
            "id": notice.id,
            "kind": notice.kind.as_str(),
            "at": notice.at_ms,
            "agent": notice.who.agent,
            "project": notice.who.project,
            "session": notice.who.session.map(|id| id.to_string()),
            "request": request,
            "title": self.title(notice),
            "text": self.text(notice),
            "url": self.url(notice),
        })
    }

    /// What a command finds in its environment: the same, for scripts that read no JSON.
    pub(crate) fn variables(&self, said: Said<'_>) -> Vec<(&'static str, String)> {
        let (title, url) = self.head(said);
        let mut variables = vec![
            ("OSTLER_NOTICE_EVENT", said.event().to_owned()),
            ("OSTLER_NOTICE_ID", said.id().to_owned()),
            ("OSTLER_NOTICE_CHANNEL", self.channel.clone()),
            ("OSTLER_NOTICE_TITLE", title),
            ("OSTLER_NOTICE_TEXT", self.lines(said).join("\n")),
            ("OSTLER_NOTICE_URL", url),
        ];
        if let Said::Message(Message { notices, .. }) = said
            && let [notice] = notices.as_slice()
        {
            variables.push(("OSTLER_NOTICE_KIND", notice.kind.as_str().to_owned()));
            variables.push(("OSTLER_NOTICE_AGENT", notice.who.agent.clone()));
            variables.push(("OSTLER_NOTICE_PROJECT", notice.who.project.clone()));
        }
        variables
    }
}

impl Said<'_> {
    /// The same, however often it is sent.
    pub(crate) fn id(&self) -> &str {
        match self {
            Said::Message(message) => &message.id,
            Said::Test { id } => id,
        }
    }

    fn event(self) -> &'static str {
        match self {
            Said::Message(Message { what: What::Notice, .. }) => "notice",
            Said::Message(Message { what: What::Settled, .. }) => "settled",
            Said::Test { .. } => "test",
        }
    }
}

/// The three letters by which everything else in Slack's markup is reached: links, mentions, `<!channel>`.
fn slack_escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// What a receiver compares: HMAC-SHA256 over the seconds, a full stop, and the body.
pub(crate) fn signature(secret: &str, seconds: u64, body: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let mut context = hmac::Context::with_key(&key);
    context.update(format!("{seconds}.").as_bytes());
    context.update(body);
    format!("v1={}", hexadecimal(context.sign().as_ref()))
}

/// Something to say.
#[cfg(test)]
pub(crate) fn example(kind: super::kind::Kind, number: u64, text: &str) -> Notice {
    use super::notice::Who;
    use ostler_engine::{RequestId, SessionId};
    Notice {
        id: format!("id-{number}"),
        kind,
        subject: Subject::Request(RequestId(number)),
        at_ms: 1_000,
        who: Who::new("claude", "shop", "fix it", SessionId(2)),
        text: Some(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notify::kind::Kind;

    const HOSTILE: &str = "<!channel> <https://evil.example|click> & *bold* @here <@U1> ~x~ `y`";

    fn style(text: bool) -> Style {
        let page = "https://ostler.example".to_owned();
        Style { channel: "c".to_owned(), language: Language::English, text, page }
    }

    fn message(notices: Vec<Notice>) -> Message {
        Message { what: What::Notice, id: "m".to_owned(), notices }
    }

    #[test]
    fn slack_reads_no_markup_of_an_agent() {
        let message = message(vec![example(Kind::Question, 7, HOSTILE)]);
        let body = style(true).slack(Said::Message(&message));
        let head = &body["blocks"][0]["text"];
        assert_eq!(head["text"], "<https://ostler.example/requests/q_7|claude · shop: asks a question>");
        let said = &body["blocks"][1]["text"];
        assert_eq!((said["type"].as_str(), said["text"].as_str()), (Some("plain_text"), Some(HOSTILE)));
        let whole = body["text"].as_str().expect("text");
        assert!(!whole.contains('<') && !whole.contains('>'), "{whole}");
        assert!(whole.contains("&lt;!channel&gt;"), "{whole}");
    }

    #[test]
    fn names_are_no_markup_either() {
        let mut notice = example(Kind::Question, 7, "x");
        notice.who.agent = "<!here>".to_owned();
        notice.who.project = "a|b>c".to_owned();
        let body = style(true).slack(Said::Message(&message(vec![notice])));
        let head = body["blocks"][0]["text"]["text"].as_str().expect("text").to_owned();
        assert_eq!(head.matches('<').count(), 1, "{head}");
        assert_eq!(head.matches('>').count(), 1, "{head}");
    }

    #[test]
    fn the_text_can_be_left_out() {
        let message = message(vec![example(Kind::Question, 7, "hush"), example(Kind::Error, 8, "hush")]);
        let (said, style) = (Said::Message(&message), style(false));
        let all = format!(
            "{}{}{}{:?}",
            style.slack(said),
            style.ntfy("t", said),
            style.program(said, 1),
            style.variables(said)
        );
        assert!(!all.contains("hush"), "{all}");
        assert!(all.contains("claude · shop: reports an error"), "{all}");
    }

    #[test]
    fn many_are_one_message_with_a_line_each() {
        let notices = (1..=30).map(|number| example(Kind::Question, number, "Which?")).collect();
        let message = message(notices);
        let body = style(true).ntfy("t", Said::Message(&message));
        assert_eq!(body["title"], "30 notices from your agents");
        assert_eq!(body["click"], "https://ostler.example/");
        let lines: Vec<&str> = body["message"].as_str().expect("text").lines().collect();
        assert_eq!((lines.len(), lines[20]), (21, "and 10 more"));
        assert!(style(true).slack(Said::Message(&message))["blocks"].as_array().expect("blocks").len() < 50);
        let korean = Style { language: Language::Korean, ..style(true) };
        assert_eq!(korean.ntfy("t", Said::Message(&message))["title"], "에이전트 알림 30개");
    }

    #[test]
    fn a_program_gets_everything_and_the_same_id() {
        let message = message(vec![example(Kind::Permission, 7, "Bash")]);
        let body = style(true).program(Said::Message(&message), 5);
        assert_eq!(
            (&body["id"], &body["event"], &body["sent_at"]),
            (&json!("m"), &json!("notice"), &json!(5))
        );
        let notice = &body["notices"][0];
        assert_eq!((&notice["request"], &notice["session"]), (&json!("q_7"), &json!("s_2")));
        assert_eq!(notice["url"], "https://ostler.example/requests/q_7");
        let settled = Message { what: What::Settled, ..message };
        assert!(
            style(true)
                .variables(Said::Message(&settled))
                .contains(&("OSTLER_NOTICE_EVENT", "settled".to_owned()))
        );
    }

    /// The second case of RFC 4231, with the seconds taken from the beginning of its text.
    #[test]
    fn the_signature_is_the_known_one() {
        let key = hmac::Key::new(hmac::HMAC_SHA256, b"Jefe");
        let known = hexadecimal(hmac::sign(&key, b"what do ya want for nothing?").as_ref());
        assert_eq!(known, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        let ours = signature("Jefe", 17, b"{}");
        let whole = hexadecimal(hmac::sign(&key, b"17.{}").as_ref());
        assert_eq!(ours, format!("v1={whole}"));
    }
}
