// The list of documents, search and filter, and the document that is open.

const PAGE = 8;
const LEAST = 0.05;         // a share from which on a document is said to have a topic
const listing = { page: 0, matches: [], query: "" };
const plainLower = data.texts.map((text) => plain(text).toLocaleLowerCase());
let listKeys;

const shareOf = (text, k) => (text.shares.find(([topic]) => topic === k) || [k, 0])[1];

// A name that is cut loses what many share, such as the folder, and keeps what is its own.
function inTwo(name) {
  const comma = name.lastIndexOf(", ");
  const at = comma >= 0 ? comma + 2 : name.lastIndexOf("/") + 1;
  return at > 0 ? [h("span", {}, name.slice(0, at)), h("span", {}, name.slice(at))] : [h("span", {}, name)];
}

function findTexts() {
  listing.query = $("search").value.trim().toLocaleLowerCase();
  const filter = $("filter").value === "" ? null : Number($("filter").value);
  let found = data.texts.map((_, d) => d);
  if (listing.query) found = found.filter((d) => plainLower[d].includes(listing.query) || data.texts[d].name.toLocaleLowerCase().includes(listing.query));
  if (filter !== null) {
    found = found.filter((d) => shareOf(data.texts[d], filter) >= LEAST);
    found.sort((a, b) => shareOf(data.texts[b], filter) - shareOf(data.texts[a], filter) || a - b);
  }
  listing.matches = found;
  listing.page = 0;
  $("found").textContent = found.length === data.texts.length ? count(found.length, names.text, names.texts)
    : `${found.length.toLocaleString("en")} of ${count(data.texts.length, names.text, names.texts)}`;
  drawList();
  markHits();
  if (found.length && !found.includes(state.text)) openText(found[0]);
}

function drawList() {
  const pages = Math.max(1, Math.ceil(listing.matches.length / PAGE));
  listing.page = Math.min(pages - 1, Math.max(0, listing.page));
  const shown = listing.matches.slice(listing.page * PAGE, (listing.page + 1) * PAGE);
  $("document-list").replaceChildren(...shown.map((d) => {
    const text = data.texts[d];
    const ribbon = h("span", { class: "ribbon thin" });
    writeRibbon(ribbon, topicsOf(text), true);
    ribbon.setAttribute("aria-hidden", "true");
    return h("li", {}, h("button", { type: "button", "data-text": d, "aria-current": String(d === state.text), onclick: () => openText(d) },
      h("span", { class: "row" }, h("bdi", { title: text.name }, inTwo(text.name)), h("span", { class: "note" }, text.length.toLocaleString("en"))),
      ribbon, h("bdi", { class: "opening" }, begin(plain(text), 70).replace(/\s+/g, " "))));
  }));
  $("page").textContent = `${listing.page + 1} of ${pages}`;
  $("previous").disabled = listing.page === 0;
  $("next").disabled = listing.page >= pages - 1;
  listKeys.settle($("document-list").querySelector('[aria-current="true"]'));
}

function turn(step, focus) {
  const before = listing.page;
  listing.page += step;
  drawList();
  const items = $("document-list").querySelectorAll("button");
  if (focus && listing.page !== before) listKeys.focusOn(items[step > 0 ? 0 : items.length - 1]);
}

function openText(d) {
  state.text = d;
  changed("text");
}

function drawDocument() {
  const text = data.texts[state.text];
  for (const item of $("document-list").querySelectorAll("button")) {
    item.setAttribute("aria-current", String(Number(item.dataset.text) === state.text));
  }
  const topics = topicsOf(text);
  $("document-name").replaceChildren(h("bdi", {}, text.name));
  $("document-note").textContent = count(text.length, names.word, names.words)
    + (text.words.length < text.length ? `, of which the first ${text.words.length.toLocaleString("en")} are shown` : "")
    + `; ${count(runsOf(topics).length, "segment", "segments")}, ${digits(meanRun(topics))} ${names.words} each on average`;
  writeRibbon($("ribbon"), topics);
  writeText($("text"), text, topics, surenessOf(text));
  $("text").scrollTop = 0;
  wordAt = null;
  sayWord(null);
  markHits();
  drawShares(text);
  drawSteps(topics);
}

function markHits() {
  for (const word of $("text").querySelectorAll(".w")) {
    word.classList.toggle("hit", Boolean(listing.query) && word.textContent.toLocaleLowerCase().includes(listing.query));
  }
}

function drawShares(text) {
  const chosen = text.shares.slice(0, 8);
  if (state.topic !== null && !chosen.some(([k]) => k === state.topic)) chosen.push([state.topic, shareOf(text, state.topic)]);
  const most = Math.max(0.01, ...chosen.map(([k, share]) => Math.max(share, data.topics[k].prevalence)));
  $("shares").replaceChildren(...chosen.map(([k, share]) => h("li", { class: colour(k) },
    h("span", { class: "name" }, h("span", { class: "chip" }, String(k)), " ", h("bdi", {}, short(label(k), 14))),
    h("span", { class: "track" }, h("span", { class: "fill", style: { width: 100 * share / most + "%" } }),
      h("span", { class: "tick", title: "all: " + percent(data.topics[k].prevalence), style: { left: `calc(${100 * data.topics[k].prevalence / most}% - 1px)` } })),
    h("span", { class: "amount" }, percent(share)))));
}

function drawSteps(topics) {
  const counts = new Map(), left = new Map();
  topics.forEach((j, at) => {
    const i = topics[at - 1];
    if (!at || i === j) return;
    counts.set(i + " " + j, (counts.get(i + " " + j) || 0) + 1);
    left.set(i, (left.get(i) || 0) + 1);
  });
  const rows = [...counts].map(([key, n]) => [...key.split(" ").map(Number), n]).sort((a, b) => b[2] - a[2] || a[0] - b[0] || a[1] - b[1]);
  $("steps").replaceChildren(
    rows.length ? head([["From"], ["To"], ["Times", true], ["Here", true], ["All", true]])
      : h("caption", { class: "note" }, `It stays with one ${names.one}.`),
    h("tbody", {}, rows.slice(0, 7).map(([i, j, n]) => h("tr", {},
      h("td", {}, h("span", { class: "chip " + colour(i), title: label(i) }, String(i))),
      h("td", {}, h("span", { class: "chip " + colour(j), title: label(j) }, String(j))),
      h("td", { class: "number" }, String(n)),
      h("td", { class: "number" }, percent(n / left.get(i))),
      h("td", { class: "number" }, percent(follows[i][j]))))));
}

let wordAt = null;
function sayWord(i) {
  const text = data.texts[state.text];
  for (const word of $("text").querySelectorAll(".cursor")) word.classList.remove("cursor");
  if (i === null) {
    $("word").textContent = `Point at a ${names.word} to see how sure its ${names.one} is.`;
    return;
  }
  const word = $("text").querySelector(`.w[data-i="${i}"]`);
  word.classList.add("cursor");
  const path = text.path[i], best = text.best[i];
  $("word").replaceChildren(h("bdi", {}, short(word.textContent, 60)), `: ${names.one} ${path} (${label(path)}) on the best path, ${text.path_p[i]} % sure`
    + (best === path ? "" : `; by itself ${best} (${label(best)}), ${text.best_p[i]} %`)
    + (text.bag[i] === topicsOf(text)[i] ? "." : `; without order ${text.bag[i]} (${label(text.bag[i])}).`));
}

function startDocuments() {
  listKeys = roving($("document-list"), "button", (step) => turn(step, true));
  const filter = $("filter");
  const options = () => filter.replaceChildren(h("option", { value: "" }, "any"),
    ...data.topics.map((_, k) => h("option", { value: k }, `${k} – ${short(label(k), 40)}`)));
  options();
  for (const [id, event] of [["search", "input"], ["filter", "change"]]) $(id).addEventListener(event, findTexts);
  $("previous").addEventListener("click", () => turn(-1));
  $("next").addEventListener("click", () => turn(1));
  for (const radio of document.querySelectorAll('input[name="reading"]')) {
    radio.addEventListener("change", () => { state.reading = radio.value; changed("reading"); });
  }
  $("text").addEventListener("pointerover", (event) => {
    const word = event.target.closest(".w");
    if (word) { wordAt = Number(word.dataset.i); sayWord(wordAt); }
  });
  for (const id of ["text", "text-with", "text-without"]) {
    $(id).addEventListener("click", (event) => {
      const word = event.target.closest(".w");
      if (word) choose(Number(word.dataset.topic));
    });
  }
  $("text").addEventListener("keydown", (event) => {
    const n = data.texts[state.text].path.length;
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step && n) {
      wordAt = wordAt === null ? 0 : Math.min(n - 1, Math.max(0, wordAt + step));
      sayWord(wordAt);
      $("text").querySelector(".cursor").scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter" && wordAt !== null) choose(topicsOf(data.texts[state.text])[wordAt]);
    else return;
    event.preventDefault();
  });
  table(names.texts, () => ({ columns: [names.text, "name", names.words, ...data.topics.map((_, k) => "share_" + k)],
    rows: data.texts.map((text) => [text.number, text.name, text.length, ...data.topics.map((_, k) => shareOf(text, k))]) }));
  table(names.words, () => {
    const text = data.texts[state.text];
    return { columns: ["position", names.word, "path", "path_percent", "posterior", "posterior_percent", "without_order"],
      rows: piecesOf(text).words.map(([, word], i) => [i, word, text.path[i], text.path_p[i], text.best[i], text.best_p[i], text.bag[i]]) };
  });
  table("shares", () => ({ columns: [names.one, "share", "prevalence"],
    rows: data.topics.map((topic, k) => [k, shareOf(data.texts[state.text], k), topic.prevalence]) }));
  findTexts();
  drawDocument();
  watch("text reading", drawDocument);
  watch("reading", drawList);
  watch("labels", () => { const value = filter.value; options(); filter.value = value; });
  watch("topic labels", () => { markText($("text")); markRibbon($("ribbon")); drawShares(data.texts[state.text]); });
}
