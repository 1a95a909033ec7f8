//! An answer that goes on for as long as somebody is signed in. A stream is begun once, and would outlive a sign-in that
//! was taken back.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use axum::{body::Body, response::Response};
use hyper::body::{Body as _, Bytes, Frame, SizeHint};

use crate::{
    clock::Clock,
    sign_in::{Keeper, SignInId},
};

/// A body that ends when something has come about.
struct Until {
    body: Body,
    over: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// Ends a stream when the sign-in is over under which it was begun. Whoever comes back is asked who they are.
pub(super) fn with_sign_in(response: Response, id: SignInId, keeper: &Arc<Keeper>, clock: Clock) -> Response {
    if response.body().size_hint().exact().is_some() {
        return response;
    }
    let keeper = Arc::clone(keeper);
    response.map(|body| {
        let over = Box::pin(async move { keeper.left(id, clock).await });
        Body::new(Until { body, over })
    })
}

impl hyper::body::Body for Until {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.over.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
