// The numbers of a space before anything is drawn: where its middle is, how far
// it reaches, which values its colours stand for.

export type Numbers = (number | null)[];

export interface Space {
  kind: "cloud" | "scan" | "trajectory";
  x: Numbers;
  y: Numbers;
  z: Numbers;
  intensity?: Numbers;
  /** 0xRRGGBB. */
  rgb?: number[];
  time?: Numbers;
  /** Unit quaternions of the poses. */
  turns?: { x: Numbers; y: Numbers; z: Numbers; w: Numbers };
}

export type Colouring = "rgb" | "intensity" | "height" | "time";

/** What a space can be coloured by, the best first. */
export function colourings(s: Space): Colouring[] {
  if (s.kind === "trajectory") return ["time", "height"];
  const out: Colouring[] = [];
  if (s.rgb) out.push("rgb");
  if (s.intensity) out.push("intensity");
  if (s.kind === "cloud" || out.length === 0) out.push("height");
  return out;
}

/** Low and high of some numbers without the outermost of them. */
export function spread(values: Numbers, cut = 0): [number, number] {
  const sorted = Float64Array.from(values.filter((v): v is number => v !== null)).sort();
  if (sorted.length === 0) return [0, 1];
  const skip = sorted.length >= 200 ? Math.floor(sorted.length * cut) : 0;
  return [sorted[skip]!, sorted[sorted.length - 1 - skip]!];
}

/** The values that a colouring maps to the ramp, with their bounds. */
export function coloured(s: Space, by: Colouring): { values: Numbers; low: number; high: number } {
  const values = by === "intensity" ? (s.intensity ?? s.z) : by === "time" ? (s.time ?? s.x.map((_, i) => i)) : s.z;
  const [low, high] = spread(values, by === "time" ? 0 : 0.02);
  return { values, low, high };
}

export interface Extent {
  middle: [number, number, number];
  low: [number, number, number];
  high: [number, number, number];
  /** Half of the diagonal; never 0. */
  radius: number;
}

export function extent(s: Space): Extent {
  const cut = s.kind === "trajectory" ? 0 : 0.003;
  const axes = [spread(s.x, cut), spread(s.y, cut), spread(s.z, cut)] as const;
  const pick = (f: (a: readonly [number, number]) => number): [number, number, number] => [
    f(axes[0]),
    f(axes[1]),
    f(axes[2]),
  ];
  const sides = pick(([a, b]) => b - a);
  return {
    middle: pick(([a, b]) => (a + b) / 2),
    low: pick(([a]) => a),
    high: pick(([, b]) => b),
    radius: Math.hypot(...sides) / 2 || 0.5,
  };
}
