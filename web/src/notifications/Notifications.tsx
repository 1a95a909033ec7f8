// How somebody is told what needs them: by this browser, and by what is configured.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { get, route } from "../api/client";
import { UNNAMED, UNNAMED_MS, useWish } from "../api/queries";
import type { NotificationsView, NotifyChannelView } from "../api/schema";
import { Page } from "../parts/Page";
import { Said } from "../parts/Said";
import { Failure, Loading } from "../parts/states";
import { useSay } from "../words/words";
import { permission, type Permission, show, turn } from "./browser";
import { type Kind, KINDS, kindsOff, turnKind } from "./kinds";
import { words } from "./words";

export default function Notifications() {
  const say = useSay(words);
  return (
    <Page title={say("title")}>
      <Browser />
      <Channels />
    </Page>
  );
}

const STATES = { on: "on", off: "off", ask: "off", denied: "denied", unsupported: "unsupported" } as const;

function Browser() {
  const say = useSay(words);
  const [state, setState] = useState<Permission>(permission);
  const set = (on: boolean) => void turn(on).then(setState);
  return (
    <section className="panel stack">
      <h2>{say("browserTitle")}</h2>
      <p className="dim small">{say("browserAbout")}</p>
      <p role="status">{say(STATES[state])}</p>
      <div className="row">
        {(state === "ask" || state === "off") && (
          <button type="button" className="button primary" onClick={() => set(true)}>
            {say("turnOn")}
          </button>
        )}
        {state === "on" && (
          <>
            <button type="button" className="button" onClick={() => show(say("testTitle"), say("testBody"), "test", "/notifications")}>
              {say("test")}
            </button>
            <button type="button" className="button plain" onClick={() => set(false)}>
              {say("turnOff")}
            </button>
          </>
        )}
      </div>
      {state === "on" && <Kinds />}
    </section>
  );
}

const TELLS = {
  question: "tellQuestion",
  dependency: "tellDependency",
  permission: "tellPermission",
  error: "tellError",
  fault: "tellFault",
  budget: "tellBudget",
  failed: "tellFailed",
  interrupted: "tellInterrupted",
  done: "tellDone",
} as const satisfies Record<Kind, string>;

/** Which of them this browser tells. */
function Kinds() {
  const say = useSay(words);
  const [off, setOff] = useState(kindsOff);
  return (
    <fieldset className="stack">
      <legend className="label">{say("kinds")}</legend>
      {KINDS.map((kind) => (
        <label key={kind} className="check">
          <input type="checkbox" checked={!off.has(kind)} onChange={(event) => setOff(turnKind(kind, event.target.checked))} />
          <span>{say(TELLS[kind])}</span>
        </label>
      ))}
    </fieldset>
  );
}

function Channels() {
  const say = useSay(words);
  const asked = useQuery({
    queryKey: ["notifications"],
    queryFn: ({ signal }) => get<NotificationsView>("/notifications", signal),
    // No event tells of a message that has arrived somewhere.
    refetchInterval: UNNAMED_MS,
    ...UNNAMED,
  });
  return (
    <section className="panel stack">
      <h2>{say("channels")}</h2>
      <p className="dim small">{say("channelsAbout")}</p>
      {asked.isPending && <Loading />}
      {asked.error && <Failure error={asked.error} onAgain={() => void asked.refetch()} />}
      {asked.data?.problem != null && (
        <p className="notice bad">
          <Said text={asked.data.problem} lines />
        </p>
      )}
      {asked.data?.channels.length === 0 && <p>{say("noChannels")}</p>}
      {asked.data && asked.data.channels.length > 0 && (
        <ul className="list">
          {asked.data.channels.map((channel) => (
            <Channel key={channel.name} channel={channel} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Channel({ channel }: { channel: NotifyChannelView }) {
  const say = useSay(words);
  const test = useWish<unknown, string>((name) => ({ path: route`/notifications/${name}/test` }));
  const isFailing = channel.state === "failing";
  const state = isFailing
    ? say("failing", { error: channel.last_error ?? "?" })
    : channel.state === "waiting"
      ? say("waiting", { n: channel.pending })
      : say("idle");
  return (
    <li className="list-row">
      <div>
        <h3>
          <Said text={channel.name} /> <span className="dim small">{channel.type}</span>
        </h3>
        <p className={`small ${isFailing ? "bad" : "dim"}`}>
          <Said text={`${isFailing ? "✗ " : ""}${state} · ${say("sent", { n: channel.sent })}`} />
        </p>
        <p className="small dim">
          {say("tellsOf", { kinds: channel.kinds.join(", ") })}
          {channel.withdraws && ` · ${say("withdraws")}`}
        </p>
        {test.isSuccess && (
          <p className="small good" role="status">
            ✓ {say("tested", { name: channel.name })}
          </p>
        )}
        {test.error && <Failure error={test.error} />}
      </div>
      <button type="button" className="button" disabled={test.isPending} onClick={() => test.mutate(channel.name)}>
        {say("testChannel", { name: channel.name })}
      </button>
    </li>
  );
}
