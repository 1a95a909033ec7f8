//! The scripted model that all CLIs talk to. It ends with its input, so it never outlives the test.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use serde_json::Value;

/// The running model.
pub(crate) struct Model {
    pub(crate) url: String,
    log: PathBuf,
    process: Child,
}

impl Model {
    /// Starts it with a script.
    pub(crate) fn start(folder: &Path, script: &Value) -> Model {
        let [file, log] = ["script.json", "requests.ndjson"].map(|name| folder.join(name));
        fs::write(&file, script.to_string()).expect("the project can be written");
        let mut process = Command::new("node")
            .arg(super::lab::repository().join("tests/model/model.mjs"))
            .args(["--until-stdin-ends", "--script"])
            .arg(&file)
            .arg("--log")
            .arg(&log)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node runs the model");
        let mut line = String::new();
        let stdout = process.stdout.take().expect("it has one");
        BufReader::new(stdout).read_line(&mut line).expect("it says where it is");
        let ready: Value = serde_json::from_str(&line).expect("one line of JSON");
        Model { url: ready["url"].as_str().expect("its address").to_owned(), log, process }
    }

    /// What the model was told in each request of a conversation, without those that a CLI makes for itself.
    pub(crate) fn requests(&self, conversation: &str) -> Vec<String> {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let whole = log.rfind('\n').map_or("", |end| &log[..end]);
        let requests = whole.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        requests
            .filter(|request| request["conversation"] == conversation && request["turn"] != "side")
            .map(|request| text(&request))
            .collect()
    }

    /// Everything that the model was told in the last request of a conversation.
    pub(crate) fn last(&self, conversation: &str) -> String {
        self.requests(conversation).pop().expect("the model was asked")
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        self.process.wait().expect("the model ends with its input");
    }
}

fn text(request: &Value) -> String {
    let messages = request["messages"].as_array().expect("messages").iter().map(|message| &message["text"]);
    let texts: Vec<&str> =
        [&request["system"]].into_iter().chain(messages).filter_map(Value::as_str).collect();
    texts.join("\n")
}
