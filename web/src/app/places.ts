// The addresses of the page. Each view is loaded when somebody first goes there.
import type { ComponentType } from "react";

import { Inbox } from "../inbox/Inbox";
import { late } from "./late";

export interface ViewProps {
  /** What stands in the address in the place of `:id`. */
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
const Settings = late(() => import("../settings/Settings"));
const More = late(() => import("./More"));

/** In this order: the first that fits is meant. */
const PLACES: [pattern: string, view: View][] = [
  ["/", Inbox],
  ["/requests/:id", Inbox],
  ["/runs/new", NewRun],
  ["/runs/phases", NewPhases],
  ["/runs/:id", Run],
  ["/runs", Runs],
  ["/sessions/:id", Session],
  ["/sessions", Sessions],
  ["/projects", Projects],
  ["/agents", Agents],
  ["/secrets", Secrets],
  ["/trust", Trust],
  ["/notifications", Notifications],
  ["/settings", Settings],
  ["/more", More],
];

export function find(path: string): { view: View; id: string } | null {
  const parts = path.split("/").filter((part) => part !== "");
  for (const [pattern, view] of PLACES) {
    const wanted = pattern.split("/").filter((part) => part !== "");
    const fits = wanted.length === parts.length && wanted.every((part, index) => part === ":id" || part === parts[index]);
    if (!fits) continue;
    const id = decoded(parts[wanted.indexOf(":id")] ?? "");
    return id === null ? null : { view, id };
  }
  return null;
}

/** What stands in an address may be anything. */
function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}

/** What the sidebar offers. */
export const MAIN = [
  { to: "/", name: "inbox", shape: "▣" },
  { to: "/runs", name: "runs", shape: "▷" },
  { to: "/sessions", name: "sessions", shape: "◇" },
] as const;

export const OTHER = [
  { to: "/projects", name: "projects" },
  { to: "/agents", name: "agents" },
  { to: "/secrets", name: "secrets" },
  { to: "/trust", name: "trust" },
  { to: "/notifications", name: "notifications" },
  { to: "/settings", name: "settings" },
] as const;
