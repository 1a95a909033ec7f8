// The frame of a drawing of boxes and lines: scrolled like anything else, zoomed by buttons, keys and the wheel, and gone
// through with the arrow keys. One of the boxes takes the focus.
import { type KeyboardEvent, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";

import { around, isWay, type Joined, neighbour, type Placed, scrolledTo } from "./drawn";
import { byKey, type Place, useGrab, useZoom, ZoomButtons } from "./Zoom";

export interface DrawnBox extends Placed, Place {}

interface Drawing {
  boxes: readonly DrawnBox[];
  lines: readonly Joined[];
  width: number;
  height: number;
}

interface FrameProps {
  /** Whose drawing it is: what its classes begin with. */
  name: string;
  drawing: Drawing;
  /** What is seen at first. */
  first: DrawnBox | undefined;
  /** Below that nobody could read it. */
  firstMin: number;
  /** Who is to be in sight as soon as this changes. */
  chosen?: string | null;
  /** How small it may become so that who is chosen is seen together with a caller. */
  pairMin?: number;
  /** Who takes the place of a box that is not there any more. */
  instead?: (id: string) => string | null;
  label: string;
  keys: string;
  tools?: ReactNode;
  svgClass?: (zoom: number) => string;
  children: (at: string | null, setAt: (id: string) => void, zoom: number) => ReactNode;
}

export function Frame({ name, drawing, first, firstMin, chosen = null, pairMin = 1, instead, label, keys, tools, svgClass, children }: FrameProps) {
  const frame = useRef<HTMLDivElement>(null);
  const zoom = useZoom(frame, drawing, firstMin, first);
  const { at, setAt, onKeyDown } = useArrows(frame, drawing, first, instead, zoom.zoomBy);
  const grab = useGrab(frame);
  useSight(frame, drawing, zoom, first, { chosen, pairMin });
  return (
    <section className="drawn">
      <div className="row">
        <ZoomButtons {...zoom} />
        {tools}
        <span className="small dim about-keys">{keys}</span>
      </div>
      <div className={`drawn-frame ${name}-frame`} ref={frame} {...grab}>
        <svg
          role="group"
          aria-label={label}
          className={svgClass?.(zoom.zoom)}
          width={drawing.width * zoom.zoom}
          height={drawing.height * zoom.zoom}
          viewBox={`0 0 ${drawing.width} ${drawing.height}`}
          onKeyDown={onKeyDown}
        >
          {children(at, setAt, zoom.zoom)}
        </svg>
      </div>
    </section>
  );
}

/** What scrolls. */
type Scrolled = { current: HTMLDivElement | null };

/** One of the boxes takes the focus; arrow keys go on from there. */
function useArrows(frame: Scrolled, drawing: Drawing, first: DrawnBox | undefined, instead: FrameProps["instead"], zoomBy: (factor: number) => void) {
  const [wanted, setAt] = useState<string | null>(null);
  const isThere = wanted !== null && drawing.boxes.some((box) => box.id === wanted);
  const at = isThere ? wanted : ((wanted === null ? null : instead?.(wanted)) ?? first?.id ?? null);
  const focus = (id: string) => frame.current?.querySelector<SVGElement>(`[data-box="${CSS.escape(id)}"]`)?.focus();
  const hadFocus = useRef(false);
  useEffect(() => {
    if (hadFocus.current && at !== wanted && at !== null) focus(at);
  }, [at, wanted]);
  const onKeyDown = (event: KeyboardEvent) => {
    hadFocus.current = true;
    if (event.ctrlKey || event.metaKey || event.altKey || at === null) return;
    const factor = byKey(event.key);
    if (isWay(event.key)) {
      event.preventDefault();
      const next = neighbour(drawing, at, event.key);
      if (next === null) return;
      setAt(next);
      focus(next);
    } else if (factor !== null) {
      event.preventDefault();
      zoomBy(factor);
    }
  };
  return { at, setAt, onKeyDown };
}

type Zooming = Pick<ReturnType<typeof useZoom>, "zoom" | "fitPart">;
type Choice = { chosen: string | null; pairMin: number };

/** Who was opened is in sight, and somebody always is: what is drawn anew may stand where nobody looks. */
function useSight(frame: Scrolled, drawing: Drawing, zooming: Zooming, first: DrawnBox | undefined, { chosen, pairMin }: Choice) {
  const { zoom, fitPart } = zooming;
  const show = (box: Place | undefined) => {
    const place = frame.current;
    if (place && box) place.scrollTo((box.x + box.width / 2) * zoom - place.clientWidth / 2, (box.y + box.height / 2) * zoom - place.clientHeight / 2);
  };
  useEffect(() => {
    const place = frame.current;
    const box = drawing.boxes.find((it) => it.id === chosen);
    if (!place || !box) return;
    const callers = new Set(drawing.lines.filter((line) => line.to === chosen).map((line) => line.from));
    const others = drawing.boxes.filter((it) => callers.has(it.id));
    const [caller] = others;
    if (caller && fitPart(around(box, caller), pairMin)) return;
    const seen = { left: place.scrollLeft, top: place.scrollTop, width: place.clientWidth, height: place.clientHeight };
    place.scrollTo(scrolledTo(box, others, zoom, seen));
    // Not whenever somebody moves: nothing jumps while it is read.
  }, [chosen]);
  useLayoutEffect(() => {
    const place = frame.current;
    if (!place) return;
    const [left, top] = [place.scrollLeft / zoom, place.scrollTop / zoom];
    const [right, bottom] = [left + place.clientWidth / zoom, top + place.clientHeight / zoom];
    const isSeen = (box: Place) => box.x < right && box.x + box.width > left && box.y < bottom && box.y + box.height > top;
    if (!drawing.boxes.some(isSeen)) show(first);
  }, [drawing]);
}
