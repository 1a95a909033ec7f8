// Files on their way, by card: whoever looks at another card meanwhile finds, on coming back, how far it is or why it was
// not sent.
import { useSyncExternalStore } from "react";

/** A file on its way, or one that did not arrive. */
export interface Sending {
  file: File;
  /** What makes it the same answer when it is sent again. */
  key: string;
  sent: number;
  cancel: () => void;
  /** Why it is not on its way any more. */
  error: Error | null;
}

const cards = new Map<string, Sending>();
const readers = new Set<() => void>();

export function setSending(card: string, sending: Sending | null): void {
  if (sending) cards.set(card, sending);
  else cards.delete(card);
  for (const read of readers) read();
}

export function failSending(card: string, error: Error): void {
  const sending = cards.get(card);
  if (sending) setSending(card, { ...sending, error });
}

function subscribe(read: () => void): () => void {
  readers.add(read);
  return () => readers.delete(read);
}

export function useSending(card: string): Sending | null {
  return useSyncExternalStore(subscribe, () => cards.get(card) ?? null);
}
