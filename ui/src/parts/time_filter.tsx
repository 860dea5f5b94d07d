// A stretch of time for a list: the last days, or between two dates.

import { texts } from "../app/text";
import { date } from "./between";
import { Segments } from "./controls";

const t = texts({ time: "Time", any: "any", day: "24 h", week: "7 d", month: "30 d", from: "From", until: "Until" }, { time: "时间", any: "不限", day: "24 小时", week: "7 天", month: "30 天", from: "从", until: "到" });

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
