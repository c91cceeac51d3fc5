// The topics of the first screen, and the objective, pass by pass.

for (const link of document.querySelectorAll("[data-glance]")) {
  const k = Number(link.dataset.glance);
  link.addEventListener("click", () => { if (state.topic !== k) choose(k); });
  watch("labels", () => { link.querySelector(".name").textContent = label(k); });
}

table("summary", () => ({ columns: ["name", "value", "note"], rows: data.summary.map((item) => [item.name, item.value, item.note]) }));
table("trace", () => ({ columns: ["trace", "pass", "objective"],
  rows: data.traces.flatMap((trace) => trace.passes.map((pass, i) => [trace.name, pass, trace.values[i]])) }));

function drawTrace({ name, passes, values }) {
  const [W, H, left, bottom] = [420, 150, 8, 22];
  const low = Math.min(...values), high = Math.max(...values);
  const first = passes[0], last = passes[passes.length - 1];
  const x = (pass) => left + (W - 2 * left) * (last > first ? (pass - first) / (last - first) : 0.5);
  const y = (value) => 10 + (H - bottom - 20) * (high > low ? (high - value) / (high - low) : 0.5);
  const path = passes.map((pass, i) => (i ? "L" : "M") + x(pass).toFixed(1) + " " + y(values[i]).toFixed(1)).join("");
  const end = values[values.length - 1];
  return h("figure", {},
    s("svg", { viewBox: `0 0 ${W} ${H}`, width: "100%", role: "img",
               "aria-label": `${name}: from ${digits(values[0], 6)} to ${digits(end, 6)} in ${last} passes` },
      s("line", { class: "axis", x1: 0, x2: W, y1: H - bottom, y2: H - bottom }),
      s("path", { class: "line", d: path }),
      passes.length < 2 ? s("circle", { cx: x(first), cy: y(end), r: 3.5, fill: "currentColor" }) : null,
      s("text", { x: left, y: H - 6 }, "pass " + first),
      last > first ? s("text", { x: W - left, y: H - 6, "text-anchor": "end" }, "pass " + last) : null,
      s("text", { x: W - left, y: 14, "text-anchor": "end" }, digits(values[0], 6) + " → " + digits(end, 6))),
    h("figcaption", {}, name));
}
if ($("traces")) $("traces").append(...data.traces.map(drawTrace));
