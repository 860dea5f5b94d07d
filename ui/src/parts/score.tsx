import { percent, texts } from "../app/text";

const t = texts({ none: "no outcome", outcome: "Outcome {share}" }, { none: "无结果", outcome: "结果 {share}" });

/** How well an episode went, 0 to 1. */
export function Score({ of }: { of?: number }) {
  if (of === undefined) return <span class="score dim">{t("none")}</span>;
  return (
    <span class="score">
      <meter class={of >= 0.67 ? "good" : of >= 0.34 ? "fair" : "bad"} aria-label={t("outcome", { share: percent(of) })} value={of} max={1} />
      <span class="number">{percent(of)}</span>
    </span>
  );
}
