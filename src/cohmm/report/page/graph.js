// The directed graph: topics on a circle, in an order in which neighbours follow one another.

const MANY = 40;            // from here on there is no room for names
const LONGEST = 13;         // letters of a name
let graphKeys;

const sayTopic = (k) => {
  const next = follows[k].map((p, j) => [p, j]).filter(([p]) => p > 0).sort((a, b) => b[0] - a[0]).slice(0, 3);
  $("flow").textContent = `${title(k)}: ${percent(data.topics[k].prevalence)} of the ${names.words}, lasts ${runLength(k)} ${names.words}`
    + (next.length ? "; then " + next.map(([p, j]) => `${j} (${label(j)}) ${percent(p)}`).join(", ") : "") + ".";
};
const sayStep = (i, j) => {
  $("flow").textContent = i === j
    ? `${title(i)} stays with probability ${digits(data.topics[i].stay)}${stepSaid(i, i)} at each ${names.word}; it lasts ${runLength(i)} ${names.words}.`
    : `From ${i} (${label(i)}) to ${j} (${label(j)}): ${percent(follows[i][j])} of the times that ${i} ends; `
      + `${digits(data.transitions[i][j])}${stepSaid(i, j)} at each ${names.word}.`;
};

const ruler = h("canvas").getContext("2d");
function fitting(text, room) {
  ruler.font = "12px " + getComputedStyle(document.body).fontFamily;
  let n = LONGEST;
  while (n > 2 && ruler.measureText(short(text, n)).width > room) n -= 1;
  return short(text, n);
}

function drawGraph() {
  const place = $("graph");
  const size = K === 1 ? 260 : Math.max(260, Math.min(place.clientWidth || 560, 620));
  const named = K <= MANY && size > 420;
  const middle = size / 2, radius = middle - (named ? 96 : 46);
  const gap = K > 1 ? 2 * radius * Math.sin(Math.PI / K) : radius;
  const most = Math.max(...data.topics.map((topic) => topic.prevalence)) || 1;
  const largest = Math.min(28, 0.46 * gap);
  const nodes = [];
  data.order.forEach((k, i) => {
    const angle = 2 * Math.PI * i / K - Math.PI / 2;
    const [dx, dy] = [Math.cos(angle), Math.sin(angle)];
    nodes[k] = { k, angle, dx, dy, x: middle + (K > 1 ? radius * dx : 0), y: middle + (K > 1 ? radius * dy : 0),
      r: Math.max(Math.min(3.5, largest), largest * Math.sqrt(data.topics[k].prevalence / most)) };
  });
  const edges = [];
  for (let i = 0; i < K; i++) for (let j = 0; j < K; j++) {
    if (i !== j && follows[i][j] > 0 && follows[i][j] >= state.threshold) edges.push([i, j, follows[i][j] / strongestStep]);
  }
  edges.sort((a, b) => a[2] - b[2]);
  const faint = Math.max(0.04, Math.min(0.2, 20 / (edges.length + 1)));   // so that many do not cover all
  const svg = s("svg", { width: size, height: size, viewBox: `0 0 ${size} ${size}`, role: "group",
                         "aria-label": `Graph of ${names.many}; the arrow keys go around` },
    edges.map(([i, j, weight]) => edge(nodes[i], nodes[j], weight, middle, faint)),
    data.order.map((k) => node(nodes[k], named, largest, size)));
  place.replaceChildren(svg);
  graphKeys.settle();
  markGraph();
}

function edge(from, to, weight, middle, faint) {
  // Curves lean to the centre, and to the right of their direction, so that two opposite ones differ.
  const [mx, my] = [(from.x + to.x) / 2, (from.y + to.y) / 2];
  const [ux, uy] = [to.x - from.x, to.y - from.y];
  const cx = mx + 0.3 * (middle - mx) - 0.12 * uy, cy = my + 0.3 * (middle - my) + 0.12 * ux;
  const size = 4 + 5 * weight;
  const toward = (ax, ay, bx, by) => { const d = Math.hypot(bx - ax, by - ay) || 1; return [(bx - ax) / d, (by - ay) / d]; };
  const [sx, sy] = toward(from.x, from.y, cx, cy), [ex, ey] = toward(to.x, to.y, cx, cy);
  const [x0, y0] = [from.x + sx * (from.r + 1), from.y + sy * (from.r + 1)];
  const [x2, y2] = [to.x + ex * (to.r + 2), to.y + ey * (to.r + 2)];
  const [x1, y1] = [x2 + ex * size, y2 + ey * size];
  const d = `M${x0.toFixed(1)} ${y0.toFixed(1)}Q${cx.toFixed(1)} ${cy.toFixed(1)} ${x1.toFixed(1)} ${y1.toFixed(1)}`;
  const points = [[x2, y2], [x1 - ey * size * 0.45, y1 + ex * size * 0.45], [x1 + ey * size * 0.45, y1 - ex * size * 0.45]];
  return s("g", { class: "edge " + colour(from.k), "data-from": from.k, "data-to": to.k, opacity: (faint + (1 - faint) * weight * (faint < 0.2 ? weight : 1)).toFixed(3),
                  onpointerenter: () => sayStep(from.k, to.k), onclick: () => choose(from.k) },
    s("path", { d, "stroke-width": (0.7 + 4 * weight).toFixed(2) }),
    s("polygon", { points: points.map((point) => point.map((v) => v.toFixed(1)).join()).join(" ") }),
    s("path", { d, class: "reach" }));
}

function node({ k, x, y, r, dx, dy }, named, largest, size) {
  const loop = K > 1 && largest > 6 ? s("circle", { class: "loop", cx: x + dx * (r + 3), cy: y + dy * (r + 3), r: Math.max(3, 0.45 * r) }) : null;
  const out = r + 3 + Math.max(3, 0.45 * r) + 7;
  const anchor = Math.abs(dx) < 0.2 ? "middle" : dx > 0 ? "start" : "end";
  const [tx, ty] = [x + dx * out, y + dy * (out + 10)];      // two lines of text: more room above and below
  const room = anchor === "middle" ? 2 * Math.min(tx, size - tx) : dx > 0 ? size - tx : tx;
  return s("g", { class: "node " + colour(k), "data-topic": k, role: "button", tabindex: -1, "aria-pressed": String(state.topic === k),
                  "aria-label": `${title(k)}, ${percent(data.topics[k].prevalence)}, lasts ${runLength(k)} ${names.words}`,
                  onpointerenter: () => sayTopic(k), onfocus: () => sayTopic(k), onclick: () => choose(k),
                  onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(k); } } },
    loop,
    s("circle", { class: "disc", cx: x, cy: y, r }),
    r >= 8 ? s("text", { class: "inside", x, y, style: { "font-size": Math.min(13, r) + "px" } }, String(k)) : null,
    named ? s("text", { class: "name", x: tx, y: ty - 7, "text-anchor": anchor }, fitting(label(k), room)) : null,
    named ? s("text", { class: "last", x: tx, y: ty + 7, "text-anchor": anchor }, "× " + runLength(k)) : null);
}

function markGraph() {
  const k = state.topic;
  for (const g of $("graph").querySelectorAll(".edge")) {
    const own = k !== null && Number(g.dataset.from) === k, into = k !== null && Number(g.dataset.to) === k;
    g.classList.toggle("own", own || into);
    g.classList.toggle("off", k !== null && !own && !into);
  }
  for (const g of $("graph").querySelectorAll(".node")) {
    const j = Number(g.dataset.topic);
    g.setAttribute("aria-pressed", String(j === k));
    g.classList.toggle("off", k !== null && j !== k && follows[k][j] < state.threshold && follows[j][k] < state.threshold);
  }
  if (k === null) return;
  graphKeys.settle($("graph").querySelector(`.node[data-topic="${k}"]`));
  sayTopic(k);
}

function drawStrongest() {
  const k = state.topic;
  const rows = [];
  follows.forEach((row, i) => row.forEach((p, j) => { if (p > 0 && (k === null || i === k || j === k)) rows.push([i, j, p]); }));
  const flow = ([i, j]) => data.topics[i].prevalence * data.transitions[i][j];
  rows.sort((a, b) => flow(b) - flow(a));
  $("strongest-head").textContent = k === null ? "The most frequent steps" : `The most frequent steps from and to ${names.one} ${k}`;
  $("strongest").replaceChildren(rows.length === 0 ? h("caption", {}, `There is no step from one ${names.one} to another.`) : "",
    head(rows.length === 0 ? [] : [["From"], ["To"], ["Where it ends", true], [`At each ${names.word}`, true]]),
    h("tbody", {}, rows.slice(0, 8).map(([i, j, p]) => h("tr", {},
      h("td", { class: "step" }, h("span", { class: "chip " + colour(i) }, String(i)), " ", h("bdi", { class: "brief" }, label(i))),
      h("td", { class: "step" }, h("span", { class: "chip " + colour(j) }, String(j)), " ", h("bdi", { class: "brief" }, label(j))),
      h("td", { class: "number" }, percent(p)),
      h("td", { class: "number" }, digits(data.transitions[i][j]), certain ? h("span", { class: "note" }, " " + stepBetween(i, j)) : null)))));
}

table("transitions", () => ({ columns: ["from", "to", "probability", ...(certain ? ["low", "high"] : []), "when_it_ends"],
  rows: data.transitions.flatMap((row, i) => row.map((p, j) => [i, j, p, ...(certain ? [data.transitions_low[i][j], data.transitions_high[i][j]] : []), i === j ? null : Number(follows[i][j].toPrecision(4))])) }));

function startGraph() {
  graphKeys = roving($("graph"), ".node");
  const slider = $("threshold");
  slider.value = strongestStep ? Math.round(100 * state.threshold / strongestStep) : 0;
  slider.disabled = !strongestStep;
  const told = () => { $("threshold-value").textContent = percent(state.threshold); };
  slider.addEventListener("input", () => { state.threshold = strongestStep * (slider.value / 100); changed("threshold"); });
  told();
  drawGraph();
  drawStrongest();
  watch("threshold", told);
  watch("threshold labels size", drawGraph);
  watch("topic", markGraph);
  watch("topic labels", drawStrongest);
}
