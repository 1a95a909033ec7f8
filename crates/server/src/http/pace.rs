//! A body that has to come: whoever stops sending, or takes too long for all of it, is told so. Without a bound a request
//! that never ends would hold its place for ever.

use std::{
    error::Error,
    fmt,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::{body::Body, http::StatusCode};
use hyper::body::{Body as HttpBody, Bytes, Frame, SizeHint};
use tokio::time::{Sleep, sleep};

use super::code::Code;
use crate::{api::Problem, crash};

/// How long a client may send nothing.
const SILENCE_MAX: Duration = Duration::from_secs(30);

/// How long all of a body of JSON may take.
pub(super) const WORDS_MAX: Duration = Duration::from_mins(5);

/// How long all of a file may take: the largest fits through a slow line.
pub(super) const FILE_MAX: Duration = Duration::from_hours(6);

/// Too little has come.
#[derive(Debug)]
struct TooSlow;

/// A body with its bounds.
struct Paced {
    body: Body,
    silence_max: Duration,
    /// Runs while nothing comes.
    silence: Option<Pin<Box<Sleep>>>,
    over: Pin<Box<Sleep>>,
}

/// The same body, which has to come within this time and without long silences.
pub(super) fn paced(body: Body, time_max: Duration) -> Body {
    bounded(body, crash::patience(SILENCE_MAX), time_max)
}

fn bounded(body: Body, silence_max: Duration, time_max: Duration) -> Body {
    Body::new(Paced { body, silence_max, silence: None, over: Box::pin(sleep(time_max)) })
}

/// Whether a body could not be read because it did not come in time.
pub(super) fn is_too_slow(error: &(dyn Error + 'static)) -> bool {
    std::iter::successors(Some(error), |&error| error.source()).any(<dyn Error>::is::<TooSlow>)
}

/// What did not come in time.
pub(super) fn too_slow(what: &str) -> Problem {
    let title = format!("{what} did not come in time");
    Problem::new(StatusCode::REQUEST_TIMEOUT, Code::TooSlow, title)
        .hint("Nothing was done, and nothing of it was kept. Send it again.")
}

impl HttpBody for Paced {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            self.silence = None;
            return Poll::Ready(frame);
        }
        let silence_max = self.silence_max;
        // A silence begins when somebody listens: what the disk takes its time for is no fault of the client.
        let silence = self.silence.get_or_insert_with(|| Box::pin(sleep(silence_max)));
        if silence.as_mut().poll(context).is_ready() || self.over.as_mut().poll(context).is_ready() {
            return Poll::Ready(Some(Err(axum::Error::new(TooSlow))));
        }
        Poll::Pending
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl fmt::Display for TooSlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it did not come in time")
    }
}

impl Error for TooSlow {}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http_body_util::BodyExt;
    use tokio::sync::mpsc;

    use super::*;
    use crate::stream::channel_body;

    /// A body that gives a byte now and then, and what is sent to it.
    fn body(silence_max: Duration, time_max: Duration) -> (mpsc::Sender<Result<Bytes, Infallible>>, Body) {
        let (pieces, body) = mpsc::channel(1);
        (pieces, bounded(channel_body(body), silence_max, time_max))
    }

    const SHORT: Duration = Duration::from_millis(50);
    const LONG: Duration = Duration::from_hours(1);

    #[tokio::test]
    async fn who_sends_a_little_for_ever_is_sent_away() {
        let (pieces, body) = body(LONG, SHORT);
        let drip = tokio::spawn(async move {
            while pieces.send(Ok(Bytes::from_static(b"x"))).await.is_ok() {
                sleep(Duration::from_millis(1)).await;
            }
        });
        let error = body.collect().await.expect_err("it takes too long");
        assert!(is_too_slow(&error), "{error:?}");
        drip.await.expect("it ends");
    }

    #[tokio::test]
    async fn who_stops_is_sent_away_and_who_comes_to_an_end_is_not() {
        let (pieces, broken) = body(SHORT, LONG);
        pieces.send(Ok(Bytes::from_static(b"half"))).await.expect("somebody listens");
        assert!(is_too_slow(&broken.collect().await.expect_err("nothing more comes")));
        let (pieces, whole) = body(LONG, LONG);
        pieces.send(Ok(Bytes::from_static(b"whole"))).await.expect("somebody listens");
        drop(pieces);
        assert_eq!(whole.collect().await.expect("it is whole").to_bytes(), "whole");
    }
}
