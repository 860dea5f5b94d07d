// A stretch of time for a list: the last days, or between two dates.

import { texts } from "../app/text";
import { Segments } from "./controls";

const t = texts({ time: "Time", any: "any", day: "24 h", week: "7 d", month: "30 d", from: "From", until: "Until" }, { time: "时间", any: "不限", day: "24 小时", week: "7 天", month: "30 天", from: "从", until: "到" });

const date = (text = "") => (/^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(Date.parse(text.slice(0, 10))) ? text.slice(0, 10) : "");

const hour = 3600e3;

/** The times of a request: from 7d or the beginning of a day on, until the end of a day. */
export function between(after?: string, before?: string): { after?: string; before?: string } {
  const [, n, unit] = /^(\d+)([hd])$/.exec(after ?? "") ?? [];
  const day = (text: string, plus: number) => {
    const d = new Date(text + "T00:00");
    d.setDate(d.getDate() + plus);
    return d.toISOString();
  };
  return {
    // Whole hours, so that the question stays the same while the page is shown.
    after: n ? new Date(Math.floor((Date.now() - Number(n) * (unit === "d" ? 24 : 1) * hour) / hour) * hour).toISOString() : date(after) ? day(date(after), 0) : undefined,
    before: date(before) ? day(date(before), 1) : undefined,
  };
}

export function TimeFilter({ after, before, set }: { after?: string; before?: string; set: (after?: string, before?: string) => void }) {
  return (
    <div class="field">
      <span class="field-label">{t("time")}</span>
      <span class="time-filter">
        <Segments
          label={t("time")}
          value={date(after) || before ? "dates" : (after ?? "")}
          options={[
            ["", t("any")],
            ["24h", t("day")],
            ["7d", t("week")],
            ["30d", t("month")],
          ]}
          onChange={(v) => set(v || undefined, undefined)}
        />
        <input type="date" aria-label={t("from")} value={date(after)} onChange={(e) => set(e.currentTarget.value || undefined, before)} />
        <input type="date" aria-label={t("until")} value={date(before)} onChange={(e) => set(date(after) || undefined, e.currentTarget.value || undefined)} />
      </span>
    </div>
  );
}
