//! Makes the plan of a run that goes through phases: from the configuration, once.

use std::path::Path;

use ostler_agents::Agent;
use ostler_engine::{
    checkpoint::CheckpointTerms,
    input::NewRun as Wanted,
    phases::plan::{PhasePlan, Plan, PlannedAgent, Verifier},
    run::Terms,
    session::{Order, Role, WorktreeTerms},
};

use crate::{
    account,
    api::{NewPhases, Problem},
    config::{Choice, Config, PhaseSetting},
    driver::Driver,
    environment,
    http::{
        code::Code,
        problem::{not_written, refused},
        read::unknown_agent,
        runs,
    },
    phases::prompt::{self, Parts},
    random,
};

/// The longest idea.
const IDEA_BYTES_MAX: usize = 32 << 10;

/// The word for no verifier.
const NONE: &str = "none";

/// What the engine has to know.
pub(super) fn wanted(driver: &Driver, new: &NewPhases) -> Result<Wanted, Problem> {
    if new.idea.trim().is_empty() {
        return Err(Problem::bad(Code::NoPrompt, "there is no idea")
            .hint("ostler phases run \"a shop for second-hand bicycles\""));
    }
    if new.idea.len() > IDEA_BYTES_MAX {
        return Err(Problem::bad(Code::LongField, format!("the idea is longer than {IDEA_BYTES_MAX} bytes"))
            .hint("Put it into a file of the repository and name that."));
    }
    let directory = runs::directory(&new.directory)?;
    let repository = runs::repository(&directory)?
        .ok_or_else(|| refused(&ostler_engine::Refusal::NotGit { directory: new.directory.clone() }))?;
    let root = repository.main_root().to_path_buf();
    let place = repository.directory_root().to_path_buf();
    let trusted = driver.trusted(&runs::text(&root)?);
    repository
        .trusting(trusted.iter().cloned())
        .check_trust()
        .map_err(|error| runs::refused_by_git(&error))?;
    let config = Config::load(Some(&place), &trusted).map_err(|error| {
        Problem::bad(Code::Configuration, error.to_string()).hint("Mend the file; nothing was started.")
    })?;
    let mut maker = Maker { driver, config: &config, new, agents: Vec::new() };
    let names: Vec<String> = config.phases.phases.iter().map(|phase| phase.name.clone()).collect();
    let mut phases = Vec::new();
    for (number, setting) in (1..).zip(&config.phases.phases) {
        phases.push(maker.phase(number, setting, &names)?);
    }
    let is_of_repository = maker.agents.iter().any(|(name, _)| config.is_of_repository(name));
    runs::check_phase_commands(&config, &new.directory, &trusted, is_of_repository)?;
    let terms = terms(&config, new, &maker.agents, &phases)?;
    let agents: Vec<PlannedAgent> = maker.agents.into_iter().map(|(_, planned)| planned).collect();
    let common = Box::new(common(&config, new, &agents, &place)?);
    let plan = Plan { idea: new.idea.clone(), common, agents, phases, confine: config.phases.confine };
    let order = plan.order(1).ok_or_else(|| Problem::internal("there is no phase"))?;
    Ok(Wanted {
        root: runs::text(&root)?,
        name: runs::name(&root),
        git: true,
        title: runs::title_of(&new.idea),
        terms,
        order: Box::new(order),
        worktrees: None,
        worktree_terms: WorktreeTerms::default(),
        phases: Some(Box::new(plan)),
        session_name: None,
        node: None,
        graph: None,
        parent: None,
        roles: crate::office::roles::described(&root, trusted),
    })
}

/// How far the run may go as a whole, with all who work and verify.
fn terms(
    config: &Config,
    new: &NewPhases,
    agents: &[(String, PlannedAgent)],
    phases: &[PhasePlan],
) -> Result<Terms, Problem> {
    let workers = phases.iter().map(|phase| (phase.agent, phase.model.as_ref()));
    let verifiers = phases.iter().filter_map(|phase| phase.verifier.as_ref());
    let all = workers.chain(verifiers.map(|verifier| (verifier.agent, verifier.model.as_ref())));
    let all: Vec<_> = all.filter_map(|(at, model)| Some((&agents.get(at)?.1.agent, model))).collect();
    let asked = runs::Asked { cost_usd_max: new.cost_usd_max, tokens_max: new.tokens_max };
    let budget = runs::budget(config, &all, asked)?;
    Ok(Terms { time_ms_max: runs::time_ms_max(config, new.time_s_max)?, budget, ..Terms::default() })
}

/// What all sessions of the run have in common.
fn common(config: &Config, new: &NewPhases, agents: &[PlannedAgent], place: &Path) -> Result<Order, Problem> {
    let first = agents.first().ok_or_else(|| Problem::internal("there is no agent"))?;
    Ok(Order {
        agent: first.agent.clone(),
        prompt: String::new(),
        directory: runs::text(place)?,
        environment: first.environment.clone(),
        model: None,
        turns_max: None,
        nonce: None,
        new_conversation: String::new(),
        guide: true,
        channel: true,
        korean: new.korean,
        patience: config.patience,
        account: first.account.clone(),
        prices: config.prices.clone(),
        // What is approved is a checkpoint, whether or not others are wanted.
        checkpoints: Some(
            config.checkpoints.unwrap_or(CheckpointTerms { every_ms: None, ..CheckpointTerms::default() }),
        ),
        role: Role::Work,
        instruction: None,
        tools: Vec::new(),
        screen: None,
    })
}

struct Maker<'a> {
    driver: &'a Driver,
    config: &'a Config,
    new: &'a NewPhases,
    agents: Vec<(String, PlannedAgent)>,
}

impl Maker<'_> {
    fn phase(&mut self, number: u32, setting: &PhaseSetting, all: &[String]) -> Result<PhasePlan, Problem> {
        let settings = &self.config.phases;
        let named =
            self.new.agent.clone().or_else(|| setting.agent.clone()).or_else(|| settings.agent.clone());
        let named = named.or_else(|| self.config.default_agent.clone()).ok_or_else(|| {
            Problem::bad(Code::NoAgent, "nobody says which agent is to work")
                .hint("Name one with --agent, as `agent` under [phases], or as `default_agent`.")
        })?;
        let agent = self.agent(&named)?;
        let chosen = match (&self.new.verifier, &setting.verifier, &settings.verifier) {
            (Some(name), ..) if name == NONE => None,
            (Some(name), ..) | (_, Choice::Agent(name), _) => Some(name.clone()),
            (_, Choice::Nobody, _) | (_, _, Choice::Nobody) => None,
            (_, _, Choice::Agent(name)) => Some(name.clone()),
            (None, Choice::Unsaid, Choice::Unsaid) => Some(named),
        };
        let verifier = chosen.map(|name| self.agent(&name)).transpose()?.map(|agent| Verifier {
            agent,
            model: setting.verifier_model.clone(),
            criteria: setting.criteria.clone(),
            time_ms_max: setting.verifier_ms_max,
        });
        let parts = Parts {
            idea: &self.new.idea,
            number,
            name: &setting.name,
            names: all,
            artifacts: &setting.artifacts,
            korean: self.new.korean,
        };
        Ok(PhasePlan {
            name: setting.name.clone(),
            prompt: prompt::worker(setting.prompt.as_deref(), &parts),
            agent,
            model: setting.model.clone(),
            nonce: random::word(),
            conversation: random::uuid(),
            artifacts: setting.artifacts.clone(),
            keep: setting.keep.clone(),
            commands: setting.commands.clone(),
            find_tests_ms_max: setting.find_tests_ms_max,
            junit: setting.junit.clone(),
            verifier,
            rework_max: setting.rework_max,
            questions_max: setting.questions_max,
        })
    }

    /// Where an agent is in the list; it is added if it is not there.
    fn agent(&mut self, name: &str) -> Result<usize, Problem> {
        if let Some(at) = self.agents.iter().position(|(known, _)| known == name) {
            return Ok(at);
        }
        let mut agent: Agent =
            self.config.agents.get(name).ok_or_else(|| unknown_agent(self.config, name))?.clone();
        let mut variables = self.new.environment.clone().unwrap_or_else(environment::of_server);
        variables.extend(runs::take_values(&mut agent));
        let environment = environment::keep(&self.driver.home, &variables)
            .map_err(|error| not_written(error.to_string()))?;
        let account = account::name(&agent, &variables, self.driver.mark());
        self.agents.push((name.to_owned(), PlannedAgent { agent, environment, account }));
        Ok(self.agents.len() - 1)
    }
}
