// The tries of an episode that is an attempt at a goal.

import type { Answer } from "../api/client";
import { number } from "../app/text";
import { Score } from "../parts/score";
import { t } from "./session.text";

type Attempt = NonNullable<Answer<"session">["attempt"]>;

const looks = { success: "mark good", failure: "mark bad", partial: "mark warn", unknown: "dim" } as const;
type Outcome = keyof typeof looks;

function Ended({ as }: { as: string }) {
  const outcome = as in looks ? (as as Outcome) : "unknown";
  return <span class={looks[outcome]}>{t(outcome)}</span>;
}

export function Tries({ of }: { of: Attempt | undefined }) {
  if (!of) return null;
  return (
    <section class="card">
      <header>
        <h2>
          {t("attempt")}: <bdi>{of.goal}</bdi>
        </h2>
        {of.verdict ? <Ended as={of.verdict} /> : of.without_progress >= 3 && <span class="mark warn">{t("stuck", { n: number(of.without_progress) })}</span>}
      </header>
      {of.criteria && (
        <p class="dim">
          {t("criteria")}: <bdi>{of.criteria.join("; ")}</bdi>
        </p>
      )}
      {of.more ? <p class="dim">{t("earlierTries", { n: number(of.more) })}</p> : null}
      {of.tries.length === 0 ? (
        <p class="dim">{t("noTries")}</p>
      ) : (
        <div class="tries">
          <table>
            <thead>
              <tr>
                <th scope="col">{t("try")}</th>
                <th scope="col">{t("changed")}</th>
                <th scope="col">{t("outcome")}</th>
                <th scope="col">{t("progress")}</th>
                <th scope="col">{t("result")}</th>
              </tr>
            </thead>
            <tbody>
              {of.tries.map((x) => (
                <tr key={x.number}>
                  <td class="number">{x.number}</td>
                  <td>
                    <a dir="auto" href={`/memory/${x.memory_id}`}>
                      {x.changed}
                    </a>
                  </td>
                  <td>
                    <Ended as={x.outcome} />
                  </td>
                  <td>{x.progress !== undefined && <Score of={x.progress} />}</td>
                  <td dir="auto">{x.result}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
