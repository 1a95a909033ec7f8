//! The places where the server can die, by name.

use std::collections::BTreeMap;

use ostler_engine::action::Deed;

/// Around the commit.
pub(crate) const BEFORE_COMMIT: &str = "before a commit";
pub(crate) const AFTER_COMMIT: &str = "after a commit, before it is published";
pub(crate) const AFTER_PUBLISHING: &str = "after publishing";
/// At the start.
pub(crate) const AT_START: &str = "when the journal has been read";

/// The server is no more.
#[derive(Debug)]
pub(crate) struct Crash;

/// The names of all deeds.
pub(crate) const DEEDS: [&str; 29] = [
    "launch",
    "deliver",
    "stop",
    "go_on",
    "end",
    "close_input",
    "check",
    "end_check",
    "make_worktree",
    "merge_worktree",
    "discard_worktree",
    "steer_check",
    "look_in_vault",
    "provide_values",
    "remove_values",
    "install",
    "end_install",
    "checkpoint",
    "restore",
    "collect",
    "gate_check",
    "verify",
    "read_verdict",
    "report",
    "clear_gate",
    "thin",
    "test_worktree",
    "listen",
    "run_graph",
];

pub(crate) fn name(deed: &Deed) -> &'static str {
    match deed {
        Deed::Launch { .. } => DEEDS[0],
        Deed::Deliver { .. } => DEEDS[1],
        Deed::Stop { .. } => DEEDS[2],
        Deed::GoOn { .. } => DEEDS[3],
        Deed::End { .. } => DEEDS[4],
        Deed::CloseInput { .. } => DEEDS[5],
        Deed::Check { .. } => DEEDS[6],
        Deed::EndCheck { .. } => DEEDS[7],
        Deed::MakeWorktree => DEEDS[8],
        Deed::MergeWorktree => DEEDS[9],
        Deed::DiscardWorktree => DEEDS[10],
        Deed::SteerCheck { .. } => DEEDS[11],
        Deed::LookInVault { .. } => DEEDS[12],
        Deed::ProvideValues => DEEDS[13],
        Deed::RemoveValues => DEEDS[14],
        Deed::Install { .. } => DEEDS[15],
        Deed::EndInstall { .. } => DEEDS[16],
        Deed::Checkpoint { .. } => DEEDS[17],
        Deed::Restore { .. } => DEEDS[18],
        Deed::Collect { .. } => DEEDS[19],
        Deed::GateCheck { .. } => DEEDS[20],
        Deed::Verify { .. } => DEEDS[21],
        Deed::ReadVerdict { .. } => DEEDS[22],
        Deed::Report { .. } => DEEDS[23],
        Deed::ClearGate { .. } => DEEDS[24],
        Deed::Thin { .. } => DEEDS[25],
        Deed::TestWorktree { .. } => DEEDS[26],
        Deed::Listen { .. } => DEEDS[27],
        Deed::RunGraph => DEEDS[28],
        Deed::Seat { .. } => "seat",
        Deed::Examine { .. } => "examine",
    }
}

/// How often the server died at each place.
#[derive(Debug, Clone)]
pub(crate) struct Sites(BTreeMap<String, u64>);

impl Sites {
    /// Every place, each in the ordinary course and while what an earlier crash left open is carried out.
    pub(crate) fn all() -> Sites {
        let around = [BEFORE_COMMIT, AFTER_COMMIT, AFTER_PUBLISHING].map(ToOwned::to_owned);
        let deeds = DEEDS.iter().flat_map(|deed| [before(deed), after(deed)]);
        let ordinary: Vec<String> = around.into_iter().chain(deeds).collect();
        let again = ordinary.iter().map(|site| again(site));
        let all = again.chain([AT_START.to_owned()]).chain(ordinary.iter().cloned());
        Sites(all.map(|site| (site, 0)).collect())
    }

    pub(crate) fn hit(&mut self, site: &str) {
        *self.0.get_mut(site).expect("every site is listed") += 1;
    }

    pub(crate) fn add(&mut self, other: &Sites) {
        for (site, count) in &other.0 {
            *self.0.get_mut(site).expect("every site is listed") += count;
        }
    }

    pub(crate) fn crashes(&self) -> u64 {
        self.0.values().sum()
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn missed(&self) -> Vec<&str> {
        self.0.iter().filter(|(_, count)| **count == 0).map(|(site, _)| site.as_str()).collect()
    }
}

/// Before an action is carried out.
pub(crate) fn before(deed: &str) -> String {
    format!("before {deed}")
}

/// Between an action and the word of it.
pub(crate) fn after(deed: &str) -> String {
    format!("after {deed}")
}

/// During recovery.
pub(crate) fn again(site: &str) -> String {
    format!("in recovery: {site}")
}
