import { useCallback, useState } from "preact/hooks";

/** The width of an element in CSS pixels, kept as it changes: [ref, width], 0 before it is known. */
export function useWidth(): [(el: HTMLElement | null) => void, number] {
  const [width, setWidth] = useState(0);
  const ref = useCallback((el: HTMLElement | null) => {
    if (!el) return;
    setWidth(el.clientWidth);
    const observer = new ResizeObserver(() => (el.isConnected ? setWidth(el.clientWidth) : observer.disconnect()));
    observer.observe(el);
  }, []);
  return [ref, width];
}
