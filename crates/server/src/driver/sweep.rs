//! Ends what a lost shim has left behind. The kernel ends the agent with its shim, but not what the agent had started;
//! those are found by the mark in their environment.

use std::{fs, path::Path, thread, time::Duration};

use rustix::process::{Pid, Signal, kill_process};

/// How often it is looked again for what forked away meanwhile.
const ROUNDS_MAX: u32 = 50;

/// Ends every process with this mark, or in the control group of this directory's launch. Says how many were left
/// over in the end.
pub(super) fn sweep(marker: &str, directory: &Path) -> usize {
    // Where there was no group, or it cannot be ended, the mark still finds them.
    ostler_shim::sweep(directory).ok();
    let wanted = format!("OSTLER_SESSION={marker}");
    for _ in 0..ROUNDS_MAX {
        let found = marked(&wanted);
        if found.is_empty() {
            return 0;
        }
        // Stopped first, so that none can fork between being seen and being ended.
        for signal in [Signal::STOP, Signal::KILL] {
            for &pid in &found {
                kill_process(pid, signal).ok();
            }
        }
        thread::sleep(Duration::from_millis(10));
    }
    marked(&wanted).len()
}

fn marked(wanted: &str) -> Vec<Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_marked = |pid: &i32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|variable| variable == wanted.as_bytes())
    };
    pids.filter(is_marked).filter_map(Pid::from_raw).collect()
}
