// What a form about work offers: the agents and the projects that the server knows.
import type { ReactNode } from "react";

import { useAgents, useProjects } from "../api/queries";
import type { AgentView, ProjectSummary } from "../api/schema";
import { Failure, Loading } from "./states";

export function Offered({ children }: { children: (agents: AgentView[], projects: ProjectSummary[]) => ReactNode }) {
  const agents = useAgents();
  const projects = useProjects();
  const failed = agents.error ?? projects.error;
  const again = () => {
    if (agents.error) void agents.refetch();
    if (projects.error) void projects.refetch();
  };
  return (
    <>
      {failed && <Failure error={failed} onAgain={again} />}
      {!failed && (!agents.data || !projects.data) && <Loading />}
      {agents.data && projects.data && children(agents.data, projects.data)}
    </>
  );
}
