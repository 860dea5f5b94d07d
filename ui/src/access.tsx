// A node that other machines reach asks for a token first. The browser keeps it
// in a cookie that no script can read.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Problem } from "./api/client";
import { texts } from "./app/text";
import { Button } from "./parts/controls";
import { ErrorBox, Loading } from "./parts/states";

const t = texts(
  {
    title: "This node asks for a token",
    hint: "Its operator makes one with robotmem token create NAME.",
    token: "Token",
    enter: "Enter",
  },
  { title: "该节点需要令牌", hint: "由操作者用 robotmem token create NAME 创建。", token: "令牌", enter: "进入" },
);

interface Who {
  name?: string;
  read_only?: boolean;
  required?: boolean;
}

/** Shows the dashboard to whoever may see it. */
export function Access({ children }: { children: ComponentChildren }) {
  const [open, setOpen] = useState<boolean>();
  useEffect(() => {
    fetch("/api/whoami").then(
      (res) => setOpen(res.status !== 401),
      () => setOpen(true), // the views say that the node cannot be reached
    );
  }, []);
  if (open === undefined) return <Loading lines={6} />;
  if (!open) return <Login onDone={() => location.reload()} />;
  return <>{children}</>;
}

function Login({ onDone }: { onDone: () => void }) {
  const [error, setError] = useState<Problem>();
  return (
    <main class="login">
      <img src="/icon.svg" width="48" height="48" alt="" />
      <h1>{t("title")}</h1>
      <p class="dim">{t("hint")}</p>
      <form
        onSubmit={async (e) => {
          e.preventDefault();
          const token = new FormData(e.currentTarget).get("token");
          try {
            const res = await fetch("/login", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ token }) });
            if (!res.ok) throw await Problem.of(res);
            const who: Who = await fetch("/api/whoami").then((r) => r.json());
            if (who) onDone();
          } catch (e) {
            setError(Problem.from(e));
          }
        }}
      >
        <label class="field">
          <span class="field-label">{t("token")}</span>
          <input type="password" name="token" required autocomplete="current-password" spellcheck={false} />
        </label>
        <Button submit kind="main">
          {t("enter")}
        </Button>
      </form>
      {error && <ErrorBox error={error} />}
    </main>
  );
}
