//! A connection whose other end has to take what it is sent. Who takes nothing for a while is let go, so that nobody
//! can fill the house by standing still.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep, sleep},
};

/// A connection that ends when nothing of it can be written for so long.
pub(super) struct Stall<S> {
    stream: S,
    time_max: Duration,
    /// Runs while something waits to be written.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<S> Stall<S> {
    pub(super) fn new(stream: S, time_max: Duration) -> Stall<S> {
        Stall { stream, time_max, waiting: None }
    }

    /// What has been said is passed on; what has to wait does not wait for ever.
    fn bound<T>(&mut self, context: &mut Context<'_>, said: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if said.is_ready() {
            self.waiting = None;
            return said;
        }
        let time_max = self.time_max;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(time_max)));
        ready!(waiting.as_mut().poll(context));
        // A connection that is asked again says the same at once.
        waiting.as_mut().reset(Instant::now());
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stall<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stall<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let said = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.bound(context, said)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let said = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.bound(context, said)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let said = Pin::new(&mut self.stream).poll_flush(context);
        self.bound(context, said)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let said = Pin::new(&mut self.stream).poll_shutdown(context);
        self.bound(context, said)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test]
    async fn who_takes_nothing_is_let_go() {
        let (here, there) = duplex(4);
        let mut stream = Stall::new(here, Duration::from_millis(20));
        let error = stream.write_all(b"more than fits").await.expect_err("nobody takes it");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(there);
    }

    #[tokio::test]
    async fn who_takes_it_bit_by_bit_is_not() {
        let (here, mut there) = duplex(4);
        let mut stream = Stall::new(here, Duration::from_mins(1));
        let slow = tokio::spawn(async move {
            let mut byte = [0];
            while there.read_exact(&mut byte).await.is_ok() {
                tokio::task::yield_now().await;
            }
        });
        stream.write_all(b"more than fits").await.expect("somebody takes it");
        drop(stream);
        slow.await.expect("it ends");
    }
}
