// The tokens of the memory: who may use the node. A new one shows its secret once.

import { useState } from "preact/hooks";
import { call, Problem, type Answer } from "../api/client";
import { useAsk } from "../app/ask";
import { ago, moment } from "../app/text";
import { meet, who } from "../app/who";
import { change } from "../parts/change";
import { Button, copy, Dialog, Segments } from "../parts/controls";
import { Await, ErrorBox } from "../parts/states";
import { t } from "./tokens.text";

type Token = Answer<"tokens">["tokens"][number];

export function Tokens() {
  const asked = useAsk("tokens", who.value.read_only ? undefined : {}, { live: 0 });
  const [creating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<Token>();
  if (who.value.read_only) return null;
  const list = asked.answer?.tokens ?? [];
  return (
    <section class="card">
      <header>
        <h2>{t("title")}</h2>
        <Button onClick={() => setCreating(true)}>{t("create")}</Button>
      </header>
      <Await of={asked}>
        {({ tokens }) => (tokens.length === 0 ? <p class="dim">{t("none")}</p> : <List tokens={tokens} onRevoke={setRevoking} />)}
      </Await>
      {creating && (
        <Create
          first={!who.value.required}
          onClose={() => {
            setCreating(false);
            asked.again();
          }}
        />
      )}
      {revoking && (
        <Revoke
          token={revoking}
          last={list.length === 1}
          onClose={() => {
            setRevoking(undefined);
            asked.again();
          }}
        />
      )}
    </section>
  );
}

function List({ tokens, onRevoke }: { tokens: Token[]; onRevoke: (token: Token) => void }) {
  return (
    <div class="table tokens" role="region" aria-label={t("title")} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {(["name", "may", "created", "used"] as const).map((name) => (
              <th key={name} scope="col">
                {t(name)}
              </th>
            ))}
            <td />
          </tr>
        </thead>
        <tbody>
          {tokens.map((x) => (
            <tr key={x.name}>
              <th scope="row">
                {x.name} {x.name === who.value.name && <span class="dim">({t("yours")})</span>}
              </th>
              <td>{t(x.read_only ? "reads" : "writes")}</td>
              <td>{x.created && <time title={moment(x.created)}>{ago(x.created)}</time>}</td>
              <td>{x.last_used ? <time title={moment(x.last_used)}>{ago(x.last_used)}</time> : t("never")}</td>
              <td>
                <Button kind="quiet" icon="trash" label={t("revokeOf", { name: x.name })} onClick={() => onRevoke(x)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Create({ first, onClose }: { first: boolean; onClose: () => void }) {
  const [name, setName] = useState("");
  const [may, setMay] = useState<"reads" | "writes">("writes");
  const [made, setMade] = useState<Answer<"create_token">>();
  const [error, setError] = useState<Problem>();

  async function create(e: Event) {
    e.preventDefault();
    try {
      const token = await call("create_token", { name, read_only: may === "reads" });
      setMade(token);
      // The node asks this page for a token from now on.
      if (first) await call("login", { token: token.secret }).then(meet);
    } catch (e) {
      setError(Problem.from(e));
    }
  }
  // The first token changed who this page is and ended its stream of changes.
  if (made) return <Secret of={made} error={error} onClose={first ? () => location.reload() : onClose} />;
  return (
    <Dialog title={t("create")} onClose={onClose}>
      <form class="stack" onSubmit={create}>
        <label class="field">
          <span class="field-label">{t("name")}</span>
          <input required pattern="[A-Za-z0-9._\-]{1,64}" title={t("nameHint")} value={name} onInput={(e) => setName(e.currentTarget.value)} spellcheck={false} autocomplete="off" autofocus />
        </label>
        <p class="dim">{t("nameHint")}</p>
        <Segments
          label={t("rights")}
          value={may}
          options={[
            ["writes", t("writes")],
            ["reads", t("reads")],
          ]}
          onChange={setMay}
        />
        {first && <p>{t("first")}</p>}
        {error && <ErrorBox error={error} />}
        <footer>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="main" submit>
            {t("create")}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

function Secret({ of, error, onClose }: { of: Answer<"create_token">; error?: Problem; onClose: () => void }) {
  return (
    <Dialog title={t("secretTitle", { name: of.name })} onClose={onClose}>
      <div class="stack">
        <p>{t("secretText")}</p>
        <label class="field">
          <span class="field-label">{t("secret")}</span>
          <input class="mono" readOnly value={of.secret} onFocus={(e) => e.currentTarget.select()} />
        </label>
        {error && <ErrorBox error={error} />}
        <footer>
          <Button icon="copy" onClick={() => copy(of.secret)}>
            {t("copy")}
          </Button>
          <Button kind="main" onClick={onClose}>
            {t("done")}
          </Button>
        </footer>
      </div>
    </Dialog>
  );
}

function Revoke({ token, last, onClose }: { token: Token; last: boolean; onClose: () => void }) {
  const own = token.name === who.value.name;
  async function revoke() {
    await change(async () => {
      await call("revoke_token", { name: token.name });
      return t("revoked", { name: token.name });
    });
    if (own) location.reload();
    else onClose();
  }
  return (
    <Dialog title={t("revokeTitle", { name: token.name })} onClose={onClose}>
      <p>{t("revokeText")}</p>
      {own && <p>{t("revokeOwn")}</p>}
      {last && <p>{t("revokeLast")}</p>}
      <footer>
        <Button onClick={onClose}>{t("cancel")}</Button>
        <Button kind="danger" icon="trash" onClick={revoke}>
          {t("revoke")}
        </Button>
      </footer>
    </Dialog>
  );
}
