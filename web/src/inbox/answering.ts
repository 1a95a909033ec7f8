// Sends an answer. What goes wrong on the way is kept with it, so that it can be sent again as the same answer.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";

import { newKey, path, post, route } from "../api/client";
import { Refused } from "../api/problem";
import { keys } from "../api/queries";
import type { NewAnswer, RequestView } from "../api/schema";
import { upload } from "../api/upload";
import { failSending, setSending, useSending } from "./sending";

export type Given = { answer: NewAnswer } | { file: File };

/** A file that is chosen again after it did not arrive is the same answer. */
function isSame(one: File, other: File): boolean {
  return one.name === other.name && one.size === other.size && one.lastModified === other.lastModified;
}

/** Somebody does not want the file to be sent any more: nothing has gone wrong. */
function isCancelled(error: Error | null): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

export function useAnswering(id: string, onDone: (settled: RequestView) => void) {
  const cache = useQueryClient();
  const sent = useRef<{ given: string; key: string } | null>(null);
  const sending = useSending(id);
  const fresh = (given: string): string => {
    if (sent.current?.given !== given) sent.current = { given, key: newKey() };
    return sent.current.key;
  };
  const send = async (file: File): Promise<RequestView> => {
    const key = sending && isSame(sending.file, file) ? sending.key : newKey();
    const abort = new AbortController();
    const tell = (bytes: number) => setSending(id, { file, key, sent: bytes, cancel: () => abort.abort(), error: null });
    tell(0);
    const response = await upload(path(route`/requests/${id}/file`, { name: file.name }), { file, key, signal: abort.signal, tell });
    return (await response.json()) as RequestView;
  };
  const answering = useMutation({
    mutationFn: (given: Given): Promise<RequestView> => {
      if ("file" in given) return send(given.file);
      setSending(id, null);
      return post<RequestView>(route`/requests/${id}/answer`, given.answer, fresh(JSON.stringify(given.answer)));
    },
    onSuccess: (settled) => {
      setSending(id, null);
      cache.setQueryData(keys.request(id), settled);
      void cache.invalidateQueries({ queryKey: keys.status });
      onDone(settled);
    },
    onError: (error) => {
      if (isCancelled(error)) setSending(id, null);
      else failSending(id, error);
      // Somebody else was first: the card says so by itself.
      if (error instanceof Refused && error.code === "settled") {
        void cache.invalidateQueries({ queryKey: keys.request(id) });
        void cache.invalidateQueries({ queryKey: keys.status });
      }
    },
  });
  const error = answering.error ?? sending?.error ?? null;
  const last = answering.variables ?? (sending && { file: sending.file });
  return {
    send: answering.mutate,
    again: () => last && answering.mutate(last),
    isPending: answering.isPending || (sending !== null && sending.error === null),
    error: isCancelled(error) ? null : error,
    sending: sending?.error === null ? sending : null,
  };
}

/** Words that were begun and not sent, by card: whoever looks at another one finds them again. Values are never kept. */
export const drafts = new Map<string, string>();
