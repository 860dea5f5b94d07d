// Shows /api/openapi.json with Swagger UI, in the theme of the dashboard.

const base = document.querySelector('meta[name="robotmem-base"]')?.content ?? "";
const dark = matchMedia("(prefers-color-scheme: dark)");

function showTheme() {
  let theme = null;
  try {
    theme = localStorage.getItem("robotmem.theme"); // auto, light or dark, as the dashboard stores it
  } catch {
    // a browser without storage follows the system
  }
  const isDark = theme === "dark" || (theme !== "light" && dark.matches);
  document.documentElement.classList.toggle("dark-mode", isDark);
}

dark.addEventListener("change", showTheme);
showTheme();

SwaggerUIBundle({
  dom_id: "#reference",
  url: base + "/api/openapi.json",
  deepLinking: true, // /api/reference#/Recalling/recall opens an operation
  displayRequestDuration: true,
  filter: true,
  validatorUrl: null, // the validator is a service of another host
});
