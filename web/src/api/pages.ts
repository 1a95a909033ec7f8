// Lists that can grow, page by page: the server says where the next page is, and whether there is one.
import { type InfiniteData, useInfiniteQuery, type UseInfiniteQueryResult } from "@tanstack/react-query";

import { ask, path } from "./client";
import { Unreached } from "./problem";

export interface Paged<T> {
  items: T[];
  /** The parameter that leads on, and its value. */
  next: { name: "before" | "after"; cursor: string } | null;
}

export type Query = Record<string, string | number | boolean | undefined>;

/** Where the next page begins, if there is one. */
export function nextOf(link: string | null): Paged<unknown>["next"] {
  const target = /<([^>]*)>;\s*rel="next"/.exec(link ?? "")?.[1];
  if (target === undefined) return null;
  const query = new URL(target, "http://page.invalid").searchParams;
  for (const name of ["before", "after"] as const) {
    const cursor = query.get(name);
    if (cursor !== null) return { name, cursor };
  }
  return null;
}

export async function getPage<T>(base: string, query: Query, signal: AbortSignal): Promise<Paged<T>> {
  const response = await ask(path(base, query), { signal });
  try {
    return { items: (await response.json()) as T[], next: nextOf(response.headers.get("Link")) };
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw new Unreached(cause);
  }
}

/** All that has come so far. */
export function itemsOf<T>(list: { data: InfiniteData<Paged<T>> | undefined }): T[] | undefined {
  return list.data?.pages.flatMap((page) => page.items);
}

/** A list, newest first, of which older pages are asked for as somebody wants them. */
export function usePages<T>(queryKey: readonly unknown[], base: string, query: Query): UseInfiniteQueryResult<InfiniteData<Paged<T>>> {
  return useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => getPage<T>(base, { ...query, before: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next?.cursor,
  });
}
