// The beginning of an answer of any length: what is beyond the bound is not even read.
import { ask } from "../api/client";
import { Unreached } from "../api/problem";

export const BYTES_MAX = 4 << 20;

export interface Beginning {
  text: string;
  isCut: boolean;
}

export async function readBeginning(path: string, signal: AbortSignal): Promise<Beginning> {
  const response = await ask(path, { signal });
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let length = 0;
  try {
    for (;;) {
      const part = await reader?.read();
      if (!part || part.done) return { text: parts.join("") + decoder.decode(), isCut: false };
      length += part.value.length;
      parts.push(decoder.decode(part.value, { stream: true }));
      if (length > BYTES_MAX) {
        await reader?.cancel();
        return { text: parts.join(""), isCut: true };
      }
    }
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw new Unreached(cause);
  }
}
