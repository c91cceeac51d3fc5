// Topics over time, or by class: one of them large, and all of them small.

const over = data.over;
const overState = { what: "share", together: false, order: "varies", at: null };
const [TOP_ROOM, FOOT] = [12, 26];          // above and below what is drawn
let overKeys;

const overValues = (k) => ({ middle: over[overState.what][k], low: over[overState.what + "_low"][k], high: over[overState.what + "_high"][k] });
const known = (values) => values.filter((value) => value !== null);
const largest = (k) => Math.max(0, ...known(overValues(k).middle));
const amount = (value) => value === null ? "–" : overState.what === "share" ? percent(value) : digits(value);
const overTopic = () => state.topic ?? overOrder()[0];

function overOrder() {
  const all = data.topics.map((_, k) => k);
  if (overState.order === "number") return all;
  const range = (k) => { const there = known(overValues(k).middle); return there.length ? Math.max(...there) - Math.min(...there) : -1; };
  const middle = (k) => {
    const values = overValues(k).middle, least = Math.min(...known(values));
    let sum = 0, moment = 0;
    values.forEach((value, g) => { if (value !== null) { sum += value - least; moment += g * (value - least); } });
    return sum > 0 ? moment / sum : 0;
  };
  const by = overState.order === "varies" ? (k) => -range(k) : middle;
  return all.map((k) => [by(k), k]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, k]) => k);
}

// Stretches of groups that have a value, each as [group, value] pairs.
function stretches(values) {
  const found = [];
  values.forEach((value, g) => {
    if (value === null) return;
    if (!g || values[g - 1] === null) found.push([]);
    found[found.length - 1].push(g);
  });
  return found;
}
const path = (points) => points.map(([x, y], i) => (i ? "L" : "M") + x.toFixed(1) + " " + y.toFixed(1)).join("");

// Band, line and dots of a topic, between x and y of the caller.
function strip(k, x, y, r) {
  const { middle, low, high } = overValues(k);
  const banded = low.map((value, g) => value === null ? null : g);
  const marks = [];
  if (over.period !== null) {
    for (const part of stretches(banded)) {
      if (part.length > 1) marks.push(s("path", { class: "band", d: path([...part.map((g) => [x(g), y(high[g])]), ...part.map((g) => [x(g), y(low[g])]).reverse()]) + "Z" }));
    }
    for (const part of stretches(middle)) {
      if (part.length > 1) marks.push(s("path", { class: "course", d: path(part.map((g) => [x(g), y(middle[g])])) }));
    }
  }
  middle.forEach((value, g) => {
    if (value === null) return;
    const alone = over.period === null || ((g === 0 || middle[g - 1] === null) && (g === middle.length - 1 || middle[g + 1] === null));
    if (alone && low[g] !== null) marks.push(s("line", { class: "interval", x1: x(g), x2: x(g), y1: y(low[g]), y2: y(high[g]) }));
    if (alone || r > 2) marks.push(s("circle", { class: "dot", cx: x(g), cy: y(value), r }));
  });
  return marks;
}

function scaleOf(k) {
  const top = overState.together ? Math.max(...data.topics.map((_, j) => largest(j))) : largest(k);
  return top > 0 ? top : 1;
}

// One, two or five times a power of ten: about four steps to the top.
function stepOf(top) {
  const power = 10 ** Math.floor(Math.log10(top / 3));
  return power * ([1, 2, 5, 10].find((times) => 4 * times * power >= top) || 10);
}

function drawLarge() {
  const k = overTopic(), place = $("over-large");
  $("over-head").replaceChildren(chip(k), " ", h("bdi", {}, label(k)));
  place.className = "picture " + colour(k);
  if (over.period === null) { drawRows(k, place); return; }
  const W = Math.max(280, place.clientWidth || 700), H = 250, left = 46, right = 12;
  const { high, middle } = overValues(k);
  const top = Math.max(1e-9, ...known(middle), Math.min(2 * scaleOf(k), Math.max(0, ...known(high))), overState.together ? scaleOf(k) : 0);
  const n = over.groups.length;
  const x = (g) => left + (W - left - right) * (n > 1 ? g / (n - 1) : 0.5);
  const y = (value) => TOP_ROOM + (H - TOP_ROOM - FOOT) * (1 - Math.min(value / top, 1.04));
  const step = stepOf(top), lines = [];
  for (let at = 0; at <= top * 1.001; at += step) lines.push(at);
  ruler.font = "12px " + getComputedStyle(document.body).fontFamily;
  const wide = Math.max(...over.groups.map((group) => ruler.measureText(short(group, 16)).width)) + 14;
  const every = Math.ceil(n / Math.max(1, Math.floor((W - left) / wide)));
  const svg = s("svg", { width: W, height: H, viewBox: `0 0 ${W} ${H}` },
    lines.flatMap((at) => [s("line", { class: "axis", x1: left, x2: W - right, y1: y(at), y2: y(at) }),
      s("text", { x: left - 6, y: y(at) + 4, "text-anchor": "end" }, at ? amount(at) : "0")]),
    over.groups.map((group, g) => g % every ? null : s("text", { x: Math.min(Math.max(x(g), wide / 2), W - wide / 2), y: H - 6, "text-anchor": "middle" },
      short(group, 16))),
    strip(k, x, y, 3),
    overState.at === null ? null : s("line", { class: "cursor", x1: x(overState.at), x2: x(overState.at), y1: TOP_ROOM, y2: H - FOOT }));
  const nearest = (event) => {
    const g = Math.round((event.clientX - svg.getBoundingClientRect().left - left) / (W - left - right) * (n - 1));
    stepTo(Math.min(Math.max(g, 0), n - 1));
  };
  svg.addEventListener("pointermove", nearest);
  svg.addEventListener("pointerdown", nearest);
  place.replaceChildren(svg);
}

// Classes: a row each, with its numbers in words.
function drawRows(k, place) {
  const { middle, low, high } = overValues(k);
  const top = Math.max(1e-9, ...known(high), ...known(middle), overState.together ? scaleOf(k) : 0);
  const at = (value) => 100 * Math.min(1, value / top) + "%";
  place.replaceChildren(h("ol", { class: "bars classes" }, over.groups.map((group, g) => h("li", {},
    h("bdi", { class: "name", title: group }, group),
    h("span", { class: "track" }, middle[g] === null ? null : [
      low[g] === null ? null : h("span", { class: "between", style: { left: at(low[g]), right: `calc(100% - ${at(high[g])})` } }),
      h("span", { class: "point", style: { left: at(middle[g]) } })]),
    h("span", { class: "amount" }, amount(middle[g]), h("span", { class: "note" },
      middle[g] === null ? "" : low[g] === null ? " no interval" : ` ${amount(low[g])} to ${amount(high[g])}`))))));
}

function stepTo(g) {
  overState.at = g;
  sayOver();
  drawLarge();
}

function sayOver() {
  const g = overState.at, k = overTopic();
  if (over.period === null) return;
  if (g === null) { $("over-said").textContent = `Point at the picture, or go through it with the arrow keys, to see its numbers.`; return; }
  const { middle, low, high } = overValues(k);
  const what = overState.what === "share" ? `of the ${names.words}` : `${names.words} in a run`;
  const interval = low[g] === null ? "no interval, of one document" : `${amount(low[g])} to ${amount(high[g])}`;
  $("over-said").textContent = `${over.groups[g]}: ` + (over.documents[g] === 0 ? "no documents"
    : `${count(over.documents[g], names.text, names.texts)}, ${count(over.words[g], names.word, names.words)}; `
      + (middle[g] === null ? `${names.one} ${k} does not occur` : `${names.one} ${k} ${amount(middle[g])} ${what} (${interval})`)) + ".";
}

function drawSmall() {
  const [W, H] = [180, 54], n = over.groups.length;
  const x = (g) => 4 + (W - 8) * (n > 1 ? g / (n - 1) : 0.5);
  $("over-all").replaceChildren(...overOrder().map((k) => {
    const top = scaleOf(k) * 1.1;
    const y = (value) => 2 + (H - 4) * (1 - Math.min(value / top, 1));
    const most = largest(k);
    return h("li", {}, h("button", { type: "button", class: "mini " + colour(k), "data-topic": k, "aria-pressed": String(state.topic === k),
        "aria-label": `${title(k)}: at most ${amount(most)}`, onclick: () => choose(k) },
      h("span", { class: "row" }, h("span", { class: "chip" }, String(k)), h("bdi", {}, label(k)), h("span", { class: "note" }, amount(most))),
      s("svg", { viewBox: `0 0 ${W} ${H}`, preserveAspectRatio: "none", "aria-hidden": "true" },
        s("line", { class: "axis", x1: 0, x2: W, y1: H - 2, y2: H - 2 }), strip(k, x, y, 1.8))));
  }));
  overKeys.settle($("over-all").querySelector(`[data-topic="${overTopic()}"]`));
}

function drawOver() { drawLarge(); drawSmall(); sayOver(); }

function startOver() {
  overKeys = roving($("over-all"), "button");
  for (const input of document.querySelectorAll("input[name=over]")) {
    input.addEventListener("change", () => { overState.what = input.value; drawOver(); });
  }
  $("over-together").addEventListener("change", (event) => { overState.together = event.target.checked; drawOver(); });
  $("over-order").addEventListener("change", (event) => { overState.order = event.target.value; drawOver(); });
  if (over.period !== null) $("over-large").addEventListener("keydown", (event) => {
    const n = over.groups.length, at = overState.at;
    const to = { ArrowRight: at === null ? 0 : at + 1, ArrowLeft: at === null ? n - 1 : at - 1, Home: 0, End: n - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    stepTo(Math.min(Math.max(to, 0), n - 1));
  });
  table("over", () => ({
    columns: [over.period || "class", names.texts, names.words, names.one, "label", "share", "share_low", "share_high", "run", "run_low", "run_high"],
    rows: over.groups.flatMap((group, g) => data.topics.map((_, k) => [group, over.documents[g], over.words[g], k, state.labels[k] || "",
      over.share[k][g], over.share_low[k][g], over.share_high[k][g], over.run[k][g], over.run_low[k][g], over.run_high[k][g]])) }));
  drawOver();
  watch("topic labels size", drawOver);
}
