//! `=== PHASE N COMPLETE ===` and the lines that may follow it.

use alloc::string::ToString;

use crate::signal::PhaseComplete;

/// A phase announcement while its lines come in.
#[derive(Debug)]
pub(crate) struct Announcement {
    pub(crate) complete: PhaseComplete,
    in_documents: bool,
}

impl Announcement {
    pub(crate) fn new(phase: u32) -> Self {
        let complete = PhaseComplete { phase, name: None, documents: alloc::vec::Vec::new() };
        Announcement { complete, in_documents: false }
    }

    /// Takes the line if it belongs to the announcement.
    pub(crate) fn take(&mut self, line: &str) -> bool {
        let line = line.trim();
        if self.in_documents {
            let Some(path) = line.strip_prefix("- ") else { return false };
            self.complete.documents.push(path.trim().to_string());
        } else if let Some(name) = line.strip_prefix("Phase:") {
            self.complete.name = Some(name.trim().to_string());
        } else if let Some(name) = line.strip_prefix("Completed:") {
            self.complete.name.get_or_insert_with(|| name.trim().to_string());
        } else {
            self.in_documents = line == "Documents created:";
            return self.in_documents;
        }
        true
    }
}
