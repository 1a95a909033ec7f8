//! The full demonstration: scripted agents go through all four phases, from an idea to a small program with tests, and a
//! scripted verifier looks at what they did. Nothing is faked here either: the questions, the files, the mistake that is
//! found and the tests are real.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::{DemoError, Manner, commit, common_environment, text, write_files};
use crate::api::NewPhases;

/// The agents and what both languages share, below the directory.
const FILES: [(&str, &str); 19] = [
    ("make.sh", include_str!("shop/make.sh")),
    ("prices.csv", include_str!("full/prices.csv")),
    ("agents/common.sh", include_str!("full/agents/common.sh")),
    ("agents/planner.sh", include_str!("full/agents/planner.sh")),
    ("agents/designer.sh", include_str!("full/agents/designer.sh")),
    ("agents/developer.sh", include_str!("full/agents/developer.sh")),
    ("agents/tester.sh", include_str!("full/agents/tester.sh")),
    ("agents/inspector.sh", include_str!("full/agents/inspector.sh")),
    ("drafts/src/receipt.sh", include_str!("full/drafts/src/receipt.sh")),
    ("drafts/tests/run.sh", include_str!("full/drafts/tests/run.sh")),
    ("drafts/tests/expect.sh", include_str!("full/drafts/tests/expect.sh")),
    ("drafts/tests/test_total.sh", include_str!("full/drafts/tests/test_total.sh")),
    ("drafts/tests/test_discount.sh", include_str!("full/drafts/tests/test_discount.sh")),
    ("drafts/tests/test_print.sh", include_str!("full/drafts/tests/test_print.sh")),
    ("drafts/tests/test_csv.sh", include_str!("full/drafts/tests/test_csv.sh")),
    ("drafts/tests/test_seal.sh", include_str!("full/drafts/tests/test_seal.sh")),
    ("drafts/tests/test_refund.sh", include_str!("full/drafts/tests/test_refund.sh")),
    // While this is there, the list of prices is being written.
    ("till-is-open", ""),
    ("shop/.gitignore", include_str!("full/shop/ignored")),
];

/// The project as it is before.
const SHOP: [(&str, &str); 3] = [
    ("shop/README.md", include_str!("full/shop/README.md")),
    ("shop/old/prices.csv", include_str!("full/shop/old/prices.csv")),
    ("shop/old/receipt.sh", include_str!("full/shop/old/receipt.sh")),
];

/// The documents of a language.
macro_rules! documents {
    ($language:literal) => {
        documents!($language, "planning/01_idea", "planning/02_market", "planning/03_users",
            "planning/04_features", "planning/05_flows", "planning/06_screens", "planning/07_backend",
            "planning/08_tech", "planning/09_roadmap", "design/01_screens", "design/02_data_model",
            "design/03_task_flow", "design/04_api", "design/05_architecture", "testing/results")
    };
    ($language:literal, $($name:literal),+) => {
        [$((
            concat!("drafts/", $language, "/", $name, ".md"),
            include_str!(concat!("full/drafts/", $language, "/", $name, ".md")),
        )),+]
    };
}

const ENGLISH: [(&str, &str); 15] = documents!("en");
const KOREAN: [(&str, &str); 15] = documents!("ko");

/// Where a full demonstration takes place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Studio {
    root: PathBuf,
}

impl Studio {
    /// In this directory, which is there.
    pub fn at(root: &Path) -> Studio {
        Studio { root: root.to_path_buf() }
    }

    /// Makes the project and the agents.
    pub fn furnish(&self, korean: bool) -> Result<(), DemoError> {
        write_files(&self.root, &FILES)?;
        write_files(&self.root, &SHOP)?;
        write_files(&self.root, if korean { &KOREAN } else { &ENGLISH })?;
        let settings = if korean { include_str!("full/ko.toml") } else { include_str!("full/en.toml") };
        write_files(&self.root, &[("shop/ostler.toml", settings)])?;
        commit(&self.root, &self.project())
    }

    /// The project.
    pub fn project(&self) -> PathBuf {
        self.root.join("shop")
    }

    /// The file that one of the agents asks for.
    pub fn prices(&self) -> PathBuf {
        self.root.join("prices.csv")
    }

    /// What is to be made.
    pub fn idea(korean: bool) -> &'static str {
        if korean {
            "작은 가게의 모든 주문에 영수증을"
        } else {
            "A receipt for every order of a small shop"
        }
    }

    /// What is asked of the agents.
    pub fn run(&self, manner: Manner) -> Result<NewPhases, DemoError> {
        Ok(NewPhases {
            directory: text(self.project())?,
            idea: Studio::idea(manner.korean).to_owned(),
            korean: manner.korean,
            environment: Some(self.environment(manner)?),
            ..NewPhases::default()
        })
    }

    fn environment(&self, manner: Manner) -> Result<BTreeMap<String, String>, DemoError> {
        let agents = text(self.root.join("agents"))?;
        let mut environment = common_environment(manner);
        environment.insert("DEMO_AGENTS".to_owned(), agents);
        Ok(environment)
    }
}

#[cfg(test)]
mod tests;
