//! Answers a connection that is not let in with a short reason, so that its client does not see a broken connection.
//!
//! The answer is written, and what the client sends is read and thrown away until the client has read the answer: a
//! connection that is closed with unread bytes is reset, and the client may lose the answer. Few are answered at a time,
//! because each keeps a descriptor; all others are closed at once.

use std::time::Duration;

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::Semaphore,
    time::timeout,
};

use crate::api::Problem;

/// So many connections are answered at a time.
static ANSWERS: Semaphore = Semaphore::const_new(4);

/// How long a client may take to read the answer.
const ANSWER_MAX: Duration = Duration::from_secs(1);

/// So much of what a client sends is read.
const READ_BYTES_MAX: usize = 64 << 10;

/// Tells a client why it is not let in and when to try again. Does not wait for it.
pub(crate) fn refuse(
    mut stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    problem: &Problem,
    retry_after_s: u32,
) {
    let Ok(place) = ANSWERS.try_acquire() else { return };
    let body = serde_json::to_string(problem).unwrap_or_default();
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/problem+json\r\n\
         retry-after: {retry_after_s}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    tokio::spawn(async move {
        // A client that does not read its answer loses it.
        timeout(ANSWER_MAX, async {
            stream.write_all(answer.as_bytes()).await.ok()?;
            stream.shutdown().await.ok()?;
            let mut bytes = [0; 1 << 10];
            let mut read = 0;
            while read < READ_BYTES_MAX {
                read += stream.read(&mut bytes).await.ok().filter(|&length| length > 0)?;
            }
            Some(())
        })
        .await
        .ok();
        drop(place);
    });
}
