// The agents that can be run by name, and what each can do.
import { useAgents } from "../api/queries";
import type { AgentView } from "../api/schema";
import { Link } from "../app/router";
import { List } from "../parts/List";
import { Page } from "../parts/Page";
import { Said } from "../parts/Said";
import { useSay } from "../words/words";
import { words } from "./words";

const INPUT = { line: "inputLine", message: "inputMessage", relaunch: "inputRelaunch" } as const;

export default function Agents() {
  const say = useSay(words);
  const agents = useAgents();
  return (
    <Page title={say("title")}>
      <p className="dim">{say("about")}</p>
      <List asked={agents} items={agents.data} label={say("title")} empty={say("command")}>
        {(agent) => <Agent key={agent.name} agent={agent} />}
      </List>
      <p className="dim small">{say("command")}</p>
    </Page>
  );
}

function Agent({ agent }: { agent: AgentView }) {
  const say = useSay(words);
  const input = agent.input in INPUT ? say(INPUT[agent.input as keyof typeof INPUT]) : agent.input;
  const isMissing = agent.installed === false;
  const install = agent.table["install"];
  const facts = [
    ...(agent.tested == null ? [] : [say("tested", { version: agent.tested })]),
    say(agent.resumable ? "resumable" : "notResumable"),
    input,
    say(agent.source === "built in" ? "builtIn" : "configured"),
  ];
  return (
    <li className="list-row">
      <div>
        <h2>
          <Said text={agent.name} />
        </h2>
        <p>
          <Said text={agent.about} />
        </p>
        {agent.installed != null && (
          <p className={`small ${agent.installed ? "good" : "attention"}`}>
            <span aria-hidden="true">{agent.installed ? "✓" : "✗"} </span>
            {say(agent.installed ? "installed" : "missing")}
          </p>
        )}
        {isMissing && typeof install === "string" && (
          <p className="small">
            {say("install")}{" "}
            <code>
              <Said text={install} />
            </code>
          </p>
        )}
        <p className="dim small">
          <Said text={facts.join(" · ")} />
        </p>
      </div>
      {!isMissing && (
        <Link href={`/runs/new?agent=${encodeURIComponent(agent.name)}`} className="button">
          {say("run")}
        </Link>
      )}
    </li>
  );
}
