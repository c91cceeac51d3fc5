// A text with a colour for every word, and the ribbon above it.

const topicsOf = (text) => state.reading === "path" ? text.path : text.best;
const surenessOf = (text) => state.reading === "path" ? text.path_p : text.best_p;

function runsOf(topics) {
  const runs = [];
  topics.forEach((k, i) => {
    if (i && topics[i - 1] === k) runs[runs.length - 1].n += 1;
    else runs.push({ k, at: i, n: 1 });
  });
  return runs;
}
const meanRun = (topics) => topics.length ? topics.length / runsOf(topics).length : 0;

// The words as they were written, each with what stands before it; and what stands behind the last.
function piecesOf(text) {
  if (text.text === null) {
    return { words: text.words.map((w, i) => [i ? " " : "", w < 0 ? null : data.vocabulary[w]]), rest: "" };
  }
  const words = [];
  let at = 0;
  for (let i = 0; i < text.spans.length; i += 2) {
    const begin = at + text.spans[i];
    words.push([text.text.slice(at, begin), text.text.slice(begin, begin + text.spans[i + 1])]);
    at = begin + text.spans[i + 1];
  }
  return { words, rest: text.text.slice(at) };
}
const plain = (text) => text.text !== null ? text.text : piecesOf(text).words.map(([gap, word]) => gap + (word ?? "")).join("");

function writeText(place, text, topics, sureness, mark) {
  const { words, rest } = piecesOf(text);
  const parts = [];
  words.forEach(([gap, word], i) => {
    if (gap) parts.push(gap);
    if (!i || topics[i - 1] !== topics[i]) parts.push(h("sup", {}, String(topics[i])));
    parts.push(h("span", { class: `w ${colour(topics[i])}${mark && mark(i) ? " changed" : ""}${word === null ? " missing" : ""}`,
      "data-i": i, "data-topic": topics[i], style: { "--p": (sureness ? 15 + 0.85 * sureness[i] : 100) + "%" } }, word ?? "–"));
  });
  if (rest) parts.push(rest);
  if (text.words.length < text.length) parts.push(" …");
  if (!words.length) parts.push(h("span", { class: "note" }, `\nThis ${names.text} has no ${names.word} that the model knows.`));
  // In one piece: a place with dir="auto" looks for its direction anew with every node that it gets.
  place.replaceChildren(h("span", {}, parts));
  markText(place);
}

function markText(place) {
  for (const word of place.querySelectorAll(".w")) {
    word.classList.toggle("off", state.topic !== null && Number(word.dataset.topic) !== state.topic);
  }
}

function writeRibbon(place, topics, thin) {
  const runs = runsOf(topics);
  place.setAttribute("role", "img");
  place.setAttribute("aria-label", runs.length ? count(runs.length, "segment", "segments") : "no segment");
  place.replaceChildren(...runs.map(({ k, n, at }) => h("span", { class: colour(k), "data-topic": k, "data-at": at, style: { "flex-grow": n },
    title: thin ? null : `${title(k)}, ${count(n, names.word, names.words)}`, onclick: thin ? null : () => choose(k) },
    !thin && n / topics.length > 0.035 ? String(k) : null)));
  markRibbon(place);
}
function markRibbon(place) {
  for (const run of place.children) run.classList.toggle("off", state.topic !== null && Number(run.dataset.topic) !== state.topic);
}
