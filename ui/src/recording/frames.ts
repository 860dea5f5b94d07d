// The tree of coordinate frames, and how one moves in another.

import { list, object, onClock, text, type Fields, type Recorded } from "./messages";

type Vector = [x: number, y: number, z: number];
type Quaternion = [x: number, y: number, z: number, w: number];

/** A pose of a frame in its parent. */
export interface Pose {
  position: Vector;
  orientation: Quaternion;
}

export interface Link {
  parent: string;
  fixed: boolean;
  /** Seconds since the epoch, rising. */
  times: number[];
  poses: Pose[];
}

/** Each frame with its link to its parent. */
export type Frames = Map<string, Link>;

const clean = (name: string) => name.replace(/^\//, "");

function vector(v: unknown): Vector {
  const { x, y, z } = object(v);
  return [Number(x ?? 0), Number(y ?? 0), Number(z ?? 0)];
}

function quaternion(v: unknown): Quaternion {
  const { x, y, z, w } = object(v);
  return unit([Number(x ?? 0), Number(y ?? 0), Number(z ?? 0), Number(w ?? 0)]);
}

function unit(q: Quaternion): Quaternion {
  const n = Math.hypot(...q);
  return n < 1e-9 ? [0, 0, 0, 1] : (q.map((v) => v / n) as Quaternion);
}

/** Collects the transforms of tf2_msgs/TFMessage and of Foxglove's FrameTransform(s). */
export function framesOf(recorded: Recorded[]): Frames {
  const out: Frames = new Map();
  const put = (parent: string, child: string, fixed: boolean, time: number, pose: Pose) => {
    if (!child || !parent || child === parent) return;
    let l = out.get(child);
    if (!l || l.parent !== parent) out.set(child, (l = { parent, fixed, times: [], poses: [] }));
    l.times.push(time);
    l.poses.push(pose);
  };
  for (const r of recorded) {
    const fixed = r.topic.endsWith("tf_static");
    for (const { time, value } of r.messages) {
      const all: Fields[] = Array.isArray(value.transforms) ? list(value.transforms) : [value];
      for (const x of all) {
        const inner = x.transform ? object(x.transform) : x;
        put(
          clean(text(object(x.header).frame_id) || text(x.parent_frame_id)),
          clean(text(x.child_frame_id)),
          fixed,
          onClock(object(x.header).stamp, time) ?? onClock(x.timestamp, time) ?? time,
          { position: vector(inner.translation), orientation: quaternion(inner.rotation) },
        );
      }
    }
  }
  for (const l of out.values()) {
    const order = l.times.map((_, i) => i).sort((a, b) => l.times[a]! - l.times[b]!);
    [l.times, l.poses] = [order.map((i) => l.times[i]!), order.map((i) => l.poses[i]!)];
  }
  return out;
}

/** The frames from one to its root, itself first. */
export function chain(frames: Frames, name: string): string[] {
  const out = [name];
  for (let l = frames.get(name); l && !out.includes(l.parent); l = frames.get(l.parent)) out.push(l.parent);
  return out;
}

function rotate(q: Quaternion, v: Vector): Vector {
  const [x, y, z, w] = q;
  const tx = 2 * (y * v[2] - z * v[1]);
  const ty = 2 * (z * v[0] - x * v[2]);
  const tz = 2 * (x * v[1] - y * v[0]);
  return [v[0] + w * tx + y * tz - z * ty, v[1] + w * ty + z * tx - x * tz, v[2] + w * tz + x * ty - y * tx];
}

function multiply(a: Quaternion, b: Quaternion): Quaternion {
  const [ax, ay, az, aw] = a;
  const [bx, by, bz, bw] = b;
  return [aw * bx + ax * bw + ay * bz - az * by, aw * by - ax * bz + ay * bw + az * bx, aw * bz + ax * by - ay * bx + az * bw, aw * bw - ax * bx - ay * by - az * bz];
}

const inverse = (q: Quaternion): Quaternion => [-q[0], -q[1], -q[2], q[3]];

/** b in a, where b is given in a frame that a places. */
function times(a: Pose, b: Pose): Pose {
  const p = rotate(a.orientation, b.position);
  return { position: [a.position[0] + p[0], a.position[1] + p[1], a.position[2] + p[2]], orientation: unit(multiply(a.orientation, b.orientation)) };
}

function inverted(a: Pose): Pose {
  const back = inverse(a.orientation);
  const p = rotate(back, a.position);
  return { position: [-p[0], -p[1], -p[2]], orientation: back };
}

/** The pose of a link at a time: between two transforms the position linearly, the orientation along the shorter arc. */
export function poseAt(l: Link, time: number): Pose {
  if (l.fixed || l.times.length === 1 || time <= l.times[0]!) return l.fixed ? l.poses.at(-1)! : l.poses[0]!;
  const next = l.times.findIndex((t) => t >= time);
  if (next < 0) return l.poses.at(-1)!;
  const [a, b] = [l.poses[next - 1]!, l.poses[next]!];
  const f = (time - l.times[next - 1]!) / (l.times[next]! - l.times[next - 1]! || 1);
  const sign = a.orientation.reduce((s, v, i) => s + v * b.orientation[i]!, 0) < 0 ? -1 : 1;
  return {
    position: a.position.map((v, i) => v + f * (b.position[i]! - v)) as Vector,
    orientation: unit(a.orientation.map((v, i) => (1 - f) * v + f * sign * b.orientation[i]!) as Quaternion),
  };
}

/** The pose of a frame in the last of its chain. */
function inRoot(frames: Frames, links: string[], time: number): Pose {
  let pose: Pose = { position: [0, 0, 0], orientation: [0, 0, 0, 1] };
  for (const name of links.slice(0, -1)) pose = times(poseAt(frames.get(name)!, time), pose);
  return pose;
}

/** How a frame moves in another, at the times of the transforms between them; undefined if nothing joins them. */
export function motion(frames: Frames, name: string, within: string, most: number): { times: number[]; poses: Pose[] } | undefined {
  const [up, other] = [chain(frames, name), chain(frames, within)];
  const meet = up.find((f) => other.includes(f));
  if (meet === undefined) return undefined;
  const a = up.slice(0, up.indexOf(meet) + 1);
  const b = other.slice(0, other.indexOf(meet) + 1);
  const moving = [...a.slice(0, -1), ...b.slice(0, -1)].map((f) => frames.get(f)!).filter((l) => !l.fixed);
  let all = [...new Set(moving.flatMap((l) => l.times))].sort((x, y) => x - y);
  if (all.length > most) all = Array.from({ length: most }, (_, i) => all[Math.floor((i * (all.length - 1)) / (most - 1))]!);
  return { times: all, poses: (all.length > 0 ? all : [0]).map((time) => times(inverted(inRoot(frames, b, time)), inRoot(frames, a, time))) };
}

/** The turn about z, in degrees. */
export const yaw = ({ orientation: [x, y, z, w] }: Pose): number => (Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)) * 180) / Math.PI;
