//! `ostler guide`: the text that teaches an agent how to ask.

use clap::Args;
use ostler_protocol::guide::{Language as GuideLanguage, text};
use serde_json::json;

use crate::{context::Context, error::Error, exit::Exit, words::Language};

/// Print the short text that teaches an agent how to ask.
///
/// Add it to an agent's system prompt. It is at most 400 tokens long and names its version. Agents that Ostler starts
/// get it without your doing. It is in English unless --lang says otherwise.
#[derive(Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(context: &Context) -> Result<Exit, Error> {
    let (language, name) = match context.asked {
        Some(Language::Ko) => (GuideLanguage::Korean, "ko"),
        Some(Language::En) | None => (GuideLanguage::English, "en"),
    };
    let text = text(language);
    context.print(&json!({ "language": name, "text": text }), |_| text.to_owned())?;
    Ok(Exit::Done)
}
