//! The plan in a few lines, one per stage, as a person reads it before they agree.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{
    plan::DispatchPlan,
    role::{Role, Stage},
};

/// One line per stage: `+` joins who runs at the same time, `→` leads to who comes next.
pub fn outline(plan: &DispatchPlan, is_korean: bool) -> Vec<String> {
    let stages = [Stage::Analysis, Stage::Design, Stage::Implementation, Stage::Verification];
    let waves =
        stages.into_iter().map(|stage| (stage, plan.waves(stage))).filter(|(_, waves)| !waves.is_empty());
    let line = |(number, (stage, waves)): (usize, (Stage, Vec<Vec<Role>>))| {
        let names = |wave: &Vec<Role>| wave.iter().map(|role| role.name()).collect::<Vec<_>>().join(" + ");
        let chain = waves.iter().map(names).collect::<Vec<_>>().join(" → ");
        let is_parallel = waves.len() == 1 && waves[0].len() > 1;
        format!("{}. {chain} ({})", number + 1, label(stage, is_parallel, is_korean))
    };
    waves.enumerate().map(line).collect()
}

fn label(stage: Stage, is_parallel: bool, is_korean: bool) -> String {
    let (korean, english) = match stage {
        Stage::Analysis => ("분석", "analysis"),
        Stage::Design => ("설계", "design"),
        Stage::Implementation => ("구현", "implementation"),
        Stage::Verification => ("검증", "verification"),
    };
    match (is_korean, is_parallel) {
        (true, true) => format!("병렬 {korean}"),
        (true, false) => korean.to_string(),
        (false, true) => format!("parallel {english}"),
        (false, false) => english.to_string(),
    }
}
