// The same document with and without the order of its words.

const changesOf = (text) => topicsOf(text).filter((k, i) => k !== text.bag[i]).length;

function drawOrder() {
  const text = data.texts[state.text];
  const topics = topicsOf(text);
  const mark = (i) => topics[i] !== text.bag[i];
  writeRibbon($("ribbon-with"), topics);
  writeRibbon($("ribbon-without"), text.bag);
  writeText($("text-with"), text, topics, null, mark);
  writeText($("text-without"), text, text.bag, null, mark);
  const all = data.texts.map((one) => [one.bag.length, changesOf(one), runsOf(topicsOf(one)).length, runsOf(one.bag).length]);
  const sums = all.reduce((sum, row) => sum.map((value, i) => value + row[i]), [0, 0, 0, 0]);
  const row = (name, [n, changes, runs, bagRuns]) => h("tr", {}, h("th", { scope: "row" }, h("bdi", {}, name)),
    h("td", { class: "number" }, n ? percent(changes / n) : "–"),
    h("td", { class: "number" }, runs ? digits(n / runs) : "–"),
    h("td", { class: "number" }, bagRuns ? digits(n / bagRuns) : "–"));
  $("order-table").replaceChildren(
    head([[""], [`${capital(names.words)} that change`, true], ["Mean run with order", true], ["without", true]]),
    h("tbody", {}, row(text.name, all[state.text]), row(`All ${names.texts} shown`, sums)));
}

// From the document that changes most to the one that changes least; very short ones say little.
let ranking = null;
function showMostChanged() {
  if (!ranking) {
    const share = (d) => changesOf(data.texts[d]) / data.texts[d].bag.length;
    const long = data.texts.map((_, d) => d).filter((d) => data.texts[d].bag.length >= 10);
    ranking = { order: long.sort((a, b) => share(b) - share(a) || a - b), at: -1 };
  }
  if (!ranking.order.length) return;
  ranking.at = (ranking.at + 1) % ranking.order.length;
  openText(ranking.order[ranking.at]);
  $("most-changed").textContent = `Show the next ${names.text} by change`;
}

table("order", () => ({ columns: [names.text, "name", names.words, "changed", "mean_run_with_order", "mean_run_without"],
  rows: data.texts.map((text) => [text.number, text.name, text.bag.length, changesOf(text),
    Number(meanRun(topicsOf(text)).toFixed(4)), Number(meanRun(text.bag).toFixed(4))]) }));

function startOrder() {
  $("most-changed").addEventListener("click", showMostChanged);
  drawOrder();
  watch("text reading", drawOrder);
  watch("reading", () => { ranking = null; });
  watch("topic", () => {
    for (const id of ["text-with", "text-without"]) markText($(id));
    for (const id of ["ribbon-with", "ribbon-without"]) markRibbon($(id));
  });
}
