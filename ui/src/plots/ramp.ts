// One ramp of colours for what has an order: viridis, even to the eye and to
// the colour-blind.

const stops: [number, number, number][] = [
  [0x44, 0x01, 0x54],
  [0x41, 0x44, 0x87],
  [0x2a, 0x78, 0x8e],
  [0x22, 0xa8, 0x84],
  [0x7a, 0xd1, 0x51],
  [0xfd, 0xe7, 0x25],
];

/** Red, green and blue, 0 to 1, of a share of the ramp, 0 to 1. The end that is like the ground is left out. */
export function ramp(share: number, dark: boolean): [number, number, number] {
  const within = Math.min(Math.max(share, 0), 1);
  const at = (dark ? 0.18 + within * 0.82 : within * 0.9) * (stops.length - 1);
  const i = Math.min(Math.floor(at), stops.length - 2);
  const [a, b] = [stops[i]!, stops[i + 1]!];
  const mix = (k: 0 | 1 | 2) => (a[k] + (b[k] - a[k]) * (at - i)) / 255;
  return [mix(0), mix(1), mix(2)];
}
