// Sends an answer. What goes wrong on the way is kept with it, so that it can be sent again as the same answer.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";

import { ask, newKey, path, post } from "../api/client";
import { Refused } from "../api/problem";
import { keys } from "../api/queries";
import type { NewAnswer, RequestView } from "../api/schema";

export type Given = { answer: NewAnswer } | { file: File };

export function useAnswering(id: string, onDone: (settled: RequestView) => void) {
  const cache = useQueryClient();
  const sent = useRef<{ given: string; key: string } | null>(null);
  const fresh = (given: string): string => {
    if (sent.current?.given !== given) sent.current = { given, key: newKey() };
    return sent.current.key;
  };
  return useMutation({
    mutationFn: async (given: Given): Promise<RequestView> => {
      if ("answer" in given) {
        const key = fresh(JSON.stringify(given.answer));
        return post<RequestView>(`/requests/${id}/answer`, given.answer, key);
      }
      const { file } = given;
      const key = fresh(`${file.name} ${file.size} ${file.lastModified}`);
      const to = path(`/requests/${id}/file`, { name: file.name });
      const response = await ask(to, { method: "POST", file, key });
      return (await response.json()) as RequestView;
    },
    onSuccess: (settled) => {
      cache.setQueryData(keys.request(id), settled);
      void cache.invalidateQueries({ queryKey: keys.status });
      onDone(settled);
    },
    onError: (error) => {
      // Somebody else was first: the card says so by itself.
      if (error instanceof Refused && error.code === "settled") {
        void cache.invalidateQueries({ queryKey: keys.request(id) });
        void cache.invalidateQueries({ queryKey: keys.status });
      }
    },
  });
}

/** Words that were begun and not sent, by card: whoever looks at another one finds them again. Values are never kept. */
export const drafts = new Map<string, string>();
