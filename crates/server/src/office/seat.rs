//! What a session of a role is to be: its agent, its words, its place.

use std::path::Path;

use ostler_agents::{Agent, agent::Guide};
use ostler_engine::{
    ProjectId, SessionId, World,
    office::{NoSeat, Seat},
    run::Terms,
    session::{Order, Role as SessionRole},
};
use ostler_workspace::fingerprint;

use super::{
    examine::{Limits, kept_if_long},
    roles::{Role, Roles},
};
use crate::{
    account,
    config::RepositoryCommand,
    driver::Driver,
    environment,
    http::runs::{Asked, budget, take_values, time_ms_max},
    project_record, random,
};

/// Why a role has no place.
fn no_repository(role: &Role, korean: bool) -> String {
    let at = role.place.as_ref().map(|place| place.at("isolation")).unwrap_or_default();
    let why = if korean {
        "워크트리에는 git 저장소가 필요합니다"
    } else {
        "a worktree needs a git repository"
    };
    format!("{at}{why}")
}

/// Who wants somebody.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// Where.
    pub(crate) project: ProjectId,
    /// The agent it runs with, if it is one.
    pub(crate) agent: Option<String>,
    /// The name of the environment it has, if it has one.
    pub(crate) environment: Option<String>,
    /// Whether it is spoken to in Korean.
    pub(crate) korean: bool,
}

/// Who has that name, or why nobody.
pub(crate) fn find(driver: &Driver, caller: &Caller, name: &str, words: &str) -> Result<Box<Seat>, NoSeat> {
    let bad = |message: String| NoSeat::Bad { message };
    let (root, is_git) =
        place(driver, caller.project).ok_or_else(|| bad("the project is gone".to_owned()))?;
    let trusted = driver.trusted(&root);
    let roles = Roles::read(Path::new(&root), trusted).map_err(|error| bad(error.to_string()))?;
    let role = match roles.find(name) {
        Some(Ok(role)) => role,
        Some(Err(role)) => return Err(bad(role.message.clone())),
        None => {
            let can_be_called = |role: &Role| check((&root, is_git), &roles, role, caller).is_ok();
            return Err(NoSeat::Unknown { roles: roles.names(can_be_called) });
        }
    };
    let agent = check((&root, is_git), &roles, role, caller).map_err(bad)?.clone();
    let limits = Limits::of(&agent);
    let terms = terms(&roles, &agent, role).map_err(bad)?;
    let order = order(driver, &roles, role, agent, caller, &root).map_err(bad)?;
    // The last thing that can fail: what is kept has then to be named.
    let reference = kept_if_long(&driver.texts, words, limits)
        .map_err(|error| bad(format!("its words cannot be kept: {error}")))?;
    let session = seat_of(driver, caller.project, &role.name);
    let worktrees = role.worktree.then(|| driver.home.worktrees().display().to_string());
    Ok(Box::new(Seat {
        name: role.name.clone(),
        session,
        order: Box::new(order),
        terms,
        worktrees,
        reference,
    }))
}

/// The root of a project, and whether it is a repository.
pub(crate) fn place(driver: &Driver, project: ProjectId) -> Option<(String, bool)> {
    driver.journal.world().projects.get(&project).map(|it| (it.root.clone(), it.git))
}

/// The session that has a role.
pub(crate) fn seat_of(driver: &Driver, project: ProjectId, name: &str) -> Option<SessionId> {
    seat_in(&driver.journal.world(), project, name)
}

/// The same where the world is at hand.
pub(crate) fn seat_in(world: &World, project: ProjectId, name: &str) -> Option<SessionId> {
    world.projects.get(&project)?.seats.get(name).copied()
}

/// The agent that a role is for who calls, or why it cannot be called.
fn check<'a>(
    (root, is_git): (&str, bool),
    roles: &'a Roles,
    role: &Role,
    caller: &Caller,
) -> Result<&'a Agent, String> {
    let agent = agent(roles, role, caller.agent.as_ref());
    check_trust(root, roles, role, agent, caller.korean)?;
    let agent = agent.ok_or_else(|| no_agent(role, caller.korean))?;
    if let Some(objection) = role.objection(agent) {
        return Err(objection);
    }
    if role.worktree && !is_git {
        return Err(no_repository(role, caller.korean));
    }
    Ok(agent)
}

/// The names of those who can be called as they stand.
pub(crate) fn names(place: (&str, bool), roles: &Roles) -> Vec<String> {
    roles.names(|role| problem(place, roles, role).is_none())
}

/// The agent of a role as far as it does not depend on who calls.
pub(crate) fn known_agent(roles: &Roles, role: &Role) -> Option<String> {
    role.agent.clone().or_else(|| roles.config.office.agent.clone())
}

/// Why a role cannot be called as it stands, whoever calls.
pub(crate) fn problem((root, is_git): (&str, bool), roles: &Roles, role: &Role) -> Option<String> {
    let agent = agent(roles, role, None);
    if let Err(message) = check_trust(root, roles, role, agent, false) {
        return Some(message);
    }
    if role.worktree && !is_git {
        return Some(no_repository(role, false));
    }
    match agent {
        Some(agent) => role.objection(agent),
        // It is that of who calls: something is wrong only if it could be none of them.
        None => {
            let objections: Vec<_> = roles.config.agents.iter().map(|agent| role.objection(agent)).collect();
            objections.into_iter().collect::<Option<Vec<String>>>()?.into_iter().next()
        }
    }
}

/// What a repository says of a role, and of the agent that it would be, whoever has named that one, counts only if a person
/// agreed to it.
fn check_trust(
    root: &str,
    roles: &Roles,
    role: &Role,
    agent: Option<&Agent>,
    korean: bool,
) -> Result<(), String> {
    let own = role.command.iter();
    let is_of_repository = agent.is_some_and(|agent| roles.config.is_of_repository(&agent.name));
    let agents = roles.config.commands.iter().filter(|it| is_of_repository && it.is_agent());
    let names_agent = |it: &&RepositoryCommand| ["office.agent", "default_agent"].contains(&it.key.as_str());
    let choices = roles.config.commands.iter().filter(|it| agent.is_none() && names_agent(it));
    let unseen = own.chain(agents).chain(choices).find(|command| !roles.is_agreed(command));
    let Some(command) = unseen else { return Ok(()) };
    let (file, key) = (command.file.display(), &command.key);
    Err(if korean {
        format!("'{file}'이(가) {key}을(를) 정하지만 아무도 허락하지 않았습니다: ostler trust {root}")
    } else {
        format!("'{file}' defines {key}, and nobody has agreed to it: ostler trust {root}")
    })
}

/// The agent of a role: its own, that of the office, that of who calls, or the one that is meant where none is named.
fn agent<'a>(roles: &'a Roles, role: &Role, of_caller: Option<&String>) -> Option<&'a Agent> {
    let config = &roles.config;
    let named = [role.agent.as_ref(), config.office.agent.as_ref(), of_caller, config.default_agent.as_ref()];
    named.into_iter().flatten().find_map(|name| config.agents.get(name))
}

fn no_agent(role: &Role, korean: bool) -> String {
    let at = role.place.as_ref().map(|place| place.at("name")).unwrap_or_default();
    let name = &role.name;
    if korean {
        format!("{at}`{name}`의 에이전트가 정해지지 않았습니다: ostler.toml에 `office.agent`를 정하세요")
    } else {
        format!("{at}nobody says which agent is `{name}`: set `office.agent` in ostler.toml")
    }
}

fn terms(roles: &Roles, agent: &Agent, role: &Role) -> Result<Terms, String> {
    let asked = Asked { cost_usd_max: None, tokens_max: None };
    let budget = budget(&roles.config, &[(agent, role.model.as_ref())], asked).map_err(|it| it.title)?;
    let time_ms_max = time_ms_max(&roles.config, None).map_err(|it| it.title)?;
    Ok(Terms { time_ms_max, budget, ..Terms::default() })
}

fn order(
    driver: &Driver,
    roles: &Roles,
    role: &Role,
    mut agent: Agent,
    caller: &Caller,
    root: &str,
) -> Result<Order, String> {
    let config = &roles.config;
    let mut variables = match &caller.environment {
        Some(name) => environment::read(&driver.home, name).map_err(|error| error.to_string())?,
        None => environment::of_server(),
    };
    variables.extend(take_values(&mut agent));
    let environment = environment::keep(&driver.home, &variables).map_err(|error| error.to_string())?;
    let account = account::name(&agent, &variables, driver.mark());
    let is_told = agent.guide != Guide::None;
    let language = role.korean.or(config.language.as_ref().map(|it| it == "ko"));
    let korean = language.unwrap_or(caller.korean);
    let idle_ms = u64::try_from(config.office.idle.as_millis()).unwrap_or(u64::MAX);
    Ok(Order {
        guide: is_told,
        channel: is_told,
        prompt: String::new(),
        directory: root.to_owned(),
        environment,
        model: role.model.clone(),
        turns_max: role.turns,
        nonce: Some(random::word()),
        new_conversation: random::uuid(),
        korean,
        patience: config.patience,
        account,
        prices: config.prices.clone(),
        checkpoints: config.checkpoints.filter(|_| place_is_git(driver, caller.project)),
        role: SessionRole::Office { name: role.name.clone(), hash: hash(role, &agent, language), idle_ms },
        instruction: is_told.then(|| {
            let on_record = project_record::for_agent(&agent, Path::new(root));
            [Some(instruction(roles, role, korean)), on_record]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join("\n\n")
        }),
        tools: role.tools.clone(),
        screen: None,
        agent,
    })
}

fn place_is_git(driver: &Driver, project: ProjectId) -> bool {
    place(driver, project).is_some_and(|(_, is_git)| is_git)
}

/// Stands for all that a role says, and for what its agent is.
fn hash(role: &Role, agent: &Agent, korean: Option<bool>) -> String {
    let table = serde_json::to_string(agent).expect("an agent is plain data");
    let turns = role.turns.map(|turns| turns.to_string()).unwrap_or_default();
    fingerprint(&[
        &role.name,
        &table,
        match korean {
            Some(true) => "ko",
            Some(false) => "en",
            None => "",
        },
        role.model.as_deref().unwrap_or_default(),
        &turns,
        &role.tools.join(","),
        role.instruction.as_deref().unwrap_or_default(),
        if role.worktree { "worktree" } else { "" },
    ])
}

/// What a role is told beside the guide: what it is, who else there is, and how they speak to each other.
fn instruction(roles: &Roles, role: &Role, korean: bool) -> String {
    let name = &role.name;
    let others = roles.iter().filter_map(|(_, other)| other.as_ref().ok());
    // What the repository says of another role is for an agent only after a person agreed to it.
    let is_agreed = |other: &&Role| other.command.as_ref().is_none_or(|command| roles.is_agreed(command));
    let others = others.filter(|other| other.name != *name && other.place.is_some()).filter(is_agreed);
    let others: Vec<String> = others
        .map(|other| match &other.description {
            Some(description) => format!("- {}: {description}", other.name),
            None => format!("- {}", other.name),
        })
        .collect();
    let how = if korean {
        format!(
            "당신은 이 프로젝트의 {name}입니다. 작업은 `[작업 요청 from X]`로 옵니다. 끝나면 결과를 아래처럼 출력하고 차례를 끝내세요.\n\
             [DELIVER_RESULT:X]\n타입: markdown\n내용: …\n[/DELIVER_RESULT]\n\
             다른 에이전트를 부르려면 아래처럼 출력하고 차례를 끝내세요. 결과는 `[결과 수신 from Y]`로 옵니다.\n\
             [INVOKE:Y]\n할 일\n컨텍스트: 알아야 할 것\n[/INVOKE]"
        )
    } else {
        format!(
            "You are {name} of this project. Work comes to you as `[Task from X]`. When it is done, print its result \
             like this and end your turn.\n[DELIVER_RESULT:X]\ntype: markdown\ncontent: …\n[/DELIVER_RESULT]\n\
             To call another agent, print this and end your turn; its result comes as `[Result from Y]`.\n\
             [INVOKE:Y]\nwhat is to be done\ncontext: what it should know\n[/INVOKE]"
        )
    };
    let parts = [Some(how), (!others.is_empty()).then(|| others.join("\n")), role.instruction.clone()];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}
