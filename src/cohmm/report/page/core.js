"use strict";
// The data, what the reader has chosen, and small helpers.  Text becomes text nodes, never markup.

const data = JSON.parse(document.getElementById("data").textContent);
const names = data.names;
const K = data.topics.length;
const $ = (id) => document.getElementById(id);
const capital = (word) => word[0].toUpperCase() + word.slice(1);

const TELLING = 0.5;        // the relevance by which words tell topics apart: cohmm.topics.top_words has it too
const state = {
  topic: null,          // the chosen one, everywhere
  text: 0,              // the document shown, a place in data.texts
  reading: "path",
  relevance: data.kind === "topics" ? TELLING : 1,
  threshold: data.threshold,
  labels: {},
};

const watchers = [];
const watch = (what, draw) => watchers.push([what.split(" "), draw]);
function changed(...what) {
  for (const [wanted, draw] of watchers) if (what.some((name) => wanted.includes(name))) draw();
}
function choose(topic) {
  state.topic = topic === state.topic ? null : topic;
  changed("topic");
}

const SVG = "http://www.w3.org/2000/svg";
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "style") for (const [key, to] of Object.entries(value)) element.style.setProperty(key, to);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}
const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

const colour = (k) => "c" + (k % data.colours);
const strong = (k) => getComputedStyle(document.documentElement).getPropertyValue("--strong" + (k % data.colours)).trim();
const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

const digits = (value, n = 3) => Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en")
  : value && Math.abs(value) < 0.001 ? value.toExponential(1) : String(Number(value.toPrecision(n)));
const percent = (value) => value >= 0.0995 ? (100 * value).toFixed(0) + " %"
  : value >= 0.00095 ? (100 * value).toFixed(1) + " %" : value > 0 ? "< 0.1 %" : "0";
const count = (n, one, many) => n.toLocaleString("en") + " " + (n === 1 ? one : many);
const runLength = (k) => data.topics[k].run === null ? "∞" : digits(data.topics[k].run);

// relevance = l log p(w | k) + (1 - l) log(p(w | k) / p(w))
const SHOWN = 15;
const remembered = new Map();
function topWords(k, l = state.relevance) {
  const key = k + " " + l;
  if (!remembered.has(key)) {
    const { words, probabilities, low, high } = data.topics[k];
    const rows = words.map((w, i) => {
      const p = probabilities[i];
      return { word: data.vocabulary[w], p, low: low[i], high: high[i], overall: data.overall[w],
               relevance: l * Math.log(p) + (1 - l) * Math.log(p / data.overall[w]), i };
    });
    rows.sort((a, b) => b.relevance - a.relevance || a.i - b.i);
    remembered.set(key, rows.slice(0, SHOWN));
  }
  return remembered.get(key);
}
const ownLabel = (k) => topWords(k, TELLING).slice(0, 3).map((row) => row.word).join(", ");
const label = (k) => state.labels[k] || ownLabel(k);
const begin = (text, n) => [...text.slice(0, 2 * n)].slice(0, n).join("");    // whole characters: no half of a pair
const short = (text, n) => begin(text, n) === text ? text : begin(text, n - 1).trimEnd() + "…";
const title = (k) => capital(names.one) + " " + k + " (" + label(k) + ")";

function chip(k, attributes) {
  return h("button", { type: "button", class: "chip " + colour(k), "data-topic": k,
    "aria-pressed": String(state.topic === k), "aria-label": title(k), onclick: () => choose(k), ...attributes }, String(k));
}

// Where one topic ends: which is next.
const follows = data.transitions.map((row, i) => {
  const left = row.reduce((sum, p, j) => sum + (i === j ? 0 : p), 0);
  return row.map((p, j) => i === j || !(left > 0) ? 0 : p / left);
});
const strongestStep = follows.reduce((most, row) => Math.max(most, ...row), 0);

// One tab stop for a list; the arrow keys go through it.
function roving(container, selector, past) {
  const items = () => [...container.querySelectorAll(selector)];
  container.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    const all = items();
    const at = all.indexOf(event.target.closest(selector));
    if (at < 0 || (!step && event.key !== "Home" && event.key !== "End")) return;
    event.preventDefault();
    const to = event.key === "Home" ? 0 : event.key === "End" ? all.length - 1 : at + step;
    if (all[to]) focusOn(all[to]);
    else if (past) past(step);
  });
  const focusOn = (item) => {
    for (const other of items()) other.setAttribute("tabindex", other === item ? "0" : "-1");
    item.focus();
  };
  return {
    settle(current) {
      const all = items();
      const one = current || all[0];
      for (const item of all) item.setAttribute("tabindex", item === one ? "0" : "-1");
    },
    focusOn,
  };
}

// What a browser keeps may be switched off, or be from elsewhere: then the page goes without.
const kept = {
  get(name) { try { return JSON.parse(localStorage.getItem("cohmm " + name)); } catch { return null; } },
  set(name, value) { try { localStorage.setItem("cohmm " + name, JSON.stringify(value)); } catch { /* not kept */ } },
};
