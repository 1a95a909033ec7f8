// A file on its way to the server. `fetch` does not say how far it has come; this does, and gives up only when nothing
// moves any more: a large file over a slow way takes as long as it takes.
import { address, headersOf, judged } from "./client";
import { Unreached } from "./problem";

/** So long nothing may move. The server itself gives up after 30 s of silence. */
const STILL_MS_MAX = 60_000;

export interface Upload {
  file: Blob;
  key: string;
  signal: AbortSignal;
  /** Told how many bytes have gone. */
  tell: (bytes: number) => void;
}

export async function upload(path: string, { file, key, signal, tell }: Upload): Promise<Response> {
  return judged(path, await sent(path, { file, key, signal, tell }));
}

function sent(path: string, { file, key, signal, tell }: Upload): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", address(path));
    request.responseType = "text";
    for (const [name, value] of headersOf({ key, isFile: true })) request.setRequestHeader(name, value);
    let timer: ReturnType<typeof setTimeout>;
    const cancel = () => request.abort();
    const done = (end: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", cancel);
      end();
    };
    const moves = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        done(() => reject(new Unreached(new DOMException("nothing moves any more", "TimeoutError"))));
        request.abort();
      }, STILL_MS_MAX);
    };
    request.upload.onprogress = (event) => {
      moves();
      tell(event.loaded);
    };
    request.onload = () => done(() => resolve(responseOf(request)));
    request.onerror = () => done(() => reject(new Unreached(new TypeError("the connection broke off"))));
    request.onabort = () => done(() => reject(new DOMException("somebody does not want it any more", "AbortError")));
    signal.addEventListener("abort", cancel);
    moves();
    request.send(file);
  });
}

/** The answer in the form in which every other one comes. */
function responseOf(request: XMLHttpRequest): Response {
  const headers = new Headers();
  for (const name of ["Content-Type", "Ostler-Server"]) {
    const value = request.getResponseHeader(name);
    if (value !== null) headers.set(name, value);
  }
  const { status, statusText } = request;
  return new Response(request.responseText === "" ? null : request.responseText, { status, statusText, headers });
}
