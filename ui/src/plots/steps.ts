// Round numbers for scales: grids, axes and the tops of bars.

// A power of ten is not exact: 1e-5 / 10 ** -5 is more than 1.
const slack = 1.000001;

/** The smallest of 1, 2, 5, 10, 20, ... that is not smaller, of any power of ten. */
export function stepAbove(n: number): number {
  const power = 10 ** Math.floor(Math.log10(n));
  const lead = n / power;
  return ([1, 2, 5].find((k) => lead <= k * slack) ?? 10) * power;
}

/** The largest of 1, 2, 5 times a power of ten that is not more. */
export function stepBelow(n: number): number {
  const power = 10 ** Math.floor(Math.log10(n));
  return [10, 5, 2, 1].map((k) => k * power).find((v) => v <= n * slack) ?? power;
}

/** The next of 1, 2, 5, 10, 20, ... that is not smaller, and even from 2 on. */
export function evenTop(n: number): number {
  const power = 10 ** Math.floor(Math.log10(n));
  const lead = n / power;
  return (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 4 ? 4 : lead <= 6 ? 6 : 10) * power;
}
