//! Compression of JSON for browsers and scripts: 500 tasks are 170 KB of it, which compress to a tenth.
//!
//! Only whole JSON answers are compressed. Events, output and files come as streams, and a stream would wait in the
//! compressor's buffer; files of the page have their compressed form already.

use axum::http::{Response, header};
use hyper::body::Body;
use tower_http::compression::{CompressionLayer, Predicate, predicate::SizeAbove};

/// Below that, an answer fits into one packet anyway.
const BYTES_MIN: u64 = 1 << 10;

/// Compresses what is worth it, for who accepts it.
pub(super) fn layer() -> CompressionLayer<impl Predicate> {
    CompressionLayer::new().gzip(true).compress_when(SizeAbove::new(BYTES_MIN).and(WholeJson))
}

/// JSON whose length is known, so that it is no stream.
#[derive(Clone, Copy)]
struct WholeJson;

impl Predicate for WholeJson {
    fn should_compress<B: Body>(&self, response: &Response<B>) -> bool {
        let kind = response.headers().get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let is_json = kind.is_some_and(|kind| kind.split(';').next() == Some("application/json"));
        is_json && response.body().size_hint().exact().is_some()
    }
}
