//! A body that comes in pieces, as fast as the client takes them and no faster.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use axum::body::Body;
use hyper::body::{Body as HttpBody, Bytes, Frame};
use tokio::sync::mpsc;

/// Pieces from a task.
struct Pieces(mpsc::Receiver<Result<Bytes, Infallible>>);

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}

/// The body that a channel feeds.
pub(crate) fn channel_body(receiver: mpsc::Receiver<Result<Bytes, Infallible>>) -> Body {
    Body::new(Pieces(receiver))
}
