// The list of topics, their labels, and the top words of one.

const sorting = { by: "number", down: false };
const hasCoherence = data.topics.some((topic) => topic.coherence !== null);
const hasIntervals = data.topics.some((topic) => topic.low.length > 0);
const hasContrast = data.topics.some((topic) => topic.contrast !== null);
const contrasts = data.topics.map((topic) => topic.contrast).filter((value) => value !== null).sort((a, b) => a - b);
const typical = contrasts.length ? contrasts[(contrasts.length - 1) >> 1] : 0;
const SHOW = { all: () => true, subjects: (k) => data.topics[k].contrast > typical, sections: (k) => (data.topics[k].contrast ?? 0) <= typical };
const COLUMNS = [
  ["number", "No.", (k) => k],
  ["label", "Label and " + names.words, null],
  ["prevalence", "Share", (k) => data.topics[k].prevalence],
  ["run", "Lasts, " + names.words, (k) => data.topics[k].run ?? Infinity],
  ...(hasCoherence ? [["coherence", "Coherence", (k) => data.topics[k].coherence]] : []),
  ...(hasContrast ? [["contrast", "Contrast", (k) => data.topics[k].contrast ?? -1]] : []),
];
const topicRows = [];

function sortBy(name) {
  sorting.down = sorting.by === name ? !sorting.down : name !== "number";
  sorting.by = name;
  $("topic-order").value = name;
  drawTopics();
}

function topicRow(k) {
  const topic = data.topics[k];
  const most = Math.max(...data.topics.map((other) => other.prevalence)) || 1;
  const input = h("input", { type: "text", value: state.labels[k] || "", placeholder: ownLabel(k), maxlength: 80, dir: "auto",
    spellcheck: "false", "aria-label": "Label of " + names.one + " " + k,
    oninput: (event) => { relabel(k, event.target.value); } });
  const words = h("span", { class: "top-words" });
  const row = h("tr", { class: colour(k), role: "row" },
    h("td", { role: "cell" }, chip(k)),
    h("td", { role: "cell", class: "label" }, input, words),
    h("td", { role: "cell", class: "number prevalence", "data-name": "share" }, percent(topic.prevalence),
      h("span", { class: "share" }, h("span", { style: { width: 100 * topic.prevalence / most + "%" } }))),
    h("td", { role: "cell", class: "number", "data-name": "lasts" }, runLength(k)),
    hasCoherence ? h("td", { role: "cell", class: "number", "data-name": "coherence" }, digits(topic.coherence)) : null,
    hasContrast ? h("td", { role: "cell", class: "number contrast", "data-name": "contrast" }, topic.contrast === null ? "–" : topic.contrast.toFixed(2)) : null);
  return { row, words, input, chip: row.querySelector(".chip") };
}

// What is written here is kept by model, and by the labels that the file came with: newer ones replace it.
const labelsName = ["labels", data.key, ...(Object.keys(data.labels).length ? [JSON.stringify(data.labels)] : [])].join(" ");

function relabel(k, text) {
  state.labels[k] = text.trim();
  kept.set(labelsName, state.labels);
  changed("labels");
}

let topicKeys;
function drawTopics() {
  const value = COLUMNS.find(([name]) => name === sorting.by)[2];
  const shown = SHOW[$("topic-kind")?.value ?? "all"];
  const order = data.topics.map((_, k) => k).filter((k) => shown(k)).sort((a, b) => (sorting.down ? value(b) - value(a) : value(a) - value(b)) || a - b);
  $("topic-table").replaceChildren(
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, COLUMNS.map(([name, text, by]) =>
      h("th", { scope: "col", role: "columnheader", class: by && name !== "number" ? "number" : null,
                "aria-sort": by ? (sorting.by !== name ? "none" : sorting.down ? "descending" : "ascending") : null },
        by ? h("button", { type: "button", "aria-pressed": String(sorting.by === name), onclick: () => sortBy(name) }, text) : text)))),
    h("tbody", { role: "rowgroup" }, order.map((k) => topicRows[k].row)));
  topicKeys.settle(topicRows[order.includes(state.topic) ? state.topic : order[0]]?.chip);
}

function drawWords() {
  $("relevance-value").textContent = state.relevance.toFixed(1);
  for (let k = 0; k < K; k++) {
    const words = topWords(k).slice(0, 8).flatMap((row, i) => [i ? " · " : null, h("bdi", {}, short(row.word, 40))]);
    topicRows[k].words.replaceChildren(...words.filter((word) => word));
  }
  drawBars();
}

function drawBars() {
  const k = state.topic ?? 0;
  const rows = topWords(k);
  const highest = Math.max(...rows.map((row) => row.p));
  const sure = data.topics[k].low.length > 0;
  // An interval that is very wide would leave no room for the bars: it is cut.
  const most = sure ? Math.min(2 * highest, Math.max(...rows.map((row) => row.high))) : highest;
  const at = (value) => Math.min(100, 100 * value / most);
  $("detail-head").replaceChildren(`Top ${names.words} of ${names.one} ${k}`);
  $("detail-note").textContent = `Bar: probability in the ${names.one}. Mark: in all of them together.`
    + (sure ? ` Line: ${LEVEL} interval.` : "");
  $("bars").className = "bars " + (sure ? "sure " : "") + colour(k);
  $("bars").replaceChildren(...rows.map((row) => h("li", {},
    h("bdi", { class: "name", title: row.word }, row.word),
    h("span", { class: "track" },
      h("span", { class: "fill", style: { width: at(row.p) + "%" } }),
      sure ? h("span", { class: "whisker", style: { left: at(row.low) + "%", width: at(row.high) - at(row.low) + "%" } }) : null,
      h("span", { class: "tick", title: "overall " + digits(row.overall), style: { left: `calc(${at(row.overall)}% - 1px)` } })),
    h("span", { class: "amount" }, h("span", {}, digits(row.p)), sure ? h("span", { class: "note" }, " " + between(row.low, row.high)) : null))));
}

function markTopics() {
  topicRows.forEach(({ row, chip }, k) => {
    row.classList.toggle("chosen-row", k === state.topic);
    chip.setAttribute("aria-pressed", String(k === state.topic));
  });
  if (state.topic !== null && topicRows[state.topic].chip.isConnected) topicKeys.settle(topicRows[state.topic].chip);
  drawBars();
}

function drawSelection() {
  const k = state.topic;
  $("selection").hidden = k === null;
  $("selected").replaceChildren(...(k === null ? [] : [
    h("span", { class: "chip " + colour(k) }, String(k)),
    h("span", { class: "what" }, h("bdi", {}, label(k)), ` — ${percent(data.topics[k].prevalence)} of the ${names.words}, lasts ${runLength(k)}`)]));
}

table("topics", () => ({
  columns: [names.one, "label", "prevalence", "stay", "run_length", ...(hasCoherence ? ["coherence"] : []), ...(hasContrast ? ["contrast"] : []), "top_" + names.words],
  rows: data.topics.map((topic, k) => [k, state.labels[k] || "", topic.prevalence, topic.stay, topic.run,
    ...(hasCoherence ? [topic.coherence] : []), ...(hasContrast ? [topic.contrast] : []), topWords(k).map((row) => row.word).join(" ")]) }));
table("top-" + names.words, () => ({
  columns: [names.one, "rank", names.word, "probability", ...(hasIntervals ? ["low", "high"] : []), "overall", "relevance"],
  rows: data.topics.flatMap((_, k) => topWords(k).map((row, i) => [k, i + 1, row.word, row.p, ...(hasIntervals ? [row.low, row.high] : []),
    row.overall, Number(row.relevance.toFixed(5))])) }));

function startTopics() {
  const before = kept.get(labelsName);
  for (const labels of [data.labels, before && typeof before === "object" ? before : {}]) {
    for (let k = 0; k < K; k++) if (typeof labels[k] === "string") state.labels[k] = labels[k];
  }
  for (let k = 0; k < K; k++) topicRows.push(topicRow(k));
  $("topic-order").append(...COLUMNS.filter(([, , by]) => by).map(([name, text]) => h("option", { value: name }, name === "number" ? "number" : text.toLowerCase())));
  $("topic-order").addEventListener("change", (event) => { sorting.by = null; sortBy(event.target.value); });
  $("topic-kind")?.addEventListener("change", drawTopics);
  topicKeys = roving($("topic-table"), ".chip");
  drawTopics();
  drawWords();
  $("relevance").value = state.relevance;
  $("relevance").addEventListener("input", (event) => { state.relevance = Number(event.target.value); changed("relevance"); });
  const labelled = () => Object.fromEntries(Object.entries(state.labels).filter(([, text]) => text));
  const canSave = () => { $("save-labels").disabled = !Object.keys(labelled()).length; };
  $("save-labels").addEventListener("click", () => save("labels.json", "application/json",
    JSON.stringify({ model: data.key, labels: labelled() }, null, 1) + "\n"));
  canSave();
  watch("labels", canSave);
  watch("relevance", drawWords);
  watch("topic", markTopics);
  watch("topic labels", drawSelection);
  watch("labels", () => topicRows.forEach(({ chip }, k) => chip.setAttribute("aria-label", title(k))));
}
