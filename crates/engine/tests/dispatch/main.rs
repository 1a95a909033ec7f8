//! How a request is read and planned, and a corpus of labelled requests.

mod corpus;
mod plans;
mod reading;

use ostler_engine::dispatch::DispatchRules;

fn built_in() -> DispatchRules {
    DispatchRules::with_files(&[]).expect("the built-in rules")
}
