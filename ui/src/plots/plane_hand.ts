// Pointers on a plane: drag moves, two fingers and the wheel zoom, the edge of
// the circle changes the radius, a click that does not move picks.

import { useEffect, useRef } from "preact/hooks";

const still = 4; // pixels a click may move

export interface Hand {
  /** By so many pixels. */
  move: (dx: number, dy: number) => void;
  zoom: (by: number, x: number, y: number) => void;
  pick: (x: number, y: number) => void;
  hover: (x: number, y: number) => void;
  leave: () => void;
  /** Whether a pointer at x, y takes hold of the circle's edge. */
  grips: (x: number, y: number, slack: number) => boolean;
  stretch: (x: number, y: number) => void;
  /** The edge was let go. */
  stretched: () => void;
}

type Spot = { x: number; y: number };

export function useHand(ref: { current: HTMLElement | null }, ready: boolean, hand: Hand): void {
  const now = useRef(hand);
  now.current = hand;
  useEffect(() => {
    const el = ref.current;
    if (!el) return;
    const down = new Map<number, Spot>();
    let doing: "" | "pan" | "click" | "stretch" | "pinch" = "";
    let from: Spot = { x: 0, y: 0 };
    const spot = (e: MouseEvent): Spot => {
      const box = el.getBoundingClientRect();
      return { x: e.clientX - box.left, y: e.clientY - box.top };
    };
    const press = (e: PointerEvent) => {
      if (e.button !== 0) return;
      el.setPointerCapture(e.pointerId);
      const at = spot(e);
      down.set(e.pointerId, at);
      if (doing === "stretch") now.current.stretched();
      if (down.size === 2) doing = "pinch";
      else if (down.size === 1) doing = now.current.grips(at.x, at.y, e.pointerType === "mouse" ? 6 : 16) ? "stretch" : "click";
      from = at;
    };
    const move = (e: PointerEvent) => {
      const at = spot(e);
      const last = down.get(e.pointerId);
      if (!last) return now.current.hover(at.x, at.y);
      if (doing === "click" && Math.hypot(at.x - from.x, at.y - from.y) > still) doing = "pan";
      if (doing === "pan") now.current.move(at.x - last.x, at.y - last.y);
      if (doing === "stretch") now.current.stretch(at.x, at.y);
      if (doing === "pinch" && down.size === 2) {
        const other = [...down].find(([id]) => id !== e.pointerId)![1];
        const [was, is] = [Math.hypot(last.x - other.x, last.y - other.y), Math.hypot(at.x - other.x, at.y - other.y)];
        now.current.move((at.x - last.x) / 2, (at.y - last.y) / 2);
        now.current.zoom(is / Math.max(was, 1), (at.x + other.x) / 2, (at.y + other.y) / 2);
      }
      if (doing !== "click") down.set(e.pointerId, at);
    };
    const release = (e: PointerEvent) => {
      if (!down.delete(e.pointerId)) return;
      if (doing === "click" && e.type === "pointerup") now.current.pick(from.x, from.y);
      if (doing === "stretch") now.current.stretched();
      doing = down.size === 1 ? "pan" : "";
    };
    const wheel = (e: WheelEvent) => {
      e.preventDefault();
      const lines = e.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
      const at = spot(e);
      now.current.zoom(Math.exp(-Math.max(-200, Math.min(200, e.deltaY * lines)) * 0.002), at.x, at.y);
    };
    const leave = () => now.current.leave();
    el.addEventListener("pointerdown", press);
    el.addEventListener("pointermove", move);
    el.addEventListener("pointerup", release);
    el.addEventListener("pointercancel", release);
    el.addEventListener("pointerleave", leave);
    el.addEventListener("wheel", wheel, { passive: false });
    return () => {
      el.removeEventListener("pointerdown", press);
      el.removeEventListener("pointermove", move);
      el.removeEventListener("pointerup", release);
      el.removeEventListener("pointercancel", release);
      el.removeEventListener("pointerleave", leave);
      el.removeEventListener("wheel", wheel);
    };
  }, [ready]);
}
