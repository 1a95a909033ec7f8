// The addresses of the page. Each view is loaded when somebody first goes there.
import type { ComponentType } from "react";

import { isId, type Kind } from "../api/ids";
import { Inbox } from "../inbox/Inbox";
import { late } from "./late";

export interface ViewProps {
  /** The id that stands in the address, if there is a place for one. */
  id: string;
}

type View = ComponentType<ViewProps>;

const NewPhases = late(() => import("../phases/NewPhases"));
const NewRun = late(() => import("../runs/NewRun"));
const Runs = late(() => import("../runs/Runs"));
const Run = late(() => import("../runs/Run"));
const Sessions = late(() => import("../sessions/Sessions"));
const Session = late(() => import("../session/Session"));
const Projects = late(() => import("../projects/Projects"));
const Agents = late(() => import("../agents/Agents"));
const Secrets = late(() => import("../secrets/Secrets"));
const Trust = late(() => import("../trust/Trust"));
const Notifications = late(() => import("../notifications/Notifications"));
const Tasks = late(() => import("../tasks/Tasks"));
const TasksOf = late(() => import("../tasks/Project"));
const Offices = late(() => import("../office/Offices"));
const Office = late(() => import("../office/Office"));
const Settings = late(() => import("../settings/Settings"));
const More = late(() => import("./More"));

/** In this order: the first that fits is meant. Behind a colon: the kind of thing whose id stands there. */
const PLACES: [pattern: string, view: View][] = [
  ["/", Inbox],
  ["/requests/:request", Inbox],
  ["/runs/new", NewRun],
  ["/runs/phases", NewPhases],
  ["/runs/:run", Run],
  ["/runs", Runs],
  ["/sessions/:session", Session],
  ["/sessions", Sessions],
  ["/tasks/:project", TasksOf],
  ["/tasks", Tasks],
  ["/office/:project", Office],
  ["/office", Offices],
  ["/projects", Projects],
  ["/agents", Agents],
  ["/secrets", Secrets],
  ["/trust", Trust],
  ["/notifications", Notifications],
  ["/settings", Settings],
  ["/more", More],
];

/** What is at an address: a view, nothing, or nothing since what stands there is no id of that kind. */
export type Found = { view: View; id: string } | { view: null; lacks: Kind | null };

export function find(path: string): Found {
  const parts = path.split("/").filter((part) => part !== "");
  for (const [pattern, view] of PLACES) {
    const wanted = pattern.split("/").filter((part) => part !== "");
    const fits = wanted.length === parts.length && wanted.every((part, index) => part.startsWith(":") || part === parts[index]);
    if (!fits) continue;
    const at = wanted.findIndex((part) => part.startsWith(":"));
    // No letter of an id is ever escaped: what is, is none.
    const id = parts[at] ?? "";
    const kind = wanted[at]?.slice(1) as Kind | undefined;
    if (kind === undefined || isNamed(kind, id)) return { view, id };
    return { view: null, lacks: kind };
  }
  return { view: null, lacks: null };
}

/** A session may be called by its run. */
function isNamed(kind: Kind, id: string): boolean {
  return isId(kind, id) || (kind === "session" && isId("run", id));
}

/** What the sidebar offers. */
export const MAIN = [
  { to: "/", name: "inbox", shape: "▣" },
  { to: "/runs", name: "runs", shape: "▷" },
  { to: "/sessions", name: "sessions", shape: "◇" },
  { to: "/tasks", name: "tasks", shape: "⌘" },
  { to: "/office", name: "office", shape: "◎" },
] as const;

export const OTHER = [
  { to: "/projects", name: "projects" },
  { to: "/agents", name: "agents" },
  { to: "/secrets", name: "secrets" },
  { to: "/trust", name: "trust" },
  { to: "/notifications", name: "notifications" },
  { to: "/settings", name: "settings" },
] as const;
