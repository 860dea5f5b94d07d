// A stretch of time in an address: an age such as 7d, or dates.

export const date = (text = "") =>
  /^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(Date.parse(text.slice(0, 10))) ? text.slice(0, 10) : "";

export const hour = 3600e3;

/** The times of a request: from 7d or the beginning of a day on, until the end of a day. */
export function between(after?: string, before?: string): { after?: string; before?: string } {
  const [, n, unit] = /^(\d+)([hd])$/.exec(after ?? "") ?? [];
  const day = (text: string, plus: number) => {
    const d = new Date(text + "T00:00");
    d.setDate(d.getDate() + plus);
    return d.toISOString();
  };
  return {
    // Whole hours, so that the question stays the same while the page is shown.
    after: n
      ? new Date(Math.floor((Date.now() - Number(n) * (unit === "d" ? 24 : 1) * hour) / hour) * hour).toISOString()
      : date(after)
        ? day(date(after), 0)
        : undefined,
    before: date(before) ? day(date(before), 1) : undefined,
  };
}
