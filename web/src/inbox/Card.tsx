// One request as a card: who asks what, and everything that can be done with it.
import { type KeyboardEvent, useCallback, useEffect, useRef, useState } from "react";

import { Refused } from "../api/problem";
import type { NewAnswer, RequestView } from "../api/schema";
import { isTyping, useShortcut } from "../app/shortcuts";
import { Cut } from "../parts/Cut";
import { askKey, askText, marked } from "../parts/request";
import { ProjectName } from "../parts/Project";
import { Said } from "../parts/Said";
import { Since } from "../parts/Since";
import { Failure } from "../parts/states";
import { answerSaid } from "../parts/status";
import { clock, left, useNow } from "../parts/time";
import { useLanguage, useSay } from "../words/words";
import { drafts, type Given, useAnswering } from "./answering";
import { type Choice, DENY_KEY, dependencyType, plan } from "./choices";
import { FileField } from "./FileField";
import { useKept } from "./kept";
import type { Queue } from "./queue";
import { Settled } from "./Settled";
import { ToolCall } from "./ToolCall";
import { ValuesForm } from "./ValuesForm";
import { words } from "./words";
import { WordsField } from "./WordsField";

/** A card that has just come takes nothing yet: what is pressed was meant for the one before, until there is a pause. */
const READING_MS = 400;
/** Who writes into its own field for so long has seen it. */
const READING_MS_MAX = 2_000;
/** A page that stood still for so long has not heard what was pressed meanwhile: that was no pause of its reader. */
const STALL_MS = 50;
const STALLS_MAX = 5;

interface CardProps {
  request: RequestView;
  queue: Queue;
  /** How all of a text comes that is shown only in part. */
  all: { isBusy: boolean; error: Error | null; show: () => void };
  onDone: (said: string) => void;
}

export function Card({ request, queue, all, onDone }: CardProps) {
  const say = useSay(words);
  const language = useLanguage();
  const card = useRef<HTMLElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const [written, setWritten] = useState(() => drafts.get(request.id) ?? "");
  const isReady = useReady();
  const done = (settled: RequestView) => {
    drafts.delete(request.id);
    const answer = settled.settled ? answerSaid(language, settled.settled) : "";
    const isLost = request.abandoned || settled.delivery === "undeliverable";
    onDone(say(isLost ? "AnsweredNobody" : "Answered", { id: settled.id, answer }));
  };
  const answering = useAnswering(request.id, done);
  const { choices, purpose, written: sendsWritten, wantsValues, wantsFile } = plan(request, say);
  const isTyped = wantsValues || wantsFile;
  // The news of what was sent from here may come before its answer.
  const isUnsettled = request.settled == null || answering.isPending;
  // Nobody decides about the beginning of a text.
  const isOpen = isUnsettled && !isCut(request);
  const { isMeanwhile, isKept } = useKept(isUnsettled, card);
  const isCareful = request.mark != null;
  const send = (given: Given) => {
    if (isReady && isOpen && !answering.isPending) answering.send(given);
  };
  const answer = (given: NewAnswer) => send({ answer: given });
  const write = (text: string) => {
    setWritten(text);
    if (text === "") drafts.delete(request.id);
    else drafts.set(request.id, text);
  };
  const next = () => {
    drafts.delete(request.id);
    onDone("");
  };
  const fallback = request.ask.default;
  const takesDefault = isOpen && fallback != null && !isCareful && !wantsValues && request.ask.kind !== "dependency";
  useShortcut("Enter", say("keyDefault", { default: fallback ?? "" }), takesDefault ? () => answer({ value: fallback }) : undefined);
  useShortcut("w", say("keyWrite"), isOpen && purpose !== null ? () => toEnd(field.current) : undefined);
  useEffect(() => {
    // Who is writing somewhere else goes on writing there.
    if (isTyping(document.activeElement)) return;
    if (purpose !== "answer" || queue.isStepped) heading.current?.focus({ preventScroll: true });
    else toEnd(field.current);
    // Only when the card comes.
  }, []);
  return (
    <article
      ref={card}
      className="inbox-card"
      aria-labelledby={`${request.id}-asks`}
      data-ready={isReady}
      onKeyDown={(event) => leave(event, heading.current)}
    >
      <Head request={request} queue={queue} />
      {/* A long one scrolls by itself, also by keys. */}
      <h1 id={`${request.id}-asks`} ref={heading} tabIndex={isLong(request) ? 0 : -1} className={isLong(request) ? "inbox-long" : ""}>
        <Said text={askText(language, request)} lines />
      </h1>
      <Context request={request} />
      <Cut cut={request.cut ?? []} hasKey why={isUnsettled ? say("answersHidden") : null} isBusy={all.isBusy} error={all.error} onAll={all.show} />
      <Warnings request={request} hasNumbers={!isTyped} />
      {(isOpen || isKept) && (
        <div className="inbox-actions stack">
          {wantsValues && (
            <ValuesForm
              request={request}
              isBusy={answering.isPending}
              isOver={!isOpen}
              takesFocus={!queue.isStepped}
              onGive={answer}
            />
          )}
          {wantsFile && (
            <FileField
              card={card}
              sending={answering.sending}
              isBusy={answering.isPending}
              isOver={!isOpen}
              onFile={(file) => send({ file })}
              onPath={(value) => answer({ value })}
            />
          )}
          {isOpen && choices.length > 0 && (
            <ol className="inbox-choices">
              {choices.map((choice) => (
                <ChoiceButton
                  key={choice.id}
                  choice={choice}
                  isCareful={isCareful}
                  isBusy={answering.isPending}
                  onChoose={() => answer(choice.answer(written))}
                />
              ))}
            </ol>
          )}
          {isOpen && isTyped && (
            <p className="small dim about-keys">{say(isCareful ? "keysOfCareful" : "keysOfValue", { key: DENY_KEY })}</p>
          )}
          {purpose !== null && (
            <WordsField
              ref={field}
              purpose={purpose}
              value={written}
              fallback={takesDefault ? fallback : null}
              isBusy={answering.isPending}
              isOver={!isOpen}
              onChange={write}
              onSend={sendsWritten && ((text) => answer(sendsWritten(text)))}
              onDefault={takesDefault ? () => answer({ value: fallback }) : null}
            />
          )}
          {isOpen && answering.error && (
            <Failure error={answering.error} wrote onAgain={answering.again} />
          )}
          {isOpen && <Insist error={answering.error} written={written} onInsist={() => answer({ value: written, insist: true })} />}
        </div>
      )}
      {!isUnsettled && <Settled request={request} isMeanwhile={isMeanwhile} isKept={isKept} hasMore={hasOther(queue)} onNext={next} />}
    </article>
  );
}

/** Who comes back to what was begun goes on behind it. */
function toEnd(field: HTMLTextAreaElement | null): void {
  field?.focus({ preventScroll: true });
  field?.setSelectionRange(field.value.length, field.value.length);
}

/** Whether the card takes keys: once nobody has pressed one for a moment. */
export function useReady(): boolean {
  const [isReady, setReady] = useState(false);
  useEffect(() => {
    if (isReady) return undefined;
    const began = performance.now();
    let stalls = 0;
    let timer: ReturnType<typeof setTimeout>;
    const wait = (ms: number) => {
      const due = performance.now() + ms;
      const look = () => {
        const isLate = performance.now() - due > STALL_MS;
        if (isLate && stalls++ < STALLS_MAX) wait(READING_MS);
        else setReady(true);
      };
      timer = setTimeout(look, ms);
    };
    const again = (event: globalThis.KeyboardEvent) => {
      clearTimeout(timer);
      const left = isTyping(event.target) ? began + READING_MS_MAX - performance.now() : READING_MS;
      wait(Math.max(0, Math.min(left, READING_MS)));
    };
    wait(READING_MS);
    window.addEventListener("keydown", again, true);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("keydown", again, true);
    };
  }, [isReady]);
  return isReady;
}

/** Escape leaves every field of a card, and keys mean the card again. */
export function leave(event: KeyboardEvent, to: HTMLElement | null): void {
  // While Hangul is put together, Escape belongs to the one who writes it.
  if (event.key !== "Escape" || event.nativeEvent.isComposing || !isTyping(event.target)) return;
  // A dialog on the card is closed by it.
  if (event.target instanceof Element && event.target.closest("dialog")) return;
  event.preventDefault();
  to?.focus({ preventScroll: true });
}

/** Whether only the beginning of a text is there. */
export function isCut(request: RequestView): boolean {
  return (request.cut ?? []).length > 0;
}

/** Whether there is another card to go to. */
export function hasOther(queue: Queue): boolean {
  return queue.place === 0 ? queue.count > 0 : queue.count > 1;
}

/** What stands below the question; a call says all that its input does. */
function Context({ request }: { request: RequestView }) {
  const { call, context, fields } = request.ask;
  if (call) return <ToolCall call={call} description={typeof fields["description"] === "string" ? fields["description"] : null} />;
  if (!context) return null;
  return (
    <div className="inbox-context" tabIndex={0} role="note">
      <Said text={context} lines />
    </div>
  );
}

function isLong(request: RequestView): boolean {
  return request.ask.text.length > 160 || request.ask.text.includes("\n");
}

const NEEDS = {
  api_key: "needsKey",
  env_variable: "needsValue",
  file: "needsFile",
  package: "needsPackage",
  permission: "needsPermission",
  service: "needsService",
} as const;

/** Who, where, since when, and how long still. */
export function Head({ request, queue }: { request: RequestView; queue: Queue }) {
  const say = useSay(words);
  const type = dependencyType(request);
  const does = type !== null && type in NEEDS ? say(NEEDS[type as keyof typeof NEEDS]) : say(askKey(request.ask.kind));
  return (
    <header className="inbox-head small">
      <p>
        <span aria-hidden="true" className="inbox-shape">
          ◆
        </span>{" "}
        <Said text={request.role ?? request.agent} className="strong" /> · <ProjectName project={request.project} /> · {request.session} {request.session_name ?? ""} ·{" "}
        <Since at={request.opened_at_ms} /> · {does}
        {["error", "fault"].includes(request.ask.kind) &&
          ["type", "recovery"].map((name) => typeof request.ask.fields[name] === "string" && ` · ${request.ask.fields[name]}`)}
        {!request.ask.required && <> · {say("PromptOptional")}</>}
        <Expiry request={request} />
      </p>
      {queue.place > 0 && queue.count > 1 && (
        <p className="inbox-turn">
          <button type="button" className="button plain" onClick={queue.previous} aria-label={say("previous")}>
            ←
          </button>
          <span aria-label={say("oneOf", { n: queue.place, all: queue.count })}>
            {queue.place}/{queue.count}
          </span>
          <button type="button" className="button plain" onClick={queue.next} aria-label={say("next")}>
            →
          </button>
        </p>
      )}
    </header>
  );
}

function Expiry({ request }: { request: RequestView }) {
  const say = useSay(words);
  const language = useLanguage();
  const now = useNow(1000);
  if (request.settled) return null;
  const at = request.expires_at_ms;
  if (request.retry != null && at != null) {
    return <> · {say("RetriesAt", { time: clock(language, at), n: request.retry })}</>;
  }
  if (request.expired) return <> · {say("Expired")}</>;
  if (at == null) return null;
  return (
    <>
      {" · "}
      <span className={at - now < 60_000 ? "attention" : ""}>{say("expiresIn", { left: left(at - now) })}</span>
    </>
  );
}

/** What has to be known before anything is approved. */
function Warnings({ request, hasNumbers }: { request: RequestView; hasNumbers: boolean }) {
  const say = useSay(words);
  const language = useLanguage();
  const form = request.ask.form;
  const isGiven = ["dependency", "permission"].includes(request.ask.kind);
  const command = form?.command ?? [];
  return (
    <>
      {request.mark && (
        <div className="notice attention">
          <p>
            <Said text={marked(language, request.mark)} />
          </p>
          {hasNumbers && <p className="small about-keys">{say("careful")}</p>}
        </div>
      )}
      {request.abandoned && <p className="notice attention">{say("AskerGone")}</p>}
      {command.length > 0 && (
        <p>
          <code>
            <Said text={say("FormCommand", { command: command.join(" ") })} />
          </code>
        </p>
      )}
      {form?.manifest != null && (
        <p>
          <Said text={say("FormManifest", { file: form.manifest })} />
        </p>
      )}
      {form?.unseen && (
        <p className="dim small">
          <Said text={say("FormUnseen", { name: request.ask.text })} />
        </p>
      )}
      {form?.problem != null && (
        <p className="notice attention">
          <Said text={say("FormProblem", { problem: form.problem })} />
        </p>
      )}
      {request.trust === "plain" && isGiven && <p className="dim small">{say("SaidPlain")}</p>}
    </>
  );
}

interface ChoiceProps {
  choice: Choice;
  /** What may be somebody else's words is not approved by one key: the key only goes there. */
  isCareful: boolean;
  isBusy: boolean;
  onChoose: () => void;
}

function ChoiceButton({ choice, isCareful, isBusy, onChoose }: ChoiceProps) {
  const say = useSay(words);
  const button = useRef<HTMLButtonElement>(null);
  const { key, label } = choice;
  const says = key === DENY_KEY ? label : say("key", { n: key ?? "", label });
  const press = useCallback(() => (isCareful ? button.current?.focus() : button.current?.click()), [isCareful]);
  useShortcut(key ?? "", says, key !== null && !isBusy ? press : undefined);
  return (
    <li>
      <button ref={button} type="button" className="inbox-choice" disabled={isBusy} onClick={onChoose}>
        {key !== null && <kbd aria-hidden="true">{key}</kbd>}
        <span className="inbox-label">{choice.isOwn ? label : <Said text={label} />}</span>
        {choice.isDefault && (
          <span className="dim small">
            {say("Default")} <kbd aria-hidden="true">⏎</kbd>
          </span>
        )}
      </button>
    </li>
  );
}

/** The words are none of the options, and are sent all the same if somebody says so. */
function Insist({ error, written, onInsist }: { error: Error | null; written: string; onInsist: () => void }) {
  const say = useSay(words);
  if (!(error instanceof Refused) || error.code !== "not_an_option" || written.trim() === "") return null;
  return (
    <p>
      <button type="button" className="button" onClick={onInsist}>
        {say("insist")}
      </button>
    </p>
  );
}
