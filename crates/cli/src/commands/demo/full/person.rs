//! A person at the terminal of a full demonstration, who may also answer on the page meanwhile.

use std::io::{self, BufRead};

use ostler_server::api::RequestView;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    stdio::stdin,
    termios::{OptionalActions, tcgetattr, tcsetattr},
};
use tokio::time::sleep;

use super::{FullPlay, LOOK, typed};
use crate::{error::Error, words::Key};

/// How often somebody may answer what cannot be read before nobody is thought to be there.
const FAILURES_MAX: u32 = 5;

/// What came of asking.
pub(super) enum Given {
    /// It was answered here.
    Here,
    /// It was answered on the page.
    Elsewhere,
    /// Nobody is there any more.
    Nothing,
}

impl FullPlay<'_> {
    /// Has a person settle a request, with the command that is for that.
    pub(super) async fn ask_person(&mut self, request: &RequestView) -> Result<Given, Error> {
        if request.ask.kind == "review" {
            return self.ask_for_review(request).await;
        }
        let arguments = ["answer".to_owned(), request.id.clone()];
        for _ in 0..FAILURES_MAX {
            self.stage.command(&format!("ostler {}", typed(&arguments)))?;
            // Somebody may be typing where it is not shown.
            let terminal = tcgetattr(stdin()).ok();
            let mut child = self.command(&arguments).and_then(|mut it| it.spawn()).map_err(Error::Output)?;
            let settled = loop {
                if self.is_settled(&request.id).await? {
                    break true;
                }
                if child.try_wait().map_err(Error::Output)?.is_some() {
                    break self.is_settled(&request.id).await?;
                }
                sleep(LOOK).await;
            };
            let was_here = match child.try_wait().map_err(Error::Output)? {
                Some(_) => true,
                None => {
                    // It may just be about to say so.
                    sleep(LOOK * 25).await;
                    child.try_wait().map_err(Error::Output)?.is_some()
                }
            };
            child.kill().await.ok();
            if let Some(terminal) = terminal.filter(|_| !was_here) {
                // A terminal that has gone needs nothing.
                tcsetattr(stdin(), OptionalActions::Flush, &terminal).ok();
            }
            if settled {
                return Ok(if was_here { Given::Here } else { Given::Elsewhere });
            }
        }
        Ok(Given::Nothing)
    }

    /// Shows the work of a phase, and waits for a decision.
    async fn ask_for_review(&mut self, request: &RequestView) -> Result<Given, Error> {
        let id = request.id.clone();
        let show = ["review".to_owned(), id.clone()];
        self.stage.command(&format!("ostler {}", typed(&show)))?;
        let mut child = self.command(&show).and_then(|mut it| it.spawn()).map_err(Error::Output)?;
        child.wait().await.map_err(Error::Output)?;
        for _ in 0..FAILURES_MAX {
            self.stage.act(self.words.sentence(Key::FullDecide))?;
            let line = loop {
                if self.is_settled(&id).await? {
                    return Ok(Given::Elsewhere);
                }
                if let Some(line) = line_of_terminal().map_err(Error::Output)? {
                    break line;
                }
                sleep(LOOK).await;
            };
            if line.is_empty() {
                return Ok(Given::Nothing);
            }
            let tree = request.ask.fields["tree"].as_str().unwrap_or_default();
            let decision = match line.trim() {
                "" => vec!["--approve".to_owned(), "--tree".to_owned(), tree.to_owned()],
                "reject" => vec!["--reject".to_owned()],
                words => vec![format!("--changes={words}")],
            };
            let arguments = [&show[..], &decision[..]].concat();
            self.stage.command(&format!("ostler {}", typed(&arguments)))?;
            let mut child = self.command(&arguments).and_then(|mut it| it.spawn()).map_err(Error::Output)?;
            child.wait().await.map_err(Error::Output)?;
            if self.is_settled(&id).await? {
                return Ok(Given::Here);
            }
        }
        Ok(Given::Nothing)
    }

    async fn is_settled(&self, id: &str) -> Result<bool, Error> {
        let request: RequestView = self.client.get(&format!("/requests/{id}")).await?;
        Ok(request.settled.is_some())
    }
}

/// A line that somebody has finished, if there is one; empty when there will be none.
fn line_of_terminal() -> io::Result<Option<String>> {
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    let input = stdin();
    let mut waiting = [PollFd::new(&input, PollFlags::IN)];
    if poll(&mut waiting, Some(&at_once))? == 0 {
        return Ok(None);
    }
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(Some(line))
}
