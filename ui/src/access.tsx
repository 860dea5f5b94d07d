// A node that other machines reach asks for a token first. The browser keeps it
// in a cookie that no script can read.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Problem } from "./api/client";
import { ask, outside } from "./app/base";
import { texts } from "./app/text";
import { meet, who } from "./app/who";
import { Button } from "./parts/controls";
import { ErrorBox, Loading } from "./parts/states";

const t = texts(
  {
    title: "This node asks for a token",
    hint: "Its operator makes one with robotmem token create NAME.",
    token: "Token",
    enter: "Enter",
    leave: "Log out",
    as: "Token {name}",
    reader: "Token {name}, for reading",
  },
  { title: "该节点需要令牌", hint: "由操作者用 robotmem token create NAME 创建。", token: "令牌", enter: "进入", leave: "退出", as: "令牌 {name}", reader: "令牌 {name}（只读）" },
);

/** Shows the dashboard to whoever may see it. */
export function Access({ children }: { children: ComponentChildren }) {
  const [open, setOpen] = useState<boolean>();
  useEffect(() => {
    meet().then(setOpen, () => setOpen(true)); // the views say that the node cannot be reached
  }, []);
  if (open === undefined) return <Loading lines={6} />;
  if (!open) return <Login onDone={() => location.reload()} />;
  return <>{children}</>;
}

/** Who is here, and the way out; nothing on a node without tokens. */
export function Leave() {
  const { name, required, read_only } = who.value;
  if (!required || !name) return null;
  return (
    <span title={t(read_only ? "reader" : "as", { name })}>
      <Button
        kind="quiet"
        onClick={async () => {
          await ask("/logout", { method: "POST" });
          location.assign(outside("/"));
        }}
      >
        {t("leave")}
      </Button>
    </span>
  );
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
            const res = await ask("/login", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ token }) });
            if (!res.ok) throw await Problem.of(res);
            if (await meet()) onDone();
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
