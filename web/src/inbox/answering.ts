// Sends an answer. What goes wrong on the way is kept with it, so that it can be sent again as the same answer.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";

import { newKey, path, post } from "../api/client";
import { Refused } from "../api/problem";
import { keys } from "../api/queries";
import type { NewAnswer, RequestView } from "../api/schema";
import { upload } from "../api/upload";

export type Given = { answer: NewAnswer } | { file: File };

/** A file on its way. */
export interface Sending {
  name: string;
  sent: number;
  size: number;
  cancel: () => void;
}

/** Somebody does not want the file to be sent any more: nothing has gone wrong. */
function isCancelled(error: Error | null): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

export function useAnswering(id: string, onDone: (settled: RequestView) => void) {
  const cache = useQueryClient();
  const sent = useRef<{ given: string; key: string } | null>(null);
  const [sending, setSending] = useState<Sending | null>(null);
  const fresh = (given: string): string => {
    if (sent.current?.given !== given) sent.current = { given, key: newKey() };
    return sent.current.key;
  };
  const send = async (file: File): Promise<RequestView> => {
    const key = fresh(`${file.name} ${file.size} ${file.lastModified}`);
    const abort = new AbortController();
    const cancel = () => {
      // What is sent next is another attempt, also if it is the same file.
      sent.current = null;
      abort.abort();
    };
    const tell = (bytes: number) => setSending({ name: file.name, sent: bytes, size: file.size, cancel });
    tell(0);
    try {
      const response = await upload(path(`/requests/${id}/file`, { name: file.name }), { file, key, signal: abort.signal, tell });
      return (await response.json()) as RequestView;
    } finally {
      setSending(null);
    }
  };
  const answering = useMutation({
    mutationFn: (given: Given): Promise<RequestView> => {
      if ("file" in given) return send(given.file);
      return post<RequestView>(`/requests/${id}/answer`, given.answer, fresh(JSON.stringify(given.answer)));
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
  return { ...answering, error: isCancelled(answering.error) ? null : answering.error, sending };
}

/** Words that were begun and not sent, by card: whoever looks at another one finds them again. Values are never kept. */
export const drafts = new Map<string, string>();
