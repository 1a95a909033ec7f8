//! Lists of ids in sentences for people: the first ten, and how many more there are. Programs are told all of them.

/// How many ids are named.
const NAMED_MAX: usize = 10;

/// The first of them, which a person is told.
pub(crate) fn named<T>(all: &[T]) -> &[T] {
    &all[..all.len().min(NAMED_MAX)]
}

/// `T1.1, T1.2 and 31 more`.
pub(crate) fn short_list(ids: &[String], korean: bool) -> String {
    let named = named(ids).join(", ");
    match ids.len().saturating_sub(NAMED_MAX) {
        0 => named,
        more if korean => format!("{named} 외 {more}개"),
        more => format!("{named} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_is_cut_with_a_count() {
        let ids = |count: usize| (1..=count).map(|n| format!("T{n}")).collect::<Vec<_>>();
        assert_eq!(short_list(&ids(2), false), "T1, T2");
        assert_eq!(short_list(&ids(10), false), "T1, T2, T3, T4, T5, T6, T7, T8, T9, T10");
        assert_eq!(short_list(&ids(33), false), "T1, T2, T3, T4, T5, T6, T7, T8, T9, T10 and 23 more");
        assert_eq!(short_list(&ids(12), true), "T1, T2, T3, T4, T5, T6, T7, T8, T9, T10 외 2개");
    }
}
