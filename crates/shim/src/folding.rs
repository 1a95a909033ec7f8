//! Counts items that ask for nothing instead of writing each of them down, where an agent prints too many.
//!
//! | item | written down | beyond that |
//! |---|---|---|
//! | a step | the first 20,000, and the first 64 after every record that is no such item | counted |
//! | usage, a quotation, a warning | the first 20,000 | counted |
//! | everything else | always | – |
//!
//! The 64 are for the office: a step may end a call, and a call begins with an input.

use std::time::{Duration, Instant};

use ostler_protocol::{
    Item, What,
    fact::{Fact, Usage},
    fault::Severity,
    signal::Signal,
};
use serde::{Deserialize, Serialize};

/// So many steps, and so many other items that ask for nothing, are written down.
const ITEMS_MAX: u32 = 20_000;

/// So many steps are written down after every other record.
const STEPS_MIN: u32 = 64;

/// How long counted items wait for a record that stands for them. A budget may depend on them.
const RECORD_AFTER: Duration = Duration::from_secs(1);

/// Items that were counted and not written down.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoldedItems {
    /// How many.
    pub items: u64,
    /// The place of the last one: offset and index.
    pub last: (u64, u32),
    /// What they say was used: one report for each span.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub usage: Vec<Usage>,
}

/// How many items may still be written down, and those that were counted since the last record.
#[derive(Debug)]
pub(crate) struct ItemFolding {
    steps_left: u32,
    others_left: u32,
    counted: Option<(Instant, FoldedItems)>,
}

impl ItemFolding {
    pub(crate) fn new() -> ItemFolding {
        ItemFolding { steps_left: ITEMS_MAX, others_left: ITEMS_MAX, counted: None }
    }

    /// Counts an item, if it need not be written down. Whether it was counted.
    pub(crate) fn fold(&mut self, item: &Item) -> bool {
        let left = match &item.what {
            What::Signal(Signal::StepComplete(_)) => &mut self.steps_left,
            What::Quoted(_) | What::Fact(Fact::Usage(_)) => &mut self.others_left,
            What::Fault(fault) if fault.severity() != Severity::Fault => &mut self.others_left,
            What::Signal(_) | What::Fact(_) | What::Fault(_) => {
                self.allow_steps();
                return false;
            }
        };
        if *left > 0 {
            *left -= 1;
            return false;
        }
        let last = (item.offset, item.index);
        let none = || (Instant::now(), FoldedItems { items: 0, last, usage: Vec::new() });
        let (_, counted) = self.counted.get_or_insert_with(none);
        counted.items += 1;
        counted.last = last;
        if let What::Fact(Fact::Usage(usage)) = &item.what {
            usage.clone().merge_into(&mut counted.usage);
        }
        true
    }

    /// Has the next steps written down.
    pub(crate) fn allow_steps(&mut self) {
        self.steps_left = self.steps_left.max(STEPS_MIN);
    }

    /// How long the counted items may still wait for their record, if there are any.
    pub(crate) fn patience(&self) -> Option<Duration> {
        self.counted.as_ref().map(|(since, _)| RECORD_AFTER.saturating_sub(since.elapsed()))
    }

    /// The counted items, which start anew.
    pub(crate) fn take(&mut self) -> Option<FoldedItems> {
        self.counted.take().map(|(_, counted)| counted)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use ostler_protocol::{Format, Parser, Settings, stream::Table};

    use super::*;

    const STEP: &str = "[STEP_COMPLETE]\nstep: again\n[/STEP_COMPLETE]\n";
    const QUESTION: &str =
        "[USER_QUESTION]\ncategory: clarification\nquestion: Which?\nrequired: true\n[/USER_QUESTION]\n";

    fn items(text: &str) -> Vec<Item> {
        let mut parser = Parser::new(Format::Text, Settings::default());
        parser.push(text.as_bytes());
        parser.finish();
        parser.collect()
    }

    /// How many of these items are written down.
    fn written(folding: &mut ItemFolding, items: &[Item]) -> usize {
        items.iter().filter(|item| !folding.fold(item)).count()
    }

    #[test]
    fn steps_are_counted_beyond_a_bound_and_questions_are_not() {
        let mut folding = ItemFolding::new();
        let steps = items(&STEP.repeat(21_000));
        assert_eq!(written(&mut folding, &steps), 20_000);
        let folded = folding.take().expect("some were counted");
        assert_eq!((folded.items, folded.last), (1_000, (steps[20_999].offset, 0)));
        assert_eq!(folding.take(), None);
        assert_eq!(written(&mut folding, &items(&QUESTION.repeat(300))), 300);
        // A step may end a call: the first ones after anything else are written down.
        assert_eq!(written(&mut folding, &steps[..100]), 64);
        folding.allow_steps();
        assert_eq!(written(&mut folding, &steps[..100]), 64);
    }

    #[test]
    fn what_counted_items_used_is_summed_up() {
        let table = Table::parse(include_str!("../../protocol/tables/claude.toml"));
        let format = Format::Structured(table.expect("a table"));
        let mut parser = Parser::new(format, Settings::default());
        let mut text = String::new();
        for _ in 0..20_010 {
            let usage = r#"{"input_tokens":1,"output_tokens":2}"#;
            writeln!(
                text,
                r#"{{"type":"result","subtype":"success","is_error":false,"result":"x","usage":{usage}}}"#
            )
            .expect("memory");
        }
        parser.push(text.as_bytes());
        parser.finish();
        let mut folding = ItemFolding::new();
        let heard: Vec<Item> = parser.collect();
        let usage = heard.iter().filter(|item| matches!(item.what, What::Fact(Fact::Usage(_)))).count();
        let others = heard.len() - usage;
        assert_eq!((usage, written(&mut folding, &heard)), (20_010, 20_000 + others));
        let folded = folding.take().expect("some were counted");
        assert_eq!(folded.items, 10);
        assert_eq!(folded.usage.iter().filter_map(|it| it.output_tokens).sum::<u64>(), 20);
    }
}
