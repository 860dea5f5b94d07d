// The messages of a recorded topic, decoded in the browser: an MCAP segment of one
// channel, of ROS 2 messages or JSON.

import { ask } from "../app/base";
import { parse } from "@foxglove/rosmsg";
import { MessageReader } from "@foxglove/rosmsg2-serialization";
import { McapStreamReader } from "@mcap/core";
import { useEffect, useState } from "preact/hooks";
import { dataURL, Problem } from "../api/client";

export interface Message {
  /** Seconds since the epoch: the stamp of its header if it is of the clock of the recorder, else when it was recorded. */
  time: number;
  value: Fields;
}

export type Fields = Record<string, unknown>;

export interface Recorded {
  topic: string;
  /** Its type without the msg of ROS 2: sensor_msgs/Imu. */
  schema: string;
  messages: Message[];
}

export const largest = 64 << 20; // bytes that a browser should hold and decode at once

/** An object of a message; an empty one if there is none. */
export const object = (v: unknown): Fields => (typeof v === "object" && v !== null ? (v as Fields) : {});
export const text = (v: unknown): string => (typeof v === "string" ? v : "");
export const list = (v: unknown): Fields[] => (Array.isArray(v) ? v.map(object) : []);

/** Seconds of a time of ROS or of Foxglove's JSON, undefined if it is none or zero. */
export function seconds(v: unknown): number | undefined {
  const { sec, nsec, nanosec } = object(v) as { sec?: unknown; nsec?: unknown; nanosec?: unknown };
  const s = Number(sec) + Number(nsec ?? nanosec ?? 0) * 1e-9;
  return s > 0 ? s : undefined;
}

/** The most seconds between two times of one clock, as the importer has it. */
const mostSkew = 24 * 60 * 60;

/** A stamp as seconds if it is of the clock of a time, undefined if not: the clock of a simulator counts from 0. */
export function onClock(stamp: unknown, time: number): number | undefined {
  const s = seconds(stamp);
  return s !== undefined && Math.abs(s - time) <= mostSkew ? s : undefined;
}

function decode(bytes: Uint8Array): Recorded {
  const reader = new McapStreamReader();
  reader.append(bytes);
  const out: Recorded = { topic: "", schema: "", messages: [] };
  let definition = "";
  let toValue: ((data: Uint8Array) => unknown) | undefined;
  const json = new TextDecoder();
  for (let r = reader.nextRecord(); r; r = reader.nextRecord()) {
    if (r.type === "Schema") {
      out.schema = r.name.replace("/msg/", "/");
      definition = json.decode(r.data);
    } else if (r.type === "Channel") {
      out.topic = r.topic;
      if (r.messageEncoding === "cdr") {
        const cdr = new MessageReader(parse(definition, { ros2: true }));
        toValue = (data) => cdr.readMessage(data);
      } else if (r.messageEncoding === "json") {
        toValue = (data) => JSON.parse(json.decode(data)) as unknown;
      } else {
        throw new Problem("encoding", r.messageEncoding);
      }
    } else if (r.type === "Message" && toValue) {
      const value = object(toValue(r.data));
      const logged = Number(r.logTime) / 1e9;
      const stamp = onClock(object(value.header).stamp, logged) ?? onClock(value.timestamp, logged);
      out.messages.push({ time: stamp ?? logged, value });
    }
  }
  return out;
}

const kept = new Map<number, Promise<Recorded>>(); // the newest few: faces of one perception share them
const mostKept = 8;

/** Reads the messages of a perception. Throws a Problem. */
export function read(id: number): Promise<Recorded> {
  const known = kept.get(id);
  if (known) return known;
  const reading = (async () => {
    let res: Response;
    try {
      res = await ask(dataURL(id));
    } catch (e) {
      throw Problem.from(e);
    }
    if (!res.ok) throw await Problem.of(res);
    const bytes = new Uint8Array(await res.arrayBuffer());
    try {
      return decode(bytes);
    } catch (e) {
      throw Problem.from(e);
    }
  })();
  kept.set(id, reading);
  reading.catch(() => kept.delete(id));
  for (const old of [...kept.keys()].slice(0, Math.max(0, kept.size - mostKept))) kept.delete(old);
  return reading;
}

export function useMessages(id: number): { recorded?: Recorded; error?: Problem } {
  const [state, set] = useState<{ id: number; recorded?: Recorded; error?: Problem }>({ id });
  useEffect(() => {
    let gone = false;
    read(id).then(
      (recorded) => gone || set({ id, recorded }),
      (e) => gone || set({ id, error: Problem.from(e) }),
    );
    return () => void (gone = true);
  }, [id]);
  return state.id === id ? state : {};
}
