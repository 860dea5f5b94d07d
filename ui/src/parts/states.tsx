// What a view shows while it has no answer: loading, nothing there, an error.

import type { ComponentChildren } from "preact";
import { Problem } from "../api/client";
import type { Asked } from "../app/ask";
import { texts } from "../app/text";
import { Icon, type IconName } from "./icons";

const t = texts(
  {
    loading: "Loading",
    again: "Try again",
    unreachable: "The node cannot be reached",
    unreachableHint: "Is robotmem web still running? This page goes on by itself once it answers.",
    notFound: "Not found",
    forbidden: "Not allowed",
    busy: "The node cannot answer now",
    wrong: "Invalid request",
    stranger: "Unknown token",
    broken: "The node reports an error",
    field: "Field: {field}",
  },
  {
    loading: "加载中",
    again: "重试",
    unreachable: "无法连接节点",
    unreachableHint: "robotmem web 是否仍在运行？恢复后本页会自动继续。",
    notFound: "未找到",
    forbidden: "没有权限",
    busy: "节点暂时无法应答",
    wrong: "请求无效",
    stranger: "未知令牌",
    broken: "节点报告了错误",
    field: "字段：{field}",
  },
);

/** Grey bars where text will stand. */
export function Loading({ lines = 3 }: { lines?: number }) {
  return (
    <div class="loading" role="status" aria-label={t("loading")}>
      {Array.from({ length: lines }, (_, i) => (
        <div key={i} class="bar" />
      ))}
    </div>
  );
}

export function Empty({ icon = "info", title, children }: { icon?: IconName; title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <Icon name={icon} size={28} />
      <p class="empty-title">{title}</p>
      {children && <div class="empty-text">{children}</div>}
    </div>
  );
}

const titles: Record<string, "notFound" | "forbidden" | "busy" | "wrong" | "unreachable"> = {
  not_found: "notFound",
  forbidden: "forbidden",
  unavailable: "busy",
  invalid: "wrong",
  too_large: "wrong",
  conflict: "wrong",
  unreachable: "unreachable",
};

/** Errors that may be gone at the next try. */
const passing = new Set(["unavailable", "unreachable", "internal", "corrupt"]);

export function ErrorBox({ error, again }: { error: Problem; again?: () => void }) {
  const title = error.status === 401 ? "stranger" : titles[error.kind];
  return (
    <div class="error" role="alert">
      <Icon name="warn" size={22} />
      <div>
        <p class="error-title">{t(title ?? "broken")}</p>
        <p>{error.kind === "unreachable" ? t("unreachableHint") : error.message}</p>
        {error.field && <p class="dim">{t("field", { field: error.field })}</p>}
        {again && passing.has(error.kind) && (
          <button type="button" class="button" onClick={again}>
            {t("again")}
          </button>
        )}
      </div>
    </div>
  );
}

/** Shows an answer once it is there. An older answer stays, dimmed, while the next is on its way. */
export function Await<T>({ of, lines, children }: { of: Asked<T>; lines?: number; children: (answer: T) => ComponentChildren }) {
  if (of.error && of.answer === undefined) return <ErrorBox error={of.error} again={of.again} />;
  if (of.answer === undefined) return <Loading lines={lines} />;
  return (
    <>
      {of.error && <ErrorBox error={of.error} again={of.again} />}
      {children(of.answer)}
    </>
  );
}
