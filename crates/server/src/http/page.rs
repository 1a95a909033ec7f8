//! The files of the page, as they were put into the program. Without them, a notice says how they are made.
//!
//! They hold nothing private, and one has to load them to sign in.

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
};

use super::{
    code::Code,
    problem::{no_method, no_route},
};
use crate::api::Problem;

/// A file of the page.
struct File {
    /// As it stands in an address.
    path: &'static str,
    /// What it is known by, with the quotes that belong to it.
    tag: &'static str,
    bytes: &'static [u8],
    /// The same, compressed.
    brotli: Option<&'static [u8]>,
}

/// All of them, by their paths.
static FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// The one that is shown for every place on the page.
const INDEX: &str = "/index.html";

/// Here lie files that have a hash in their name, and so never change.
const ASSETS: &str = "/assets/";

/// What is shown where the program was built without a page.
const NOTICE: &str = include_str!("page/notice.html");

/// A file of the page, or the page itself for one of its places.
pub(super) async fn file(request: Request) -> Response {
    let path = request.uri().path();
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return no_method(request).await.into_response();
    }
    if let Some(file) = find(path) {
        return file.answer(request.headers());
    }
    if path == "/api" || path.starts_with("/api/") {
        return no_route(request).await.into_response();
    }
    // A name with a dot is that of a file, unless somebody wants to look at it: an address in a message may end with its dot.
    let is_file = path.rsplit('/').next().is_some_and(|name| name.contains('.'));
    if path.starts_with(ASSETS) || (is_file && !wants_page(request.headers())) {
        return no_file(path).into_response();
    }
    match find(INDEX) {
        Some(index) => index.answer(request.headers()),
        None => html(NOTICE),
    }
}

fn find(path: &str) -> Option<&'static File> {
    let index = FILES.binary_search_by(|file| file.path.cmp(path)).ok()?;
    FILES.get(index)
}

fn no_file(path: &str) -> Problem {
    Problem::new(StatusCode::NOT_FOUND, Code::NoRoute, format!("the page has no file {path}"))
        .hint("The page may be of another version than the server: load it again.")
}

fn html(text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::CACHE_CONTROL, "no-cache")], text)
        .into_response()
}

impl File {
    fn answer(&self, headers: &HeaderMap) -> Response {
        let cache =
            if self.path.starts_with(ASSETS) { "public, max-age=31536000, immutable" } else { "no-cache" };
        let kind = kind(self.path);
        let mut response = if is_known(headers, self.tag) {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            let brotli = self.brotli.filter(|_| takes_brotli(headers));
            let mut response = brotli.unwrap_or(self.bytes).into_response();
            if brotli.is_some() {
                response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("br"));
            }
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
            response
        };
        let headers = response.headers_mut();
        headers.insert(header::ETAG, HeaderValue::from_static(self.tag));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        response
    }
}

/// Whether a browser has this very form of a file already.
fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    let said = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|it| it.to_str().ok());
    let mut tags = said.flat_map(|it| it.split(',')).map(|it| it.trim().trim_start_matches("W/"));
    tags.any(|it| it == tag || it == "*")
}

/// Whether a browser opens an address, rather than loading a part of a page.
fn wants_page(headers: &HeaderMap) -> bool {
    let mut said = headers.get_all(header::ACCEPT).iter().filter_map(|it| it.to_str().ok());
    said.any(|it| it.contains("text/html"))
}

fn takes_brotli(headers: &HeaderMap) -> bool {
    let said = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|it| it.to_str().ok());
    said.flat_map(|it| it.split(',')).any(|it| {
        let mut parts = it.split(';').map(str::trim);
        parts.next() == Some("br")
            && !parts.any(|weight| matches!(weight, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}

fn kind(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "woff" => "font/woff",
        "wasm" => "application/wasm",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: File = File { path: "/assets/a-1.js", tag: "\"1\"", bytes: b"plain", brotli: Some(b"small") };

    fn headers(pairs: &[(header::HeaderName, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn a_file_comes_as_small_as_a_browser_takes_it() {
        let encoding = |said: &'static str| {
            let answer = FILE.answer(&headers(&[(header::ACCEPT_ENCODING, said)]));
            answer
                .headers()
                .get(header::CONTENT_ENCODING)
                .map(|it| it.to_str().unwrap_or_default().to_owned())
        };
        assert_eq!(encoding("gzip, deflate, br").as_deref(), Some("br"));
        assert_eq!(encoding("br;q=0.5").as_deref(), Some("br"));
        for said in ["gzip", "br;q=0", "", "brotli"] {
            assert_eq!(encoding(said), None, "{said}");
        }
    }

    #[test]
    fn what_a_browser_has_is_not_sent_again() {
        let status = |said: &'static str| FILE.answer(&headers(&[(header::IF_NONE_MATCH, said)])).status();
        assert_eq!(status("\"1\""), StatusCode::NOT_MODIFIED);
        assert_eq!(status("\"0\", W/\"1\""), StatusCode::NOT_MODIFIED);
        assert_eq!(status("\"2\""), StatusCode::OK);
        let answer = FILE.answer(&HeaderMap::new());
        assert_eq!(answer.headers()[header::CACHE_CONTROL], "public, max-age=31536000, immutable");
    }
}
