// The form that keeps what is learnt from an incident, and that marks it as resolved.

import { useState } from "preact/hooks";
import { call, Problem } from "../api/client";
import { Button, Dialog, say } from "../parts/controls";
import { ErrorBox } from "../parts/states";
import { t } from "./incident.text";

interface WriteProps {
  resolve: boolean;
  collection: string;
  text: string;
  context: Record<string, unknown>;
  onClose: () => void;
  onSaved: () => void;
}

export function Write({ resolve, collection, text: first, context, onClose, onSaved }: WriteProps) {
  const [text, setText] = useState(first);
  const [about, setAbout] = useState(JSON.stringify(context, null, 2));
  const [error, setError] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const save = async (e: Event) => {
    e.preventDefault();
    setBusy(true);
    try {
      let object: unknown;
      try {
        object = JSON.parse(about);
      } catch {
        object = undefined;
      }
      if (typeof object !== "object" || object === null || Array.isArray(object)) throw new Problem("invalid", t("badJSON"));
      // A lesson is no attempt: it must not count in advice.
      const res = await call("learn", { insight: text, collection, context: object as Record<string, never>, outcome: "unknown", tags: ["lesson"] });
      say(t(res.status === "created" ? "saved" : "known", { id: res.memory_id }));
      onSaved();
      onClose();
    } catch (e) {
      setError(Problem.from(e));
      setBusy(false);
    }
  };
  return (
    <Dialog title={t(resolve ? "resolveTitle" : "lessonTitle")} onClose={onClose} wide>
      <form class="stack" onSubmit={save}>
        <p class="dim">{t(resolve ? "resolveHint" : "lessonHint")}</p>
        <label class="field">
          <span class="field-label">{t("lessonText")}</span>
          <textarea rows={3} required value={text} onInput={(e) => setText(e.currentTarget.value)} />
        </label>
        <label class="field">
          <span class="field-label">{t("lessonContext")}</span>
          <textarea class="mono" rows={10} spellcheck={false} value={about} onInput={(e) => setAbout(e.currentTarget.value)} />
        </label>
        {error && <ErrorBox error={error} />}
        <footer>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="main" submit disabled={busy}>
            {t("save")}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
