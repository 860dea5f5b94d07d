// The way to the other pages of a list whose page stands in the address.

import { withQuery } from "../app/address";
import { number, texts } from "../app/text";
import { Icon } from "./icons";

const t = texts({ pages: "Pages", earlier: "Previous", later: "Next", of: "Page {page} of {pages}" }, { pages: "分页", earlier: "上一页", later: "下一页", of: "第 {page} 页，共 {pages} 页" });

export function Pager({ page, limit, total }: { page: number; limit: number; total: number }) {
  const pages = Math.ceil(total / limit);
  if (pages <= 1 && page === 1) return null;
  const to = (n: number) => withQuery({ page: n > 1 ? String(n) : undefined });
  return (
    <nav class="pager" aria-label={t("pages")}>
      {page > 1 && (
        <a class="button" rel="prev" href={to(Math.min(page - 1, Math.max(1, pages)))}>
          <Icon name="back" />
          {t("earlier")}
        </a>
      )}
      <span class="dim number">{t("of", { page: number(page), pages: number(Math.max(1, pages)) })}</span>
      {page < pages && (
        <a class="button" rel="next" href={to(page + 1)}>
          {t("later")}
          <Icon name="forward" />
        </a>
      )}
    </nav>
  );
}
