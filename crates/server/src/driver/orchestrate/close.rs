//! The end of a phase: tested, merged, recorded; one step at a time, each after a look at what is there.

use std::{path::PathBuf, sync::Arc};

use ostler_engine::{
    graph::{GroupChange, GroupFacts, GroupTest, MergeFailure},
    input::Made,
    orchestrate::{About, CloseStep, GroupHeads, close},
};
use ostler_orchestrate::{record, unfinished};

use super::{
    Shared, Turn, ask,
    command::{self, Errand, NOT_ALLOWED},
    ground::{Ground, Merged, Whose, titled},
    words,
};
use crate::{
    api::NewRun,
    crash,
    driver::{executor::parent::blocking, work_secrets},
    http::runs,
    journal::Key,
};

/// How often it is tried to take a worktree away.
const REMOVALS_MAX: u32 = 3;

/// The name of a worktree, by the place of a phase in it.
pub(super) fn name_of(place: Option<&str>) -> Option<&str> {
    let place = place?;
    let end = place.match_indices('/').nth(1).map_or(place.len(), |(at, _)| at);
    Some(&place[..end])
}

/// Does what is due for a phase all of whose tasks are settled.
pub(super) async fn turn(shared: &Arc<Shared>, phase: u32, title: &str) -> Turn {
    let Some(mut groups) = shared.groups() else { return Turn::Again };
    // A phase may be settled before anything was done in it: then it never had a place.
    let stage = groups.remove(&phase).unwrap_or_default();
    match standing(shared, phase, &stage, title).await {
        Ok(standing) => match close(phase, &stage, &standing) {
            CloseStep::Test => test(shared, phase, &stage, &standing).await,
            CloseStep::Merge => merge(shared, phase, &stage, standing, title).await,
            CloseStep::Repair => mend(shared, phase, &stage).await,
            CloseStep::Ask(about) => {
                ask(shared, about).await;
                Turn::Again
            }
            CloseStep::Record => put_down(shared, phase, &stage).await,
        },
        Err(message) => hindered(shared, message).await,
    }
}

/// Whether what a person was asked about the end of a phase is still the question.
pub(super) fn still_asks(ground: &Ground, phase: u32, stage: &GroupFacts, about: &About) -> bool {
    let Ok(standing) = ground.standing(name_of(stage.worktree.as_deref())) else { return true };
    if close(phase, stage, &standing) != CloseStep::Ask(about.clone()) {
        return false;
    }
    // Somebody may have put away what stood in the way.
    let is_away = |unmerged: &MergeFailure| {
        let changed = ground.foreign(&ground.root).unwrap_or_else(|_| unmerged.files.clone());
        !unmerged.is_conflict
            && !unmerged.files.is_empty()
            && !unmerged.files.iter().any(|file| changed.contains(file))
    };
    !(matches!(about, About::Unmerged { .. }) && stage.unmerged.as_ref().is_some_and(is_away))
}

async fn hindered(shared: &Arc<Shared>, message: String) -> Turn {
    ask(shared, About::Hindered { message }).await;
    Turn::Again
}

/// Where a phase is worked on.
fn directory(shared: &Shared, stage: &GroupFacts) -> PathBuf {
    stage
        .worktree
        .as_ref()
        .map_or_else(|| shared.project.root().to_path_buf(), |it| shared.project.root().join(it))
}

/// Commits what no task has declared, and looks at where the phase stands. What tasks declare that were given up is not
/// committed; in a worktree it is put away, so that the tests see what will be merged.
async fn standing(
    shared: &Arc<Shared>,
    phase: u32,
    stage: &GroupFacts,
    title: &str,
) -> Result<GroupHeads, String> {
    if stage.merged.is_some() || stage.began_at_ms == 0 {
        let merged = stage.merged.clone();
        return Ok(GroupHeads { head: merged, target: None });
    }
    let (shared, stage) = (Arc::clone(shared), stage.clone());
    let message = titled(&format!("Phase {phase}"), title);
    let looked = blocking(move || {
        let ground = shared.ground();
        let name = name_of(stage.worktree.as_deref());
        // Tests may have left files behind, which are nobody's work.
        if stage.tested.is_none() {
            let directory = directory(&shared, &stage);
            let undone = unfinished(&shared.project, phase, None)?.files;
            shared.commit(&directory, &Whose::AllBut(&undone), &stage.foreign, &message)?;
            if let Some(name) = name {
                ground.put_back(name, &directory, &undone, &stage.foreign)?;
            }
        }
        ground.standing(name)
    });
    looked.await.unwrap_or_else(|| Err("the repository could not be looked at".to_owned()))
}

async fn test(shared: &Arc<Shared>, phase: u32, stage: &GroupFacts, standing: &GroupHeads) -> Turn {
    let tested = |command: Option<String>, code: i32, output: String| GroupTest {
        commit: standing.head.clone(),
        command,
        code,
        output,
        waived: false,
    };
    let config = match shared.config() {
        Ok(config) => config,
        Err(message) => return hindered(shared, message).await,
    };
    let directory = directory(shared, stage);
    let tested = match command::test(&config, &directory, &shared.trusted()) {
        _ if stage.began_at_ms == 0 => tested(None, 0, String::new()),
        None => tested(None, 0, String::new()),
        Some(chosen) if !chosen.allowed => {
            let how = shared.project.trust_command();
            let words = format!("nobody has agreed to this command of the repository: {how}");
            tested(Some(chosen.command), NOT_ALLOWED, words)
        }
        Some(chosen) => {
            crash::site("before test phase");
            let errand = Errand {
                name: format!("test-{phase}-{}", stage.tests),
                command: chosen.command.clone(),
                environment: shared.place_environment(&config, &directory),
                directory,
            };
            match shared.errand(&errand).await {
                Ok(Some((code, output))) => tested(Some(chosen.command), code, output),
                Ok(None) => return Turn::Again,
                Err(message) => return hindered(shared, message).await,
            }
        }
    };
    crash::site("after test phase");
    shared.changed(phase, GroupChange::Tested { tested }).await;
    Turn::Again
}

async fn merge(
    shared: &Arc<Shared>,
    phase: u32,
    stage: &GroupFacts,
    standing: GroupHeads,
    title: &str,
) -> Turn {
    let Some(name) = name_of(stage.worktree.as_deref()).map(str::to_owned) else { return Turn::Again };
    crash::site("before merge phase");
    let (asked, phase_name) = (Arc::clone(shared), name.clone());
    if let Some(Ok(changes)) = blocking(move || asked.ground().changes(&phase_name)).await {
        work_secrets::in_change(&shared.driver, shared.session, changes).await;
    }
    let (asked, title) = (Arc::clone(shared), title.to_owned());
    let merged = blocking(move || asked.ground().merge(&name, &standing, &title)).await;
    crash::site("after merge phase");
    match merged.unwrap_or_else(|| Err("the merge has failed".to_owned())) {
        Ok(Merged::Yes(commit)) => shared.changed(phase, GroupChange::Merged { commit }).await,
        Ok(Merged::No(unmerged)) => shared.changed(phase, GroupChange::NotMerged { unmerged }).await,
        Err(message) => return hindered(shared, message).await,
    }
    Turn::Again
}

/// Has an agent bring the two sides together, in the worktree: it merges the target into the branch there.
async fn mend(shared: &Arc<Shared>, phase: u32, stage: &GroupFacts) -> Turn {
    let Some(unmerged) = stage.unmerged.clone() else { return Turn::Again };
    let Some(name) = name_of(stage.worktree.as_deref()).map(str::to_owned) else { return Turn::Again };
    let number = stage.repairs.len();
    let key = format!("mend-{}-{phase}-{number}-{}", shared.session, unmerged.commit);
    let (asked, directory) = (Arc::clone(shared), directory(shared, stage));
    let wanted = blocking(move || {
        let target = asked.ground().target(&name)?;
        let config = asked.config()?;
        let agent = asked.asked.agent.clone().or(config.default_agent.clone());
        let agent = agent.ok_or("there is no default agent who could resolve the conflict")?;
        let mut environment = asked.environment.clone();
        environment.extend(asked.place_environment(&config, &directory));
        let new = NewRun {
            directory: directory.to_string_lossy().into_owned(),
            agent: Some(agent),
            prompt: Some(words::mend(&name, &target, &unmerged.files, asked.korean)),
            environment: Some(environment),
            korean: asked.korean,
            ..NewRun::default()
        };
        let mut wanted = runs::wanted(&asked.driver, new).map_err(|problem| problem.title)?;
        wanted.parent = Some(asked.session);
        wanted.title = format!("Merge {name}");
        Ok::<_, String>(wanted)
    });
    let wanted = match wanted.await.unwrap_or_else(|| Err("the merge has failed".to_owned())) {
        Ok(wanted) => wanted,
        Err(message) => return hindered(shared, message).await,
    };
    let key = Key { fingerprint: key.clone(), key };
    let run = match shared.submit_run(wanted, key).await {
        Ok(Some(Made { run: Some(run), .. })) => run,
        Ok(_) => return hindered(shared, "somebody else resolves the conflict".to_owned()).await,
        Err(message) => return hindered(shared, message).await,
    };
    crash::site("after start mend");
    if shared.wait_for(run).await {
        // Noted when it is over: whoever goes on after a crash waits for the same run.
        shared.changed(phase, GroupChange::Repaired { by: run }).await;
    }
    Turn::Again
}

/// Takes the worktree away and records the checkpoint.
async fn put_down(shared: &Arc<Shared>, phase: u32, stage: &GroupFacts) -> Turn {
    crash::site("before record phase");
    let (asked, stage) = (Arc::clone(shared), stage.clone());
    let recorded = blocking(move || {
        let ground = asked.ground();
        if let (Some(name), Some(_)) = (name_of(stage.worktree.as_deref()), &stage.merged) {
            // A git that was killed says nothing about the worktree. What cannot be taken away then stays; its work is
            // merged.
            for _ in 0..REMOVALS_MAX {
                if ground.remove(name).is_ok() {
                    break;
                }
            }
        }
        record(&asked.project, phase, stage.merged.as_deref(), asked.now_ms())
            .map_err(|error| error.to_string())
    });
    crash::site("after record phase");
    match recorded.await.unwrap_or_else(|| Err("the checkpoint could not be recorded".to_owned())) {
        Ok(()) => {
            shared.changed(phase, GroupChange::Recorded).await;
            Turn::Again
        }
        Err(message) => hindered(shared, message).await,
    }
}

/// Makes a new worktree ready, if the project says how. False if nobody wants that any more.
pub(super) async fn set_up(shared: &Arc<Shared>, whose: &str, worktree: &str) -> Result<bool, String> {
    let config = shared.config()?;
    let Some(chosen) = command::setup(&config, &shared.trusted()) else { return Ok(true) };
    if !chosen.allowed {
        return Err(format!("nobody has agreed to the setup command: ostler trust: {}", chosen.command));
    }
    let directory = shared.project.root().join(worktree);
    let errand = Errand {
        name: format!("setup-{whose}"),
        command: chosen.command.clone(),
        environment: shared.place_environment(&config, &directory),
        directory,
    };
    match shared.errand(&errand).await? {
        None => Ok(false),
        Some((0, _)) => Ok(true),
        Some((code, output)) => {
            command::clear(&shared.driver, shared.session, &errand);
            Err(format!("$ {}\n{}\nexit code {code}", chosen.command, output.trim_end()))
        }
    }
}

impl Shared {
    async fn errand(self: &Arc<Self>, errand: &Errand) -> Result<Option<(i32, String)>, String> {
        let Some(session) = self.read(Clone::clone) else { return Ok(None) };
        command::run(&self.driver, &session, errand, || !self.is_cancelled()).await
    }
}
