// The name of a project, and where it is if others have the same.
import { useProjects } from "../api/queries";
import type { ProjectView } from "../api/schema";
import { Said } from "./Said";

type Named = Pick<ProjectView, "id" | "name" | "root">;

/** Its name, behind as many of the folders around it as it takes to tell it from others of that name. */
export function projectSaid(project: Named, known: Named[]): string {
  const folders = (it: Named) => it.root.split("/").slice(1, -1);
  const others = known.filter((it) => it.id !== project.id && it.name === project.name).map(folders);
  const own = folders(project);
  const tail = (of: string[], n: number) => of.slice(-n).join("/");
  let n = 1;
  while (n < own.length && others.some((it) => tail(it, n) === tail(own, n))) n++;
  return others.length === 0 ? project.name : `${tail(own, n)}/${project.name}`;
}

export function ProjectName({ project, className = "" }: { project: Named; className?: string }) {
  const known = useProjects();
  return <Said text={projectSaid(project, known.data ?? [])} className={className} />;
}
