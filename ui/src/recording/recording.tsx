// What the browser decodes of a recorded topic: tables of messages, transforms, video.

import { bytes } from "../app/text";
import type { Cursor } from "../parts/perception_samples";
import { ErrorBox, Loading } from "../parts/states";
import { largest, useMessages } from "./messages";
import { MessageTable } from "./table";
import { t } from "./recording.text";
import { Transforms } from "./transforms";
import { Video } from "./video";
import type { Memory } from "../api/client";

export type RecordedFace = "messages" | "frames" | "video";

export interface RecordedProps {
  m: Memory;
  face: RecordedFace;
  size: number;
  /** In seconds since start. */
  cursor: Cursor;
  /** Seconds since the epoch. */
  start: number;
  height?: number;
}

export function Recorded(props: RecordedProps) {
  if (props.size > largest) return <p class="dim">{t("large", { size: bytes(props.size) })}</p>;
  return <Decoded {...props} />;
}

function Decoded({ m, face, cursor, start, height }: RecordedProps) {
  const { recorded, error } = useMessages(m.memory_id);
  if (error) return error.kind === "internal" || error.kind === "encoding" ? <p class="notice">{t("undecoded", { why: error.message })}</p> : <ErrorBox error={error} />;
  if (!recorded) return <Loading lines={5} />;
  if (recorded.messages.length === 0) return <p class="dim">{t("empty")}</p>;
  if (face === "frames") return <Transforms m={m} recorded={recorded} cursor={cursor} start={start} height={height} />;
  if (face === "video") return <Video recorded={recorded} cursor={cursor} start={start} height={height} />;
  return <MessageTable of={recorded} cursor={cursor} start={start} height={height} />;
}
