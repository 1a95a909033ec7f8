//! Whether what a process asks over the session's socket also stands in what tools showed its agent.
//!
//! The shim compares printed blocks with the stream that it reads. A call does not go through that stream, so the end of
//! the log is read here, by the same parser.

use std::{
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use ostler_agents::Output;
use ostler_engine::{SessionId, mark, request::Ask};
use ostler_files::private;
use ostler_protocol::{Format, Parser, Settings, mark::Mark, stream::Table};
use ostler_shim::OUT;

use super::App;

/// How much of the end of a log is read: more than the parser remembers of what was shown.
const TAIL_BYTES: u64 = 1 << 20;

impl App {
    /// Where the same stands, in what tools and sub-agents showed the agent of this launch.
    pub(super) async fn shown(&self, session: SessionId, launch: u32, ask: &Ask) -> Option<Mark> {
        let saying = mark::saying(ask).filter(|saying| !saying.is_empty())?;
        let output = self.with_session(session, |_, it| it.order.agent.output.clone()).ok()?;
        let Output::Table(table) = output else { return None };
        let log = self.driver.home.launch(session, launch).join(OUT);
        let found = tokio::task::spawn_blocking(move || {
            let mut parser = Parser::new(Format::Structured(Table::parse(&table).ok()?), Settings::default());
            parser.push(&end_of(&log).ok()?);
            parser.shown(&saying)
        });
        found.await.ok().flatten()
    }
}

/// The end of a log, from the beginning of a line.
fn end_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = private::open(path)?;
    let length = file.metadata()?.len();
    let from = length.saturating_sub(TAIL_BYTES);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
    let is_cut = from > 0;
    let begin = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
    Ok(if is_cut { bytes.split_off(begin) } else { bytes })
}
