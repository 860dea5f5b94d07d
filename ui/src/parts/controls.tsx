// Small controls that every view uses.

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { signal } from "@preact/signals";
import { texts } from "../app/text";
import { Icon, type IconName } from "./icons";

const t = texts(
  { copied: "Copied", close: "Close", cancel: "Cancel", copyFailed: "The browser does not allow copying here" },
  { copied: "已复制", close: "关闭", cancel: "取消", copyFailed: "浏览器不允许在此复制" },
);

interface ButtonProps {
  children?: ComponentChildren;
  icon?: IconName;
  /** What the button does, where no text says it. */
  label?: string;
  kind?: "plain" | "main" | "danger" | "quiet";
  disabled?: boolean;
  pressed?: boolean;
  submit?: boolean;
  onClick?: () => void;
}

export function Button({ children, icon, label, kind = "plain", disabled, pressed, submit, onClick }: ButtonProps) {
  return (
    <button
      type={submit ? "submit" : "button"}
      class={`button${kind === "plain" ? "" : ` ${kind}`}${children ? "" : " bare"}`}
      aria-label={label}
      title={children ? undefined : label}
      aria-pressed={pressed}
      disabled={disabled}
      onClick={onClick}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** One of a few values, all in sight. */
export function Segments<T extends string>(props: { label: string; value: T; options: readonly (readonly [T, string])[]; onChange: (value: T) => void }) {
  const name = useId();
  return (
    <fieldset class="segments">
      <legend class="hidden">{props.label}</legend>
      {props.options.map(([value, text]) => (
        <label key={value} class={value === props.value ? "on" : ""}>
          <input type="radio" name={name} checked={value === props.value} onChange={() => props.onChange(value)} />
          {text}
        </label>
      ))}
    </fieldset>
  );
}

export function Select<T extends string>(props: { label: string; value: T; options: readonly (readonly [T, string])[]; onChange: (value: T) => void; hideLabel?: boolean }) {
  return (
    <label class="field">
      <span class={props.hideLabel ? "hidden" : "field-label"}>{props.label}</span>
      <span class="select">
        <select value={props.value} onChange={(e) => props.onChange(e.currentTarget.value as T)}>
          {props.options.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
        <Icon name="down" size={14} />
      </span>
    </label>
  );
}

/** A window over the page, with what to do in its foot. Escape and a click beside it close it. */
export function Dialog({ title, onClose, children, wide }: { title: string; onClose: () => void; children: ComponentChildren; wide?: boolean }) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    ref.current?.showModal();
  }, []);
  return (
    <dialog ref={ref} class={`dialog-window${wide ? " wide" : ""}`} aria-labelledby={id} onClose={onClose} onClick={(e) => e.target === ref.current && ref.current?.close()}>
      <div class="dialog">
        <header>
          <h2 id={id}>{title}</h2>
          <Button icon="cross" kind="quiet" label={t("close")} onClick={() => ref.current?.close()} />
        </header>
        {children}
      </div>
    </dialog>
  );
}

interface Toast {
  text: string;
  bad?: boolean;
  action?: { text: string; run: () => void };
}

const toast = signal<(Toast & { id: number }) | undefined>(undefined);
let toasts = 0;

/** Says shortly what was done, with a way back if there is one. */
export function say(text: string, options: Omit<Toast, "text"> = {}): void {
  const id = ++toasts;
  toast.value = { text, ...options, id };
  setTimeout(() => {
    if (toast.peek()?.id === id) toast.value = undefined;
  }, options.action ? 12_000 : 5_000);
}

export function Toasts() {
  const now = toast.value;
  return (
    <div class="toasts" role="status" aria-live="polite">
      {now && (
        <div class={`toast${now.bad ? " bad" : ""}`} key={now.id}>
          <span>{now.text}</span>
          {now.action && (
            <button
              type="button"
              class="button"
              onClick={() => {
                toast.value = undefined;
                now.action?.run();
              }}
            >
              {now.action.text}
            </button>
          )}
          <Button icon="cross" kind="quiet" label={t("close")} onClick={() => (toast.value = undefined)} />
        </div>
      )}
    </div>
  );
}

export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(t("copied"));
  } catch {
    say(t("copyFailed"), { bad: true });
  }
}
