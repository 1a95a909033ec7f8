//! Carries out what the engine decides, and lets people and programs ask for things over HTTP.
//!
//! [`serve`] runs the server of a state directory; [`start::ensure`] and [`client::Client`] are for those who want
//! something of it. It decides nothing by itself: that is the engine's business.

pub mod api;
pub mod channel;
pub mod client;
pub mod config;
pub mod demo;
pub mod start;

mod account;
mod agent_log;
mod baseline;
mod clock;
mod consent;
mod crash;
mod descriptors;
mod driver;
mod end_secret;
mod environment;
mod helper;
mod home;
mod http;
mod inject;
mod journal;
mod journal_fact;
mod keep;
mod listening_socket;
mod log;
mod login_file;
mod looked;
mod mark;
mod memory;
mod metrics;
mod notify;
mod office;
mod packages;
mod peer;
mod phases;
mod private;
mod project_record;
mod random;
mod refused_connection;
mod reserve;
mod secrets;
mod serve;
mod server_peer;
mod services;
mod sign_in;
mod socket;
mod strays;
mod stream;
mod task_list;
mod tcp;
mod turns;
mod unix_door;
mod uploads;
mod verifier_config;

pub use consent::CONFIGURATION;
pub use crash::{BACK_SITES, EXEC_SITES, INIT_SITES, LOOP_SITES, MAIN_SITES, SITES, site as crash_site};
pub use home::{Home, HomeError};
pub use http::{Need, openapi, routes};
pub use journal::{LoadError, Replayed, lock_holders};
pub use keep::{Exported, KeepError, Mended, export, mend, verify, verify_files};
pub use notify::{Kind as NotifyKind, attend};
pub use ostler_store::{ExportError, Salvaged};
pub use ostler_workspace::end_all as end_git;
pub use phases::{Template, settings as phase_settings, templates as phase_templates};
pub use secrets::{SecretsError, mend_vault, open_vault, vault_exists};
pub use serve::{ServeError, serve};
pub use strays::{BrandedProcesses, branded};

/// Where tests of this crate put their files: beside the program that runs them.
#[cfg(test)]
fn test_directory() -> std::path::PathBuf {
    let program = std::env::current_exe().expect("a test is a program");
    let directory = program.parent().expect("it lies in a directory").join("files");
    std::fs::create_dir_all(&directory).expect("a directory for tests");
    directory
}
