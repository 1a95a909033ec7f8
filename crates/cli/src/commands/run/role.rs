//! `ostler run ROLE`: writes to a role of the project's office, which starts it, and watches its session.

use ostler_server::{
    api::{NewOfficeMessage, OfficeView, SessionView, StatusView},
    client::{Client, ClientError},
};

use super::{Arguments, environment};
use crate::{
    attached::{self, Options, Signals},
    commands::{office, send::standard_input},
    context::{Context, talk},
    error::{Error, Message},
    exit::Exit,
    words::{Key, Language},
};

/// Runs a role, if that is whose name is given. Nothing happens for a name that is an agent's, a command, or a sentence.
pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<Option<Exit>, Error> {
    let Some(name) = arguments.agent.as_deref().filter(|name| !name.contains(char::is_whitespace)) else {
        return Ok(None);
    };
    if context.config()?.agents.get(name).is_some() {
        return Ok(None);
    }
    let usage = |message: Message| Error::Usage { message, command: "run" };
    talk(async {
        let client = context.server().await?;
        let Some((project, role)) = role(&client, name).await? else { return Ok(None) };
        let Some(prompt) = &arguments.prompt else {
            return Err(usage(Message::new(Key::NoPrompt).with("name", &role)));
        };
        let options = arguments.set_by_role();
        if !options.is_empty() {
            let message =
                Message::new(Key::RoleOptions).with("role", &role).with("options", &options.join(" "));
            return Err(usage(message));
        }
        let text = if prompt == "-" { standard_input()? } else { prompt.clone() };
        start(context, arguments, &client, &project, role, text).await.map(Some)
    })
}

/// The project of this directory and the role's whole name, if it has that role. Who may not ask has none.
async fn role(client: &Client, name: &str) -> Result<Option<(String, String)>, Error> {
    let office: OfficeView = match office::here(client).await {
        Ok(office) => office,
        Err(Error::NotFound { .. }) => return Ok(None),
        Err(Error::Client(ClientError::Refused(problem))) if problem.status < 500 => return Ok(None),
        Err(error) => return Err(error),
    };
    let is_it = |known: &str| known == name || known.to_lowercase() == name.to_lowercase();
    let Some(role) = office.roles.into_iter().find(|role| is_it(&role.name)) else { return Ok(None) };
    // A directory becomes a project when a role starts there, not when somebody looks.
    let project = if office.project.is_empty() { office::project(client).await? } else { office.project };
    Ok(Some((project, role.name)))
}

async fn start(
    context: &Context,
    arguments: &Arguments,
    client: &Client,
    project: &str,
    role: String,
    text: String,
) -> Result<Exit, Error> {
    let words = context.words;
    let signals = Signals::catch();
    let status: StatusView = client.get("/status").await?;
    let korean = words.language() == Language::Ko;
    let new = NewOfficeMessage { role: role.clone(), text, korean, environment: Some(environment()) };
    let session: SessionView = client.post(&format!("/projects/{project}/office/messages"), &new).await?;
    let begun: &[(&str, &dyn std::fmt::Display)] =
        &[("run", &session.run), ("session", &session.id), ("title", &role)];
    let begun = words.say(Key::RunBegun, begun);
    if arguments.detach {
        context.print(&session, |_| format!("{begun}\n"))?;
        context.note(&words.say(Key::RunDetached, &[("session", &session.id)]));
        return Ok(Exit::Done);
    }
    context.note(&begun);
    let options = Options { raw: arguments.raw, after: Some(status.seq), ..Options::default() };
    attached::watch(context, client, &session.id, options, signals).await
}
