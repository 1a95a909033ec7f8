// What somebody chooses for this browser, who may come in, and the server itself.
import { useId } from "react";

import { useInfo } from "../api/queries";
import { usePreferences } from "../app/preferences";
import type { Theme } from "../app/theme";
import { Page } from "../parts/Page";
import { Said } from "../parts/Said";
import { Since } from "../parts/Since";
import { type Language, useLanguage, useSay } from "../words/words";
import { Another } from "./Another";
import { SignIns } from "./SignIns";
import { Tokens } from "./Tokens";
import { words } from "./words";

export default function Settings() {
  const say = useSay(words);
  return (
    <Page title={say("title")}>
      <ThisBrowser />
      <SignIns />
      <Another />
      <Tokens />
      <Server />
    </Page>
  );
}

function ThisBrowser() {
  const say = useSay(words);
  const language = useLanguage();
  const { theme, setTheme, setLanguage, hasSingleKeys, setSingleKeys } = usePreferences();
  const id = useId();
  return (
    <section className="panel stack narrow">
      <h2>{say("thisBrowser")}</h2>
      <div>
        <label className="label" htmlFor={`${id}l`}>
          {say("language")}
        </label>
        <select id={`${id}l`} className="field" value={language} onChange={(event) => setLanguage(event.target.value as Language)}>
          <option value="en" lang="en">
            English
          </option>
          <option value="ko" lang="ko">
            한국어
          </option>
        </select>
      </div>
      <div>
        <label className="label" htmlFor={`${id}t`}>
          {say("theme")}
        </label>
        <select id={`${id}t`} className="field" value={theme} onChange={(event) => setTheme(event.target.value as Theme)}>
          <option value="system">{say("system")}</option>
          <option value="light">{say("light")}</option>
          <option value="dark">{say("dark")}</option>
        </select>
      </div>
      <div>
        <label className="check">
          <input
            type="checkbox"
            checked={hasSingleKeys}
            aria-describedby={`${id}k`}
            onChange={(event) => setSingleKeys(event.target.checked)}
          />
          <span>{say("singleKeys")}</span>
        </label>
        <p id={`${id}k`} className="small dim">
          {say("singleKeysAbout")}
        </p>
      </div>
    </section>
  );
}

function Server() {
  const say = useSay(words);
  const { data: info } = useInfo();
  if (!info) return null;
  return (
    <section className="panel stack narrow">
      <h2>{say("server")}</h2>
      <dl className="facts">
        <dt>{say("version")}</dt>
        <dd>{info.version}</dd>
        <dt>{say("process")}</dt>
        <dd>{info.pid}</dd>
        <dt>{say("since")}</dt>
        <dd>
          <Since at={info.started_at_ms} ago />
        </dd>
        <dt>{say("address")}</dt>
        <dd>
          <Said text={window.location.origin} />
        </dd>
      </dl>
    </section>
  );
}
