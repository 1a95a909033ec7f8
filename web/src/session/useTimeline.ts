// What happened in a session, read once and then only what came since.
import { useQuery, useQueryClient, type UseQueryResult } from "@tanstack/react-query";

import { getPage, type Paged } from "../api/pages";
import { keys } from "../api/queries";
import type { EventView } from "../api/schema";
import { KINDS } from "./timeline";

const PAGE = 500;
/** How many events are kept on the page. */
const EVENTS_MAX = 10_000;

export interface History {
  events: EventView[];
  /** Whether there is more than is kept here. */
  isCut: boolean;
}

export function useTimeline(session: string): UseQueryResult<History> {
  const cache = useQueryClient();
  const queryKey = keys.timeline(session);
  return useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const known = cache.getQueryData<History>(queryKey);
      const events = [...(known?.events ?? [])];
      let isCut = false;
      let after: string | undefined = events.at(-1)?.seq.toString();
      do {
        const page: Paged<EventView> = await getPage("/events", { session, kind: KINDS, limit: PAGE, after }, signal);
        events.push(...page.items);
        after = page.next?.cursor;
        isCut = events.length >= EVENTS_MAX;
      } while (after !== undefined && !isCut);
      return { events, isCut };
    },
  });
}
