//! How soon the shim gets a core when its agent has said something.
//!
//! A busy machine lets whoever runs finish its slice first, and an agent that has just asked would run on for that
//! long. Who asks for short slices is let in sooner; it costs nobody anything, because a shim needs little.

use std::mem;

/// How long the shim wants to run at a time, in nanoseconds: the least that the kernel grants.
const SLICE_NS: u64 = 100_000;

/// Asks for short slices, for this process and not for the agent. Older kernels do not know the wish and ignore it.
#[expect(unsafe_code, reason = "there is no safe way to say how long one wants to run")]
pub(crate) fn ask_for_short_slices() {
    // SAFETY: a structure of integers may be all zeros, and the kernel only reads as much of it as its size says.
    unsafe {
        let mut wish: libc::sched_attr = mem::zeroed();
        wish.size = u32::try_from(size_of::<libc::sched_attr>()).unwrap_or(0);
        wish.sched_policy = libc::SCHED_OTHER.cast_unsigned();
        wish.sched_flags = libc::SCHED_FLAG_RESET_ON_FORK.cast_unsigned().into();
        wish.sched_nice = libc::getpriority(libc::PRIO_PROCESS, 0);
        wish.sched_runtime = SLICE_NS;
        // A refusal leaves everything as it was.
        libc::syscall(libc::SYS_sched_setattr, 0, &raw const wish, 0);
    }
}
