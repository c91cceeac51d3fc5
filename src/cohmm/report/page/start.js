// Keys, light and dark, and the first drawing.

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  $("theme").textContent = theme === "dark" ? "Light" : "Dark";
  $("theme").setAttribute("aria-label", "Change to " + (theme === "dark" ? "light" : "dark") + " colours");
  changed("theme");
}

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, select, textarea");
  if (event.key === "Escape") {
    if (event.target === $("search") && $("search").value) { $("search").value = ""; findTexts(); }
    else if (state.topic !== null) { state.topic = null; changed("topic"); }
  } else if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    $("search").focus();
  }
});
$("clear").addEventListener("click", () => { state.topic = null; changed("topic"); });

startTopics();
if (over) startOver();
startGraph();
startMatrix();
if (data.texts.length) {
  startDocuments();
  startOrder();
} else {
  for (const id of ["documents", "order"]) $(id).hidden = true;
  for (const link of document.querySelectorAll('nav a[href="#documents"], nav a[href="#order"]')) link.hidden = true;
}

const dark = window.matchMedia("(prefers-color-scheme: dark)");
setTheme(kept.get("theme") || (dark.matches ? "dark" : "light"));
dark.addEventListener("change", (event) => { if (!kept.get("theme")) setTheme(event.matches ? "dark" : "light"); });
$("theme").addEventListener("click", () => {
  const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  kept.set("theme", theme);
  setTheme(theme);
});

let width = window.innerWidth;
window.addEventListener("resize", () => {
  if (window.innerWidth === width) return;
  width = window.innerWidth;
  changed("size");
});
if ("IntersectionObserver" in window) {
  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.getAttribute("href").slice(1), link]));
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) {
      for (const link of links.values()) link.removeAttribute("aria-current");
      links.get(entry.target.id).setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-20% 0px -75% 0px" });
  for (const id of links.keys()) seen.observe($(id));
}
document.documentElement.dataset.ready = "";
