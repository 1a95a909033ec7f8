// How large a drawing is shown, and which part of it: by buttons, keys, the wheel and the mouse.
import { type PointerEvent, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

import { useSay } from "../words/words";
import { words } from "./words";

const ZOOM = { min: 0.1, max: 2, step: 1.25 };

interface Size {
  width: number;
  height: number;
}

export type Place = Size & { x: number; y: number };

/** What scrolls. */
type Frame = { current: HTMLDivElement | null };

export function ZoomButtons({ zoom, zoomBy, showAll }: Omit<ReturnType<typeof useZoom>, "fitPart">) {
  const say = useSay(words);
  return (
    <span className="row" role="group" aria-label={say("zoom")}>
      <button type="button" className="button" aria-label={say("smaller")} title={say("smaller")} onClick={() => zoomBy(1 / ZOOM.step)}>
        −
      </button>
      <span className="small dim zoom-now">{Math.round(zoom * 100)} %</span>
      <button type="button" className="button" aria-label={say("larger")} title={say("larger")} onClick={() => zoomBy(ZOOM.step)}>
        +
      </button>
      <button type="button" className="button" onClick={showAll}>
        {say("whole")}
      </button>
    </span>
  );
}

/** By how much a key zooms, if it does. */
export function byKey(key: string): number | null {
  if (key === "+" || key === "=") return ZOOM.step;
  return key === "-" ? 1 / ZOOM.step : null;
}

/** How large it is drawn: at first whole, if it can be read so, with something in the middle. What is in the middle stays there. */
export function useZoom(frame: Frame, { width, height }: Size, firstMin: number, first?: Place) {
  const [zoom, setZoom] = useState(1);
  const middle = useRef<{ x: number; y: number } | null>(null);
  const isFirst = useRef(true);
  const whole = useCallback(() => {
    const place = frame.current;
    if (!place) return 1;
    const room = parseFloat(getComputedStyle(place).maxHeight);
    return Math.min(1, (place.clientWidth - 2) / width, (room - 2) / height);
  }, [frame, width, height]);
  const change = useCallback(
    (to: (now: number) => number) => {
      const place = frame.current;
      setZoom((now) => {
        if (place) middle.current = { x: (place.scrollLeft + place.clientWidth / 2) / now, y: (place.scrollTop + place.clientHeight / 2) / now };
        return Math.min(ZOOM.max, Math.max(ZOOM.min, to(now)));
      });
    },
    [frame],
  );
  const zoomBy = useCallback((factor: number) => change((now) => now * factor), [change]);
  const showAll = useCallback(() => change(whole), [change, whole]);
  /** Makes a part fit if it does not, down to `least`. Says whether that changes anything. */
  const fitPart = (part: Place, least: number): boolean => {
    const place = frame.current;
    if (!place) return false;
    const room = parseFloat(getComputedStyle(place).maxHeight);
    const fitting = Math.max(least, Math.min((place.clientWidth - 2) / part.width, (room - 2) / part.height));
    if (fitting >= zoom) return false;
    middle.current = { x: part.x + part.width / 2, y: part.y + part.height / 2 };
    setZoom(fitting);
    return true;
  };
  useLayoutEffect(() => {
    if (!isFirst.current) return;
    isFirst.current = false;
    if (first) middle.current = { x: first.x + first.width / 2, y: first.y + first.height / 2 };
    setZoom(Math.max(firstMin, whole()));
  }, [whole, firstMin, first]);
  // Behind the first look: where that changes nothing about the size, this is the only time.
  useLayoutEffect(() => {
    const [place, at] = [frame.current, middle.current];
    if (!place || !at) return;
    place.scrollTo(at.x * zoom - place.clientWidth / 2, at.y * zoom - place.clientHeight / 2);
  }, [zoom, frame]);
  useEffect(() => {
    const place = frame.current;
    // Not by a property: the browser zooms the page itself unless it is told in time.
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoomBy(event.deltaY < 0 ? 1.1 : 1 / 1.1);
    };
    place?.addEventListener("wheel", wheel, { passive: false });
    return () => place?.removeEventListener("wheel", wheel);
  }, [frame, zoomBy]);
  return { zoom, zoomBy, showAll, fitPart };
}

/** The ground can be grabbed with the mouse and drawn about; fingers do that by themselves. */
export function useGrab(frame: Frame) {
  const from = useRef<{ x: number; y: number } | null>(null);
  const onPointerDown = (event: PointerEvent) => {
    const isGround = event.target instanceof Element && event.target.closest("[role=button], [data-talk]") === null;
    if (event.pointerType !== "mouse" || event.button !== 0 || !isGround) return;
    from.current = { x: event.clientX, y: event.clientY };
    frame.current?.setPointerCapture(event.pointerId);
  };
  const onPointerMove = (event: PointerEvent) => {
    if (!from.current) return;
    frame.current?.scrollBy(from.current.x - event.clientX, from.current.y - event.clientY);
    from.current = { x: event.clientX, y: event.clientY };
  };
  const onPointerUp = () => {
    from.current = null;
  };
  return { onPointerDown, onPointerMove, onPointerUp, onPointerCancel: onPointerUp };
}
