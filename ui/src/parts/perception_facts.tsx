// What is known of a payload beside its picture, and what else looks or feels
// like it.

import { useState } from "preact/hooks";
import { dataURL, previewURL, type Memory } from "../api/client";
import { useAsk } from "../app/ask";
import { bytes, number, texts } from "../app/text";
import { Button, copy } from "./controls";
import { drawable } from "./drawable";
import { Icon } from "./icons";
import { byLikeness, likeness } from "./likeness";
import { kindIcon, Outcome, outcome } from "./memory_row";
import { ErrorBox, Loading } from "./states";
import { Tree } from "./tree";

const t = texts(
  {
    facts: "Payload",
    type: "Media type",
    size: "Size",
    sum: "SHA-256",
    sensor: "Source",
    metadata: "Metadata",
    download: "Download",
    copySum: "Copy the checksum",
    alike: "Similar",
    allAlike: "All that are similar",
    compared: "Ordered by the distance between the features of [{id}] and those of every perception of its kind; 0 is the same.",
    noAlike: "Nothing else of this kind is here to compare with.",
    cannot: "There is nothing to compare this one by.",
    distance: "distance {d}",
    exact: "{n} bytes",
  },
  {
    facts: "数据",
    type: "媒体类型",
    size: "大小",
    sum: "SHA-256",
    sensor: "来源",
    metadata: "元数据",
    download: "下载",
    copySum: "复制校验和",
    alike: "相似",
    allAlike: "全部相似项",
    compared: "按 [{id}] 与所有同类感知之间的特征距离排序；0 为相同。",
    noAlike: "这里没有可比较的同类感知。",
    cannot: "此感知没有可供比较的特征。",
    distance: "距离 {d}",
    exact: "{n} 字节",
  },
);

const endings: Record<string, string> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/webp": "webp",
  "text/csv": "csv",
  "text/plain": "txt",
  "application/json": "json",
  "audio/wav": "wav",
  "audio/flac": "flac",
  "application/x-pcd": "pcd",
  "application/x-ply": "ply",
  "application/x-npy": "npy",
  "application/x-mcap": "mcap",
};

/** The name under which a payload is saved. */
function fileName(m: Memory): string {
  const type = (m.media_type ?? "").split(";")[0]!.trim();
  return `memory-${m.memory_id}.${endings[type] ?? "bin"}`;
}

export function PayloadFacts({ m }: { m: Memory }) {
  const metadata = m.metadata as Record<string, unknown> | undefined;
  if (!m.sha256 && !m.source && !metadata) return null;
  return (
    <section class="payload">
      <header>
        <h2>{t("facts")}</h2>
        {m.bytes ? (
          <a class="button" href={dataURL(m.memory_id)} download={fileName(m)}>
            <Icon name="download" />
            {t("download")}
          </a>
        ) : null}
      </header>
      <dl class="facts">
        {m.media_type && (
          <>
            <dt>{t("type")}</dt>
            <dd class="mono">{m.media_type}</dd>
          </>
        )}
        {m.bytes ? (
          <>
            <dt>{t("size")}</dt>
            <dd class="number">
              {bytes(m.bytes)} {m.bytes >= 1024 && <span class="dim">({t("exact", { n: number(m.bytes) })})</span>}
            </dd>
          </>
        ) : null}
        {m.source && (
          <>
            <dt>{t("sensor")}</dt>
            <dd class="mono">{m.source}</dd>
          </>
        )}
        {m.sha256 && (
          <>
            <dt>{t("sum")}</dt>
            <dd class="payload-sum">
              <span class="mono">{m.sha256}</span>
              <Button icon="copy" kind="quiet" label={t("copySum")} onClick={() => void copy(m.sha256!)} />
            </dd>
          </>
        )}
        {metadata && Object.keys(metadata).length > 0 && (
          <>
            <dt>{t("metadata")}</dt>
            <dd>
              <Tree value={metadata} />
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}

/** Whether others can be compared with it: what is forgotten and a trace with holes cannot. */
export const comparable = (m: Memory) => drawable(m) && (m.status ?? "active") === "active" && !/readings? missing$/.test(m.summary);

/** The perceptions nearest to one, with their pictures. */
export function Alike({ m }: { m: Memory }) {
  const can = comparable(m);
  const asked = useAsk("recall", can ? { like: { memory_id: m.memory_id }, collection: "*", n: 5, min_confidence: 0, explain: true, as_you_type: true } : undefined, { live: 0 });
  const found = asked.answer && byLikeness(asked.answer.memories);
  return (
    <section class="alike">
      <header>
        <h2>{t("alike")}</h2>
        {found && found.length > 0 && <a href={`/perceptions?alike=${m.memory_id}`}>{t("allAlike")}</a>}
      </header>
      {!can || asked.error?.kind === "invalid" ? (
        <p class="dim">{t("cannot")}</p>
      ) : asked.error ? (
        <ErrorBox error={asked.error} again={asked.again} />
      ) : !found ? (
        <Loading lines={2} />
      ) : found.length === 0 ? (
        <p class="dim">{t("noAlike")}</p>
      ) : (
        <>
          <p class="dim">{t("compared", { id: m.memory_id })}</p>
          <ul class="alike-list">
          {found.map((m) => (
            <li key={m.memory_id}>
              <a href={`/memory/${m.memory_id}`}>
                <Thumbnail m={m} />
                <span class="alike-text">{m.content}</span>
                <span class="alike-facts number">
                  <Outcome of={outcome(m)} />
                  {likeness(m) !== undefined && <span class="dim">{t("distance", { d: number(likeness(m)!, 3) })}</span>}
                </span>
              </a>
            </li>
          ))}
          </ul>
        </>
      )}
    </section>
  );
}

/** A small picture in a box of fixed proportions, or the sign of its kind. */
export function Thumbnail({ m }: { m: Memory }) {
  const [none, setNone] = useState(!drawable(m));
  return (
    <span class="thumbnail">
      {none ? <Icon name={kindIcon(m)} size={34} /> : <img src={previewURL(m.memory_id, 320, 200)} alt="" loading="lazy" decoding="async" width={320} height={200} onError={() => setNone(true)} />}
    </span>
  );
}
