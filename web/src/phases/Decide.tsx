// What somebody does with a review: approves exactly the tree that is shown, sends the work back, rejects it, or has it
// looked at again. An approval of what has failed is said in so many words first.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type KeyboardEvent, type ReactNode, type Ref, useCallback, useId, useRef, useState } from "react";

import { newKey, post, route } from "../api/client";
import { Refused } from "../api/problem";
import { keys } from "../api/queries";
import type { NewReview, RequestView } from "../api/schema";
import { useShortcut } from "../app/shortcuts";
import { drafts } from "../inbox/answering";
import { Dialog } from "../parts/Dialog";
import { isSending } from "../parts/enter";
import { plain } from "../parts/Said";
import { Failure } from "../parts/states";
import { useSay } from "../words/words";
import type { About } from "./Review";
import { words } from "./words";

/** The server says by these that the card is over, and the card shows it. */
const OVER: readonly string[] = ["settled", "tree_changed"];

function useDeciding(request: RequestView, onDone: (review: NewReview) => void) {
  const cache = useQueryClient();
  const sent = useRef<{ given: string; key: string } | null>(null);
  return useMutation({
    mutationFn: (review: NewReview) => {
      const given = JSON.stringify(review);
      if (sent.current?.given !== given) sent.current = { given, key: newKey() };
      return post<RequestView>(route`/requests/${request.id}/review`, review, sent.current.key);
    },
    onSuccess: (settled, review) => {
      cache.setQueryData(keys.request(request.id), settled);
      void cache.invalidateQueries({ queryKey: keys.status });
      void cache.invalidateQueries({ queryKey: keys.phases(request.run) });
      onDone(review);
    },
    onError: (error) => {
      if (!(error instanceof Refused) || !OVER.includes(error.code)) return;
      void cache.invalidateQueries({ queryKey: keys.request(request.id) });
      void cache.invalidateQueries({ queryKey: keys.phases(request.run) });
      void cache.invalidateQueries({ queryKey: keys.status });
    },
  });
}

interface DecideProps {
  request: RequestView;
  about: About;
  isReady: boolean;
  /** It was settled elsewhere: what was written can be read and copied. */
  isOver: boolean;
  /** Whether what would be approved stands on the page. */
  isShown: boolean;
  /** Whether a decision is on its way. */
  onBusy: (is: boolean) => void;
  onDone: (said: string) => void;
}

const WORDS_MAX = 100_000;
const SAID = { approve: "saidApproved", changes: "saidChanges", reject: "saidReject", again: "saidAgain" } as const;

export function Decide({ request, about, isReady, isOver, isShown, onBusy, onDone }: DecideProps) {
  const say = useSay(words);
  const field = useRef<HTMLTextAreaElement>(null);
  const tick = useRef<HTMLInputElement>(null);
  const [written, setWritten] = useState(() => drafts.get(request.id) ?? "");
  const [isWriting, setWriting] = useState(written !== "");
  const [isInsisting, setInsisting] = useState(false);
  const [isRejecting, setRejecting] = useState(false);
  const tree = about.tree?.slice(0, 12) ?? "";
  const deciding = useDeciding(request, ({ decision }) => {
    drafts.delete(request.id);
    onDone(say(SAID[decision], { id: request.id, phase: about.phase, tree }));
  });
  const isBusy = deciding.isPending;
  const send = (review: NewReview) => {
    if (!isReady || isBusy || isOver) return;
    onBusy(true);
    deciding.mutate(review, { onSettled: () => onBusy(false) });
  };
  const write = (text: string) => {
    setWritten(text);
    if (text === "") drafts.delete(request.id);
    else drafts.set(request.id, text);
  };
  const canApprove = isShown && about.tree !== null;
  const approve = () => {
    if (!about.hasPassed && !isInsisting) tick.current?.focus();
    else send({ decision: "approve", tree: about.tree, ...(about.hasPassed ? {} : { insist: true }) });
  };
  const changes = () => {
    if (written.trim() !== "") send({ decision: "changes", words: written });
  };
  const openField = () => {
    setWriting(true);
    field.current?.focus();
  };
  useShortcut("w", say("keyWrite"), isOver ? undefined : openField);
  const isNew = !(deciding.error instanceof Refused) || !OVER.includes(deciding.error.code);
  return (
    <div className="inbox-actions stack">
      {!isOver && about.tree === null && <p className="attention small">{say("nothingToApprove")}</p>}
      {!isOver && !about.hasPassed && about.tree !== null && (
        <label className="check">
          <input ref={tick} type="checkbox" checked={isInsisting} onChange={(event) => setInsisting(event.target.checked)} />
          <span>{say("insist")}</span>
        </label>
      )}
      <ol className="inbox-choices">
        {!isOver && (
          <Choice number={1} label={say("approve")} isBusy={isBusy || !canApprove} onChoose={approve}>
            {about.tree === null ? null : !about.hasPassed && !isInsisting ? say("insistFirst") : say("approveHint", { tree })}
          </Choice>
        )}
        {!isOver && <Choice number={2} label={say("changesDo")} isBusy={isBusy} isOpen={isWriting} onChoose={openField} />}
        {isWriting && (
          <li>
            <Words ref={field} value={written} isBusy={isBusy} isOver={isOver} onChange={write} onSend={changes} />
          </li>
        )}
        {!isOver && <Choice number={3} label={say("reject")} isBusy={isBusy} onChoose={() => isReady && setRejecting(true)} />}
        {!isOver && (
          <Choice number={4} label={say("again")} isBusy={isBusy} onChoose={() => send({ decision: "again" })}>
            {say("againHint")}
          </Choice>
        )}
      </ol>
      {!isOver && deciding.error && isNew && (
        <Failure error={deciding.error} wrote onAgain={() => deciding.variables && send(deciding.variables)} />
      )}
      {isRejecting && (
        <Reject
          name={about.name}
          isBusy={isBusy || isOver}
          onClose={() => setRejecting(false)}
          onReject={(why) => {
            setRejecting(false);
            send({ decision: "reject", ...(why.trim() === "" ? {} : { words: why }) });
          }}
        />
      )}
    </div>
  );
}

interface ChoiceProps {
  number: number;
  label: string;
  isBusy: boolean;
  /** Whether what it opens is there. */
  isOpen?: boolean;
  onChoose: () => void;
  children?: ReactNode;
}

function Choice({ number, label, isBusy, isOpen, onChoose, children }: ChoiceProps) {
  const button = useRef<HTMLButtonElement>(null);
  const press = useCallback(() => button.current?.click(), []);
  useShortcut(String(number), label, isBusy ? undefined : press);
  return (
    <li>
      <button ref={button} type="button" className="inbox-choice" disabled={isBusy} aria-expanded={isOpen} onClick={onChoose}>
        <kbd aria-hidden="true">{number}</kbd>
        <span className="inbox-label">
          {label}
          {children && <span className="dim small phases-hint">{children}</span>}
        </span>
      </button>
    </li>
  );
}

interface WordsProps {
  ref: Ref<HTMLTextAreaElement>;
  value: string;
  isBusy: boolean;
  isOver: boolean;
  onChange: (text: string) => void;
  onSend: () => void;
}

/** As on other cards: Enter sends, Shift and Enter begin a line, Escape leaves; under a thumb, the button sends. */
function Words({ ref, value, isBusy, isOver, onChange, onSend }: WordsProps) {
  const say = useSay(words);
  const id = useId();
  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (!isSending(event)) return;
    event.preventDefault();
    if (!event.repeat) onSend();
  };
  return (
    <div>
      <label className="label" htmlFor={id}>
        {say("changesWords")}
      </label>
      <div className="inbox-line">
        <textarea
          id={id}
          ref={ref}
          className="field"
          rows={3}
          value={value}
          readOnly={isOver}
          dir="auto"
          autoFocus
          maxLength={WORDS_MAX}
          aria-describedby={`${id}-hint`}
          onChange={(event) => onChange(event.target.value)}
          onKeyDown={press}
        />
        <button type="button" className="button primary" disabled={isBusy || isOver || value.trim() === ""} onClick={onSend}>
          {say(isBusy ? "sending" : "send")}
        </button>
      </div>
      <p className="small dim" id={`${id}-hint`}>
        {say("changesHint")} <span className="about-keys">{say("changesKey")}</span>
      </p>
    </div>
  );
}

interface RejectProps {
  name: string;
  isBusy: boolean;
  onClose: () => void;
  onReject: (why: string) => void;
}

/** It ends the run, and no key alone does that. */
function Reject({ name, isBusy, onClose, onReject }: RejectProps) {
  const say = useSay(words);
  const id = useId();
  const [why, setWhy] = useState("");
  return (
    <Dialog title={say("rejectTitle", { name: plain(name) })} onClose={onClose}>
      <p>{say("rejectWhat")}</p>
      <div>
        <label className="label" htmlFor={id}>
          {say("rejectWhy")}
        </label>
        <textarea id={id} className="field" rows={2} dir="auto" maxLength={WORDS_MAX} value={why} onChange={(event) => setWhy(event.target.value)} />
      </div>
      <p className="row">
        <button type="button" className="button danger" disabled={isBusy} onClick={() => onReject(why)}>
          {say("rejectDo")}
        </button>
        <button type="button" className="button" onClick={onClose}>
          {say("leaveIt")}
        </button>
      </p>
    </Dialog>
  );
}
