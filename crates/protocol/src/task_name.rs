//! The grammar of task ids, over bytes: the command line, the wire and the reader of task files share it.
//!
//! ```text
//! id      ::= plain | phased | worded | number
//! plain   ::= "T" numbers letter?                 T1.3  T1.3.2  T014  T16A
//! phased  ::= "P" numbers ("-" segment)+          P2-R1-T2  P4-S1-V  P5-Integration-T1  P2-T1.1
//! worded  ::= word ("-" segment)+, with a digit   ENV-001  TASK-C01  M1-T2  TASK_001
//! number  ::= numbers                             1.1  1.2.3  4
//! segment ::= letters? numbers? letter?           begins with an upper-case letter or a digit
//! numbers ::= n ("." n){0,2}
//! ```
//!
//! `P1-T1.3` is another name of `T1.3`, because both numbers agree; `P2-T1.1` is an id of its own.

/// The longest id, in bytes.
pub const ID_BYTES_MAX: usize = 64;

/// How far an id can be told from other words by its form alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdForm {
    /// `T1.3` and `P2-R1-T2`: nothing else is written like this.
    Plain,
    /// `ENV-001`: so is `UTF-8`.
    Word,
    /// `1.1`: so is the number of a version, a section or a requirement.
    Number,
}

/// An id that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskName<'a> {
    /// The id without a phase that only repeats its first number.
    pub name: &'a [u8],
    /// Its form.
    pub form: IdForm,
}

/// Reads a whole word.
pub fn read(written: &[u8]) -> Option<TaskName<'_>> {
    if written.len() > ID_BYTES_MAX {
        return None;
    }
    let plain = |name| Some(TaskName { name, form: IdForm::Plain });
    match *written.first()? {
        b'T' if is_plain(written) => plain(written),
        b'0'..=b'9' => {
            (numbers(written) == written.len()).then_some(TaskName { name: written, form: IdForm::Number })
        }
        b'A'..=b'Z' => {
            let head = segment(written);
            let is_phase = written[0] == b'P' && head > 1 && numbers(&written[1..head]) == head - 1;
            let rest = &written[head..];
            if is_phase {
                let task = rest.strip_prefix(b"-").unwrap_or_default();
                if is_plain(task) && task.contains(&b'.') && is_same_number(&written[1..head], &task[1..]) {
                    return plain(task);
                }
                return are_segments(rest, b"-").then_some(TaskName { name: written, form: IdForm::Plain });
            }
            // `T1-T3` is a range.
            let is_task = written[0] == b'T' && written[1..head].first().is_some_and(u8::is_ascii_digit);
            let is_bare = !written[..head].iter().any(u8::is_ascii_digit);
            let joints: &[u8] = if is_bare { b"-_" } else { b"-" };
            let has_digit = written.iter().any(u8::is_ascii_digit);
            let is_word = !is_task && has_digit && are_segments(rest, joints);
            is_word.then_some(TaskName { name: written, form: IdForm::Word })
        }
        _ => None,
    }
}

/// How many digits are at the beginning.
pub fn digits(text: &[u8]) -> usize {
    text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len())
}

/// How long `1`, `1.3` or `1.3.2` at the beginning is; 0 if there is none.
pub fn numbers(text: &[u8]) -> usize {
    let (mut end, mut next) = (0, 0);
    for _ in 0..3 {
        let count = digits(&text[next..]);
        if count == 0 {
            break;
        }
        end = next + count;
        if text.get(end) != Some(&b'.') {
            break;
        }
        next = end + 1;
    }
    end
}

/// `T1`, `T1.3`, `T1.3.2`, with a letter or without.
fn is_plain(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(b"T") else { return false };
    let length = numbers(rest);
    let behind = &rest[length..];
    length > 0 && (behind.is_empty() || behind.len() == 1 && behind[0].is_ascii_alphabetic())
}

/// Whether `1` and the first number of `1.3` are the same number.
fn is_same_number(phase: &[u8], task: &[u8]) -> bool {
    let zeros = |text: &[u8]| -> usize { text.iter().take_while(|&&byte| byte == b'0').count() };
    let first = &task[..digits(task)];
    phase[zeros(phase)..] == first[zeros(first)..]
}

/// One or more segments, each behind a joint.
fn are_segments(mut rest: &[u8], joints: &[u8]) -> bool {
    let mut count = 0;
    while let Some((joint, behind)) = rest.split_first() {
        let length = segment(behind);
        if !joints.contains(joint) || length == 0 {
            return false;
        }
        rest = &behind[length..];
        count += 1;
    }
    count > 0
}

/// How long `R1`, `Integration`, `001`, `T1.1` or `C01a` at the beginning is; 0 if there is none.
fn segment(text: &[u8]) -> usize {
    if !text.first().is_some_and(|first| first.is_ascii_uppercase() || first.is_ascii_digit()) {
        return 0;
    }
    let letters = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let end = letters + numbers(&text[letters..]);
    let is_lone = |at: usize| {
        text.get(at).is_some_and(u8::is_ascii_alphabetic)
            && !text.get(at + 1).is_some_and(u8::is_ascii_alphanumeric)
    };
    if end > letters && is_lone(end) { end + 1 } else { end }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(written: &str, name: &str, form: IdForm) {
        let read = read(written.as_bytes()).map(|it| (core::str::from_utf8(it.name).unwrap(), it.form));
        assert_eq!(read, Some((name, form)), "{written}");
    }

    #[test]
    fn ids_of_every_form() {
        for id in ["T1.3", "T1.3.2", "T014", "T7", "T16A", "T1.3b", "P2-R1-T2", "P4-S1-V", "P0-T3"] {
            check(id, id, IdForm::Plain);
        }
        for id in ["P5-Integration-T1", "P2-T1.1", "P12-T1", "P0.5-T1", "P1-1", "P1-AB12-C", "P1-T16A"] {
            check(id, id, IdForm::Plain);
        }
        for id in ["TASK-C01", "ENV-001", "M1-T2", "TASK_001", "US-1.2", "Task-7", "M0.5-T1", "FE-12b"] {
            check(id, id, IdForm::Word);
        }
        for id in ["1.1", "1.2.3", "4", "10.12"] {
            check(id, id, IdForm::Number);
        }
    }

    #[test]
    fn a_phase_that_repeats_the_first_number_is_no_part_of_the_id() {
        check("P1-T1.3", "T1.3", IdForm::Plain);
        check("P01-T1.3", "T1.3", IdForm::Plain);
        check("P1-T1.3.2", "T1.3.2", IdForm::Plain);
        check("P2-T1.3", "P2-T1.3", IdForm::Plain);
        check("P10-T1.3", "P10-T1.3", IdForm::Plain);
        check("P1-T1", "P1-T1", IdForm::Plain);
    }

    #[test]
    fn other_words() {
        let others = [
            "", "T", "T1.", "T1.2.3.4", "t1.3", "T1 .3", "P1-", "P1--T1", "P1-t1", "T１", "T1-T3", "T1_2",
            "Re-run", "P1_T1", "1.", "1.2.3.4", "env-001", "A", "M1", "P1", "Phase", "T16AB", "v1.2", "1x",
        ];
        for other in others {
            assert_eq!(read(other.as_bytes()), None, "{other}");
        }
    }
}
