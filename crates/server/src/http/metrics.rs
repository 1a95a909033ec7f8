//! What is counted, in the text form of Prometheus. Every label is one of a closed list: a route, a status, a kind.

use std::{
    collections::BTreeMap,
    fmt::{Display, Write},
    fs,
    sync::{Mutex, atomic::Ordering},
    time::{Duration, Instant},
};

use axum::{
    extract::{MatchedPath, Request, State},
    http::{Method, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use ostler_files::kernel;
use serde_json::json;

use super::{App, lists, views};
use crate::{
    api::SessionStatus,
    log::Level,
    metrics::{STEPS_US, Times},
};

/// What stands for a route or a method that there is not.
const OTHER: &str = "other";

/// How often each route was asked, what it said, and how long that took.
#[derive(Debug, Default)]
pub(super) struct Routes(Mutex<BTreeMap<(&'static str, String), Route>>);

#[derive(Debug)]
struct Route {
    times: Times,
    statuses: BTreeMap<u16, u64>,
}

/// Counts what is asked, and writes it into the log.
pub(super) async fn count(State(app): State<App>, request: Request, next: Next) -> Response {
    let method = match *request.method() {
        Method::GET => "GET",
        Method::POST => "POST",
        _ => OTHER,
    };
    let route = request.extensions().get::<MatchedPath>().map_or(OTHER, MatchedPath::as_str).to_owned();
    let path = loggable(&route, request.uri().path());
    let began = Instant::now();
    let response = next.run(request).await;
    let (status, time) = (response.status(), began.elapsed());
    let level = match (method, status.as_u16()) {
        (_, 500..) => Level::Error,
        ("POST", _) => Level::Info,
        _ => Level::Debug,
    };
    let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let more = json!({ "method": method, "path": path, "status": status.as_u16(), "ms": ms });
    app.driver.log.write(level, "request", more);
    app.counts.routes.add(method, route, status.as_u16(), time);
    response
}

/// A path as the log may have it: the route, with ids in their places. Everything else in it may be a value that an
/// agent was given.
fn loggable(route: &str, path: &str) -> String {
    let is_id = |part: &str| {
        let digits =
            part.split_once('_').map_or(part, |(kind, digits)| if kind.len() == 1 { digits } else { "" });
        !digits.is_empty() && digits.len() < 20 && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let parts = route.split('/').zip(path.split('/').chain(std::iter::repeat("")));
    let parts = parts.map(|(named, part)| if named.starts_with('{') && is_id(part) { part } else { named });
    parts.collect::<Vec<_>>().join("/")
}

impl Routes {
    fn add(&self, method: &'static str, route: String, status: u16, time: Duration) {
        let mut routes = self.0.lock().expect("nobody panics while counting");
        let new = || Route { times: Times::new(), statuses: BTreeMap::new() };
        let route = routes.entry((method, route)).or_insert_with(new);
        route.times.add(time);
        *route.statuses.entry(status).or_default() += 1;
    }
}

/// What the server counts of itself, in the text form of Prometheus.
#[utoipa::path(get, path = "/metrics", responses((status = 200, body = String, content_type = "text/plain")))]
pub(super) async fn metrics(State(app): State<App>) -> Response {
    let mut page = Page::default();
    of_build(&mut page, &app);
    of_sessions(&mut page, &app);
    of_journal(&mut page, &app);
    of_routes(&mut page, &app);
    of_process(&mut page);
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], page.0).into_response()
}

fn of_build(page: &mut Page, app: &App) {
    page.head("ostler_build_info", "gauge", "The version that runs.");
    page.line("ostler_build_info", &[("version", &env!("CARGO_PKG_VERSION"))], 1);
    page.head("process_start_time_seconds", "gauge", "When it was started, since 1970.");
    page.line("process_start_time_seconds", &[], seconds(Duration::from_millis(app.started_at_ms)));
}

fn of_sessions(page: &mut Page, app: &App) {
    let world = app.driver.journal.world();
    let mut statuses: BTreeMap<String, u64> = BTreeMap::new();
    let live = SessionStatus::ALL.into_iter().filter(|status| !status.is_end());
    statuses.extend(live.map(|status| (views::word(&status), 0)));
    for session in world.sessions.values().filter(|session| !session.is_over()) {
        *statuses.entry(views::word(&lists::status(&world, session))).or_default() += 1;
    }
    page.head("ostler_sessions", "gauge", "Sessions that are not over, by how they are.");
    for (status, count) in &statuses {
        page.line("ostler_sessions", &[("status", status)], count);
    }
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    for request in world.inbox() {
        *kinds.entry(views::ask_kind(&request.ask)).or_default() += 1;
    }
    page.head("ostler_requests_open", "gauge", "Requests that nobody has settled, by kind.");
    for (kind, count) in &kinds {
        page.line("ostler_requests_open", &[("kind", kind)], count);
    }
}

fn of_journal(page: &mut Page, app: &App) {
    let writing = app.driver.journal.writing();
    page.head("ostler_events_total", "counter", "Events in the journal.");
    page.line("ostler_events_total", &[], app.driver.journal.world().last_seq);
    page.head("ostler_commit_seconds", "histogram", "How long commits took.");
    page.times("ostler_commit_seconds", &[], &writing.times);
    page.head("ostler_commit_failures_total", "counter", "Commits that the disk refused.");
    page.line("ostler_commit_failures_total", &[], writing.failures.load(Ordering::Relaxed));
    page.head("ostler_followers", "gauge", "Who follows: the journal, or what an agent prints.");
    page.line("ostler_followers", &[("stream", &"events")], app.counts.followers.count());
    page.line("ostler_followers", &[("stream", &"output")], app.counts.readers.count());
}

fn of_routes(page: &mut Page, app: &App) {
    let routes = app.counts.routes.0.lock().expect("nobody panics while counting");
    page.head("ostler_http_requests_total", "counter", "Requests, by route and status.");
    for ((method, path), route) in &*routes {
        for (status, count) in &route.statuses {
            let labels: [(&str, &dyn Display); 3] = [("method", method), ("route", path), ("status", status)];
            page.line("ostler_http_requests_total", &labels, count);
        }
    }
    page.head(
        "ostler_http_request_seconds",
        "histogram",
        "How long it took until an answer began, by route.",
    );
    for ((method, path), route) in &*routes {
        page.times("ostler_http_request_seconds", &[("method", method), ("route", path)], &route.times);
    }
}

fn of_process(page: &mut Page) {
    let status = kernel::read_text("/proc/self/status").unwrap_or_default();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let resident = resident.and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok());
    if let Some(resident) = resident {
        page.head("process_resident_memory_bytes", "gauge", "Memory in use.");
        page.line("process_resident_memory_bytes", &[], resident * 1024);
    }
    if let Ok(open) = fs::read_dir("/proc/self/fd") {
        page.head("process_open_fds", "gauge", "Descriptors in use.");
        page.line("process_open_fds", &[], open.count());
    }
}

/// The text, as it grows.
#[derive(Debug, Default)]
struct Page(String);

impl Page {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}").expect("a string takes any text");
    }

    fn line(&mut self, name: &str, labels: &[(&str, &dyn Display)], value: impl Display) {
        let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{value}\"")).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        writeln!(self.0, "{name}{labels} {value}").expect("a string takes any text");
    }

    fn times(&mut self, name: &str, labels: &[(&str, &dyn Display)], times: &Times) {
        let (counts, sum) = times.read();
        let steps = STEPS_US.iter().map(|us| seconds(Duration::from_micros(*us)).to_string());
        for (step, count) in steps.chain(["+Inf".to_owned()]).zip(&counts) {
            let labels: Vec<_> = labels.iter().copied().chain([("le", &step as &dyn Display)]).collect();
            self.line(&format!("{name}_bucket"), &labels, count);
        }
        self.line(&format!("{name}_sum"), labels, seconds(sum));
        self.line(&format!("{name}_count"), labels, counts.last().copied().unwrap_or_default());
    }
}

fn seconds(time: Duration) -> f64 {
    time.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_in_the_log_holds_ids_and_nothing_else() {
        assert_eq!(
            loggable("/api/v1/sessions/{id}/cancel", "/api/v1/sessions/s_12/cancel"),
            "/api/v1/sessions/s_12/cancel"
        );
        assert_eq!(
            loggable("/api/v1/channels/{name}/test", "/api/v1/channels/sk-live-1/test"),
            "/api/v1/channels/{name}/test"
        );
        assert_eq!(loggable(OTHER, "/sk-live-1"), OTHER);
    }
}
