// Bytes as they are: in hexadecimal a page at a time, or as text from the
// beginning. Only what is shown is fetched.

import { ask } from "../app/base";
import { useEffect, useState } from "preact/hooks";
import { dataURL, Problem } from "../api/client";
import { bytes, number, texts } from "../app/text";
import { lines, parsed } from "./bytes_lines";
import { Button } from "./controls";
import { ErrorBox, Loading } from "./states";
import { Tree } from "./tree";
import { useWidth } from "./width";

const t = texts(
  {
    hex: "Bytes {from} to {to} of {all}",
    label: "Bytes in hexadecimal and as ASCII",
    text: "Text of the payload",
    jump: "Go to offset",
    jumpHint: "such as 4096 or 0x1000",
    go: "Go",
    bad: "An offset is a number from 0 to {last}, such as 0x1000",
    before: "Page before",
    next: "Next page",
    first: "The first {n} of {all}.",
    tree: "Tree",
    source: "Source",
  },
  {
    hex: "共 {all} 字节中的 {from} 至 {to}",
    label: "十六进制与 ASCII 字节",
    text: "数据的文本",
    jump: "跳到偏移",
    jumpHint: "例如 4096 或 0x1000",
    go: "前往",
    bad: "偏移应为 0 至 {last} 的数字，例如 0x1000",
    before: "上一页",
    next: "下一页",
    first: "{all} 中的前 {n}。",
    tree: "树",
    source: "源文本",
  },
);

const page = 4 << 10;
const textShown = 64 << 10;

/** Fetches bytes from one offset on, n at most. */
export async function range(id: number, from: number, n: number, signal?: AbortSignal): Promise<Uint8Array> {
  let res: Response;
  try {
    res = await ask(dataURL(id), { headers: { Range: `bytes=${from}-${from + n - 1}`, Accept: "*/*" }, signal });
    if (!res.ok) throw await Problem.of(res);
    const got = new Uint8Array(await res.arrayBuffer());
    return res.status === 206 ? got : got.slice(from, from + n);
  } catch (e) {
    throw Problem.from(e);
  }
}

function useRange(id: number, from: number, n: number): { data?: Uint8Array; error?: Problem } {
  const [state, set] = useState<{ data?: Uint8Array; error?: Problem }>({});
  useEffect(() => {
    const abort = new AbortController();
    range(id, from, n, abort.signal).then(
      (data) => set({ data }),
      (error: Problem) => abort.signal.aborted || set((s) => ({ ...s, error })),
    );
    return () => abort.abort();
  }, [id, from, n]);
  return state;
}

export function Hex({ id, size }: { id: number; size: number }) {
  const [from, setFrom] = useState(0);
  const [bad, setBad] = useState(false);
  const { data, error } = useRange(id, from, page);
  const [ref, width] = useWidth();
  const each = width > 0 && width < 620 ? 8 : 16;
  const last = Math.floor((size - 1) / page) * page;
  return (
    <div class="hex" ref={ref}>
      <div class="trace-head">
        <p class="dim number">{t("hex", { from: number(from), to: number(Math.min(from + page, size) - 1), all: number(size) })}</p>
        <form
          class="hex-jump"
          onSubmit={(e) => {
            e.preventDefault();
            const text = (new FormData(e.currentTarget).get("offset") as string).trim();
            const at = Number(text);
            const fits = /^(0x[0-9a-f]+|\d+)$/i.test(text) && at < size;
            setBad(!fits);
            if (fits) setFrom(at - (at % 16));
          }}
        >
          <Button icon="back" label={t("before")} disabled={from === 0} onClick={() => setFrom(Math.max(0, from - page))} />
          <Button icon="forward" label={t("next")} disabled={from + page >= size} onClick={() => setFrom(Math.min(last, from + page))} />
          <label>
            <span class="hidden">{t("jump")}</span>
            <input name="offset" type="text" placeholder={t("jumpHint")} spellcheck={false} autocomplete="off" aria-invalid={bad} />
          </label>
          <Button submit>{t("go")}</Button>
        </form>
      </div>
      {bad && <p class="hex-bad" role="alert">{t("bad", { last: number(size - 1) })}</p>}
      {error && <ErrorBox error={error} />}
      {!data && !error && <Loading lines={5} />}
      {data && (
        <pre class="hex-page" tabIndex={0} role="region" aria-label={t("label")}>
          {lines(data, from, each)}
        </pre>
      )}
    </div>
  );
}

export function Text({ id, size, json }: { id: number; size: number; json: boolean }) {
  const { data, error } = useRange(id, 0, textShown);
  const [tree, setTree] = useState(json);
  if (error) return <ErrorBox error={error} />;
  if (!data) return <Loading lines={5} />;
  const text = new TextDecoder().decode(data);
  const value = json && size <= textShown ? parsed(text) : undefined;
  const shown = value !== undefined && tree;
  return (
    <div class="text-view">
      {value !== undefined && (
        <div class="trace-tools">
          <Button pressed={tree} onClick={() => setTree(!tree)}>
            {t(tree ? "source" : "tree")}
          </Button>
        </div>
      )}
      <div class="text-page" tabIndex={0} role="region" aria-label={t("text")}>
        {shown ? <Tree value={value} /> : <pre>{text}</pre>}
      </div>
      {size > textShown && <p class="dim">{t("first", { n: bytes(textShown), all: bytes(size) })}</p>}
    </div>
  );
}

