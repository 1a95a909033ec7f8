//! Output that says nothing costs no memory: lines are passed over where they stand.
#![expect(unsafe_code, reason = "only an allocator can count allocations")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering},
};

use ostler_protocol::{Format, Parser, Settings};

/// The system's allocator, with a count of what it was asked for.
struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// One test only: others beside it would be counted too.
#[test]
fn plain_lines_are_not_allocated() {
    let lines = [
        "plain text of some length\n",
        "\x1b[32mgreen\x1b[0m and \x1b]0;title\x07more\n",
        "    indented\r\n",
        "10%\r20%\r30%\n",
        "한글로 된 줄입니다.\n",
        "[INFO] [ERROR] in a log\n",
        "[ERROR] as some programs print it\n",
        "Reading, Writing, DONE with it, ERROR at 3\n",
        "\n",
    ]
    .concat()
    .repeat(200);
    let nonce = Some("k7Qz".parse().expect("a valid nonce"));
    let mut parser = Parser::new(Format::Text, Settings { nonce, ..Settings::default() });
    let mut hear = || {
        for chunk in [1, 64, 4096, lines.len()] {
            lines.as_bytes().chunks(chunk).for_each(|chunk| parser.push(chunk));
        }
        assert_eq!(parser.next(), None);
    };
    hear();
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    hear();
    assert_eq!(ALLOCATIONS.load(Ordering::Relaxed) - before, 0);
}
