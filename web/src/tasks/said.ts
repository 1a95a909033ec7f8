// Sentences about tasks that several parts of the view say.
import type { TaskProblemView, TasksView, TaskView } from "../api/schema";
import { plain } from "../parts/Said";
import { fill, type Language, type Say } from "../words/words";
import korean from "./plan.json";
import { causesOf } from "./state";
import { words } from "./words";

type SayTasks = Say<(typeof words)["en"]>;

/** So many ids stand in a sentence. */
const NAMED_MAX = 6;

export function idsSaid(ids: string[]): string {
  const shown = ids.slice(0, NAMED_MAX).join(", ");
  return ids.length > NAMED_MAX ? `${shown}, …` : shown;
}

/** Why a task cannot be begun, in one sentence; nothing if it can, or was. */
export function whySaid(say: SayTasks, task: TaskView, tasks: TaskView[], byId: Map<string, TaskView>): string | null {
  const causes = causesOf(task, tasks, byId);
  if (causes.length > 0) return say("because", { ids: idsSaid(causes) });
  const { waits } = task;
  if (!waits) return null;
  if (waits.beside != null) return say("beside", { id: waits.beside });
  if (waits.tasks.length > 0) return say("waitsFor", { ids: idsSaid(waits.tasks) });
  return waits.phase == null ? null : say("waitsPhase", { n: waits.phase });
}

export function phaseSaid(say: SayTasks, phase: TasksView["phases"][number]): string {
  const title = phase.title == null ? "" : plain(phase.title);
  return title === "" ? say("phase", { n: phase.number }) : say("phaseTitled", { n: phase.number, title });
}

/** What is wrong or strange, in the words of the command line. */
export function problemSaid(language: Language, problem: TaskProblemView): string {
  if (language === "en") return problem.message;
  const about = problem.about as Record<string, unknown>;
  const name = String(about["what"] ?? about["problem"] ?? about["warning"] ?? "");
  const sentence = (korean as Record<string, string>)[name];
  if (sentence === undefined) return problem.message;
  const circle = about["circle"];
  const values = Object.entries(about).map(([key, value]) => [key, String(value)] as const);
  const chain = Array.isArray(circle) ? [...circle, circle[0]].join("->") : "";
  return fill(sentence, { ...Object.fromEntries(values), circle: chain });
}
