// What the unit tests use of Node. The types of Node itself would also be those of the dashboard, where
// setTimeout returns a number.

declare module "node:test" {
  export function test(name: string, f: () => void | Promise<void>): void;
  export function beforeEach(f: () => void): void;
  export function afterEach(f: () => void): void;
}

declare module "node:assert/strict" {
  interface Assert {
    equal(got: unknown, want: unknown, message?: string): void;
    deepEqual(got: unknown, want: unknown, message?: string): void;
    ok(value: unknown, message?: string): asserts value;
    throws(f: () => unknown, error?: RegExp): void;
    rejects(f: () => Promise<unknown>, error?: object): Promise<void>;
  }
  const assert: Assert;
  export default assert;
}

declare module "node:fs" {
  export function readdirSync(path: string, options?: { recursive?: boolean }): string[];
  export function readFileSync(path: string, encoding: "utf8"): string;
}
