//! `ostler usage`: tokens and cost, summed up by the server.

use std::time::Duration;

use clap::{Args, ValueEnum};
use ostler_server::{
    api::{BudgetView, UsageReport, UsageRow, UsageView},
    config::parse_duration,
};

use crate::{
    clock,
    context::{Context, talk},
    error::{Error, Message},
    exit::Exit,
    screen::{Cell, Screen, Style, add_line},
    words::{Key, Words},
};

/// Show how many tokens were used, and what they cost.
///
/// A cost is shown only where a CLI states it, or where your configuration has a table of prices: Ostler knows none itself.
#[derive(Args)]
pub(crate) struct Arguments {
    /// By what it is summed up.
    #[arg(long, value_enum, default_value = "project", value_name = "WHAT")]
    by: By,
    /// Only what was used since: a length of time (36h, 7d), or a date (2026-11-16).
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum By {
    Session,
    Run,
    Project,
    Agent,
    Account,
    Day,
}

impl By {
    fn word(self) -> &'static str {
        match self {
            By::Session => "session",
            By::Run => "run",
            By::Project => "project",
            By::Agent => "agent",
            By::Account => "account",
            By::Day => "day",
        }
    }

    fn column(self) -> Key {
        match self {
            By::Session => Key::ColumnId,
            By::Run => Key::ColumnRun,
            By::Project => Key::ColumnProject,
            By::Agent => Key::ColumnAgent,
            By::Account => Key::ColumnAccount,
            By::Day => Key::ColumnDay,
        }
    }
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    let words = context.words;
    let since = arguments.since.as_deref().map(since_ms).transpose()?;
    let since = since.map(|at_ms| format!("&since_ms={at_ms}")).unwrap_or_default();
    let offset_s = clock::offset_s();
    let path = format!("/usage?by={}&offset_s={offset_s}{since}", arguments.by.word());
    let report: UsageReport = talk(async { Ok(context.server().await?.get(&path).await?) })?;
    context.print(&report, |screen| page(words, screen, arguments.by, &report))?;
    Ok(Exit::Done)
}

/// The beginning of a day here, or so long ago.
fn since_ms(text: &str) -> Result<u64, Error> {
    if let Ok(time) = parse_duration(text) {
        let time_ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        return Ok(clock::now_ms().saturating_sub(time_ms));
    }
    clock::day_begins_ms(text).ok_or_else(|| Error::Usage {
        message: Message::new(Key::UsageSinceUnclear).with("text", &text),
        command: "usage",
    })
}

fn page(words: Words, screen: Screen, by: By, report: &UsageReport) -> String {
    if report.rows.is_empty() {
        return screen.text(words.sentence(Key::UsageNothing));
    }
    let columns = [
        by.column(),
        Key::ColumnSessions,
        Key::ColumnTokens,
        Key::ColumnInput,
        Key::ColumnOutput,
        Key::ColumnCache,
        Key::ColumnCost,
    ];
    let mut rows: Vec<Vec<Cell>> =
        vec![columns.iter().map(|key| Cell::styled(Style::Dim, words.sentence(*key))).collect()];
    rows.extend(report.rows.iter().map(|part| row(words, &label(words, by, part), part)));
    if report.rows.len() > 1 {
        rows.push(row(words, words.sentence(Key::UsageTotal), &report.total));
    }
    let mut said = screen.columns(&rows);
    let total = &report.total;
    if total.usage.cost_usd.is_none() {
        add_line(&mut said, 0, &screen.style(Style::Dim, words.sentence(Key::UsageNoCost)));
    } else if total.sessions_without_cost > 0 {
        let some = words.say(Key::UsageSomeCost, &[("n", &total.sessions_without_cost)]);
        add_line(&mut said, 0, &screen.style(Style::Dim, &some));
    }
    said
}

fn label(words: Words, by: By, row: &UsageRow) -> String {
    match by {
        By::Account if row.key.is_empty() => words.sentence(Key::UsageNoAccount).to_owned(),
        By::Day | By::Agent | By::Account => row.key.clone(),
        By::Session | By::Run | By::Project => format!("{} {}", row.key, row.name),
    }
}

fn row(words: Words, label: &str, row: &UsageRow) -> Vec<Cell> {
    let said = |figure: Option<u64>| figure.map_or_else(|| "-".to_owned(), grouped);
    let number = |figure: Option<u64>| Cell::new(&said(figure));
    let of = |used: String, max: Option<String>| match max {
        Some(max) => words.say(Key::UsageOf, &[("used", &used), ("max", &max)]),
        None => used,
    };
    let (usage, budget) = (&row.usage, &row.budget);
    let more = if row.sessions_without_cost > 0 { "+" } else { "" };
    let cost = usage.cost_usd.map_or_else(|| "-".to_owned(), |cost| format!("{}{more}", dollars(cost)));
    let cost = of(cost, budget.cost_usd_max.map(dollars));
    vec![
        Cell::new(label),
        number(Some(row.sessions)),
        Cell::new(&of(said(usage.tokens), budget.tokens_max.map(grouped))),
        number(usage.input_tokens),
        number(sum(&[usage.output_tokens, usage.reasoning_tokens])),
        number(sum(&[usage.cache_read_tokens, usage.cache_write_tokens])),
        Cell::new(&cost),
    ]
}

/// What was used, in a line; empty if nobody knows.
pub(crate) fn said(words: Words, usage: &UsageView) -> String {
    let Some(tokens) = usage.tokens else {
        return usage.cost_usd.map(dollars).unwrap_or_default();
    };
    let part = |figures: &[Option<u64>]| grouped(sum(figures).unwrap_or(0));
    let parts = words.say(
        Key::UsageParts,
        &[
            ("input", &part(&[usage.input_tokens])),
            ("output", &part(&[usage.output_tokens, usage.reasoning_tokens])),
            ("cache", &part(&[usage.cache_read_tokens, usage.cache_write_tokens])),
        ],
    );
    let tokens = words.say(Key::UsageTokens, &[("n", &grouped(tokens))]);
    let cost = usage.cost_usd.map(|cost| format!(", {}", dollars(cost))).unwrap_or_default();
    format!("{tokens} ({parts}){cost}")
}

fn sum(figures: &[Option<u64>]) -> Option<u64> {
    figures.iter().copied().flatten().reduce(u64::saturating_add)
}

/// US dollars; what costs less than a cent is said more exactly.
pub(crate) fn dollars(cost: f64) -> String {
    if cost > 0.0 && cost < 0.1 { format!("${cost:.4}") } else { format!("${cost:.2}") }
}

/// US dollars, of billionths.
pub(crate) fn dollars_of(nusd: u64) -> String {
    dollars(Duration::from_nanos(nusd).as_secs_f64())
}

/// How much may be used, in a line; empty if nothing is limited.
pub(crate) fn budget(words: Words, budget: &BudgetView) -> String {
    let cost = budget.cost_usd_max.map(dollars);
    let tokens = budget.tokens_max.map(|it| words.say(Key::UsageTokens, &[("n", &grouped(it))]));
    let time = budget.time_s_max.map(|it| clock::span(words, it.saturating_mul(1000)));
    let parts: Vec<String> = [cost, tokens, time].into_iter().flatten().collect();
    parts.join(", ")
}

/// A number with a comma before every three digits.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::words::Language;

    fn part(key: &str, tokens: u64, cost_usd: Option<f64>) -> UsageRow {
        let usage = UsageView {
            tokens: Some(tokens),
            input_tokens: Some(tokens - 20),
            output_tokens: Some(20),
            cost_usd,
            ..UsageView::default()
        };
        let sessions_without_cost = u64::from(cost_usd.is_none());
        UsageRow {
            key: key.into(),
            name: "shop".into(),
            sessions: 1,
            sessions_without_cost,
            usage,
            ..UsageRow::default()
        }
    }

    #[test]
    fn a_table_says_what_is_not_known() {
        let mut total = part("", 1_236_578, Some(12.5));
        (total.sessions, total.sessions_without_cost) = (2, 1);
        let rows = vec![part("p_1", 1_234_567, Some(12.5)), part("p_2", 2_011, None)];
        let report = UsageReport { by: "project".into(), since_ms: None, rows, total };
        expect![[r#"
            PROJECT   SESSIONS  TOKENS     IN         OUT  CACHED  COST
            p_1 shop  1         1,234,567  1,234,547  20   -       $12.50
            p_2 shop  1         2,011      1,991      20   -       -
            all       2         1,236,578  1,236,558  20   -       $12.50+
            + 1 of the sessions stated no cost, so it is at least this.
        "#]]
        .assert_eq(&page(Words::new(Language::En), Screen::plain(), By::Project, &report));
    }

    #[test]
    fn a_budget_stands_beside_what_was_used() {
        let mut first = part("r_1", 1_500, Some(1.25));
        first.budget =
            BudgetView { cost_usd_max: Some(5.0), tokens_max: Some(200_000), time_s_max: Some(7_200) };
        assert_eq!(budget(Words::new(Language::En), &first.budget), "$5.00, 200,000 tokens, 2 h");
        let total = UsageRow { budget: BudgetView::default(), ..first.clone() };
        let report = UsageReport { by: "run".into(), since_ms: None, rows: vec![first], total };
        expect![[r#"
            RUN       SESSIONS  TOKENS            IN     OUT  CACHED  COST
            r_1 shop  1         1,500 of 200,000  1,480  20   -       $1.25 of $5.00
        "#]]
        .assert_eq(&page(Words::new(Language::En), Screen::plain(), By::Run, &report));
    }

    #[test]
    fn numbers_can_be_read() {
        for (number, said) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), said);
        }
        for (cost, said) in [(0.0, "$0.00"), (0.000_55, "$0.0006"), (1.005, "$1.00"), (12.0, "$12.00")] {
            assert_eq!(dollars(cost), said);
        }
    }
}
