// The two windows that change a memory: its text and context, and forgetting it.

import { useState } from "preact/hooks";
import { call, Problem, type Memory } from "../api/client";
import { saidUndo } from "../parts/change";
import { Button, Dialog } from "../parts/controls";
import { ErrorBox } from "../parts/states";
import { t } from "./memory.text";

interface ChangeProps {
  m: Memory;
  again: () => void;
  onClose: () => void;
}

export function Edit({ m, again, onClose }: ChangeProps) {
  const before = m.context && Object.keys(m.context).length > 0 ? JSON.stringify(m.context, null, 2) : "";
  const [text, setText] = useState(m.content);
  const [context, setContext] = useState(before);
  const [error, setError] = useState<Problem>();

  async function save(e: Event) {
    e.preventDefault();
    try {
      const request = { memory_id: m.memory_id, new_content: text, ...(context === before ? {} : { context: object(context) }) };
      const res = await call("update", request);
      onClose();
      again();
      const undo = async () => {
        await call("update", { memory_id: m.memory_id, new_content: m.content, context: (m.context ?? {}) as Record<string, never> });
        again();
        return t("restored");
      };
      saidUndo(t("saved", { n: res.version }), undo);
    } catch (e) {
      setError(Problem.from(e));
    }
  }
  return (
    <Dialog title={t("editTitle")} onClose={onClose} wide>
      <form class="stack" onSubmit={save}>
        <label class="field">
          <span class="field-label">{t("newText")}</span>
          <textarea rows={4} required value={text} onInput={(e) => setText(e.currentTarget.value)} />
        </label>
        <label class="field">
          <span class="field-label">{t("newContext")}</span>
          <textarea class="mono" rows={12} spellcheck={false} value={context} onInput={(e) => setContext(e.currentTarget.value)} />
        </label>
        {error && <ErrorBox error={error} />}
        <footer>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="main" submit>
            {t("save")}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

function object(text: string): Record<string, never> {
  if (!text.trim()) return {};
  try {
    const value = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
    throw new Error(text.slice(0, 40));
  } catch (e) {
    throw new Problem("invalid", t("badJSON", { why: e instanceof Error ? e.message : "" }));
  }
}

export function Forget({ m, again, restore, onClose }: ChangeProps & { restore: () => Promise<string> }) {
  const [reason, setReason] = useState("");
  const [error, setError] = useState<Problem>();

  async function forget(e: Event) {
    e.preventDefault();
    try {
      await call("forget", { memory_id: m.memory_id, reason });
      onClose();
      again();
      saidUndo(t("forgotten"), restore);
    } catch (e) {
      setError(Problem.from(e));
    }
  }
  return (
    <Dialog title={t("forgetTitle")} onClose={onClose}>
      <form class="stack" onSubmit={forget}>
        <p>{t("forgetText")}</p>
        <label class="field">
          <span class="field-label">{t("reason")}</span>
          <input required maxLength={1000} placeholder={t("reasonHint")} value={reason} onInput={(e) => setReason(e.currentTarget.value)} autofocus />
        </label>
        {error && <ErrorBox error={error} />}
        <footer>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="danger" icon="trash" submit>
            {t("forget")}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
