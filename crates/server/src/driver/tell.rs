//! What a keeper says to the shim of its session, and what its agent is told: as it is or, where the agent's terminal
//! would cut a line, by a file in the session's own directory, which stays as long as the session is known.
//!
//! A file is named by what it holds and is on the disk before anything names it. Whoever does the same again after a
//! crash writes the same file and says the same words. What a shim does not take is reported, never passed over.

use std::{io, path::Path, sync::Arc};

use ostler_engine::{
    Input,
    answer::Answer,
    event::{NotTaken, Parcel},
    office::Reference,
    request::Ask,
    session::Session,
    told::{self, Long},
};
use ostler_protocol::mask::is_masked;
use ostler_shim::control::{self, Command, MaskedQuestion, Reply};
use serde_json::json;
use tokio::time::sleep;

use super::{
    keeper::{AGAIN, Keeper},
    launch::LaunchError,
};
use crate::{crash, environment::digest, home, home::Home, office::kept};

const _: () = assert!(
    told::TERMINAL_LINE_BYTES_MAX == control::TERMINAL_LINE_BYTES_MAX,
    "the engine has put into files what a shim would refuse"
);

impl Keeper {
    pub(super) async fn control(
        &mut self,
        launch: u32,
        command: Command,
        [before, after]: [&'static str; 2],
    ) {
        crash::site(before);
        // A shim refuses what has been overtaken, such as sending on who was stopped again.
        self.tell(launch, command).await;
        crash::site(after);
    }

    /// Says something to the shim of a launch, if it still lives. Gives why it was refused, if it was.
    pub(super) async fn tell(&mut self, launch: u32, command: Command) -> Option<String> {
        loop {
            if !matches!(&self.link, Some((number, _)) if *number == launch) {
                self.known_seq(launch)?;
                self.attach(launch).await;
            }
            let (_, link) = self.link.as_mut()?;
            match link.ask(command.clone()).await {
                Ok(Reply::Refused(why)) if why == control::NO_ROOM && !self.must_end(launch) => {
                    sleep(AGAIN).await;
                }
                Ok(Reply::Refused(why)) => return Some(why),
                Ok(Reply::Done | Reply::Status(_) | Reply::Bytes(_)) => return None,
                Err(error) if error.kind() == io::ErrorKind::TimedOut => self.shim_is_silent().await,
                Err(_) => self.shim_left().await,
            }
        }
    }

    /// Writes something to the agent's input, or reports that it cannot be.
    pub(super) async fn deliver(&mut self, launch: u32, parcel: Parcel, text: String, long: Option<Long>) {
        crash::site("before deliver");
        let Some(text) = self.rendered(launch, text, long).await else { return };
        let key = parcel.to_string();
        let asked = self.masked_question(parcel);
        let refused = self.tell(launch, Command::Input { key, text, go_on: false, asked }).await;
        // What was taken and is not read any more is seen from the records.
        if let Some(why) = refused.filter(|why| why != control::GIVEN_UP) {
            // Another process may have an input that is open, and a disk that has room.
            let for_good = ![control::CLOSED, control::NOT_READ, control::NO_ROOM].contains(&why.as_str());
            let said = json!({ "session": self.session, "parcel": parcel.to_string(), "why": why });
            self.driver.log.error("input.refused", said);
            let (session, what) = (self.session, NotTaken { launch, parcel, why });
            self.submit(Input::NotTaken { session, what, for_good }).await;
        }
        crash::site("after deliver");
    }

    /// The question that an input answers, if it contains masked words: the shim alone knows what they were.
    fn masked_question(&self, parcel: Parcel) -> Option<MaskedQuestion> {
        let Parcel::Request(id) = parcel else { return None };
        let world = self.driver.journal.world();
        let request = world.requests.get(&id)?;
        let (question, options) = match &request.ask {
            Ask::Question(it) => (&it.question, &it.options),
            Ask::AskUser(it) => (&it.question, &it.options),
            _ => return None,
        };
        let default = request.ask.default_answer();
        let mut words = options.iter().map(String::as_str).chain([question.as_str()]).chain(default);
        if !words.any(is_masked) {
            return None;
        }
        let number = match request.settled.as_ref()?.answer {
            Answer::Chosen { number, .. } => Some(number),
            _ => None,
        };
        Some(MaskedQuestion { question: question.clone(), options: options.clone(), number })
    }

    /// The bytes for the agent's input, however long the disk refuses what has to be kept for them. Nothing, if nobody
    /// waits for them any more.
    async fn rendered(&self, launch: u32, text: String, long: Option<Long>) -> Option<String> {
        let Some(long) = long else { return Some(text) };
        let text = Arc::new(text);
        while self.known_seq(launch).is_some() && !self.must_end(launch) {
            let korean = self.read_session(|session| session.order.korean)?;
            let (home, session, text) = (self.driver.home.clone(), self.session, Arc::clone(&text));
            let rendered = tokio::task::spawn_blocking(move || {
                told::by_file(korean, (&text, long), |text| keep(&home.told(session), text))
            });
            if let Ok(Ok(rendered)) = rendered.await {
                return Some(rendered);
            }
            sleep(AGAIN).await;
        }
        None
    }

    /// Whether the process of a launch has to end, reached or not.
    pub(super) fn must_end(&self, launch: u32) -> bool {
        self.driver.journal.world().must_end(self.session, launch)
    }
}

/// What an agent is told first on its input.
pub(super) fn first_input(
    home: &Home,
    session: &Session,
    (bytes, words): (String, &str),
) -> Result<String, LaunchError> {
    let agent = &session.order.agent;
    let folder = home.told(session.id);
    let bytes = if told::fits(agent, &bytes) {
        bytes
    } else {
        told::by_file(session.order.korean, (words, Long::Words), |text| keep(&folder, text))
            .map_err(|source| LaunchError::Io { path: folder.clone(), source })?
    };
    let is_taken = told::fits(agent, &bytes) && bytes.len() <= control::INPUT_BYTES_MAX;
    if is_taken { Ok(bytes) } else { Err(LaunchError::PromptNotTaken { bytes: words.len() }) }
}

/// Keeps a text under the name of what it holds. It outlives a power cut when this returns.
fn keep(folder: &Path, text: &str) -> io::Result<Reference> {
    let sha256 = digest(text.as_bytes());
    let path = folder.join(&sha256);
    let reference = Reference { path: path.display().to_string(), bytes: text.len() as u64, sha256 };
    // One that is damaged is written again.
    if kept::read_bytes(&reference).is_err() {
        home::private_directory(folder)?;
        home::write_private(&path, text.as_bytes())?;
    }
    folder.parent().into_iter().chain([folder]).try_for_each(kept::sync)?;
    Ok(reference)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::random;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the file is to be damaged")]
    fn the_same_text_is_kept_once_and_one_that_is_damaged_is_mended() {
        let place = std::env::temp_dir().join(format!("ostler-told-{}", random::word()));
        let folder = place.join("told");
        let text = "긴 답 ".repeat(20_000);
        let first = keep(&folder, &text).expect("it is kept");
        assert_eq!(fs::read_to_string(&first.path).expect("it is there"), text);
        fs::write(&first.path, "something else").expect("it is ours");
        // What a server that died here has left.
        fs::write(home::draft_of(Path::new(&first.path)), "half").expect("it is ours");
        assert_eq!(keep(&folder, &text).expect("it is kept"), first);
        assert_eq!(fs::read_to_string(&first.path).expect("it is there"), text);
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 1);
        fs::remove_dir_all(place).expect("it is ours");
    }
}
