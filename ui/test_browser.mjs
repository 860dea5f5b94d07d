// What modules of the dashboard ask of a browser when they are loaded, for tests in Node. The tests are
// of functions that compute; a page is tested by ui/browsertest.
const nothing = () => {};

function define(name, value) {
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}

define("navigator", { language: "en-GB" });
define("location", new URL("http://node.test/"));
define("history", { replaceState: nothing, pushState: nothing });
define("addEventListener", nothing);
define("requestAnimationFrame", nothing);
define("matchMedia", () => ({ matches: false, addEventListener: nothing }));
define("document", { querySelector: () => null, addEventListener: nothing, documentElement: { dataset: {} } });

// A channel or a timer that a module opens when it is loaded would keep the process.
const startTimer = setInterval;
define("setInterval", (...args) => startTimer(...args).unref());
define("BroadcastChannel", class {});
