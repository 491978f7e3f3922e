// Texts are untrusted: they become text nodes and attribute values, never markup.
const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const topics = data.topics, documents = data.documents, F = topics.length;
const state = { topic: 0, document: null, query: "", measure: "relevance", view: "map", shown: 10, found: 20 };
const LEAST_ASSOCIATION = 0.01; // weaker ones are not listed
const MEASURES = { probability: 1, relevance: 2, distinctiveness: 3 }; // positions in an entry of a topic's words
const listeners = []; // called with the topic whenever another one is chosen

// ---- elements and formats ----
const NS = "http://www.w3.org/2000/svg";
function make(tag, attributes = {}, ...children) { return fill(document.createElement(tag), attributes, children); }
function draw(tag, attributes = {}, ...children) { return fill(document.createElementNS(NS, tag), attributes, children); }
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}
const isMissing = (x) => x === null || x === undefined;
const formatPercent = (x, digits = 1) => {
  const least = 10 ** -digits; // a positive share is never shown as 0.0%
  return isMissing(x) ? "–" : x > 0 && 100 * x < least / 2 ? `<${least.toFixed(digits)}%` : (100 * x).toFixed(digits) + "%";
};
const formatDecimal = (x) => (isMissing(x) ? "–" : x.toFixed(2).replace("-", "−"));
const formatSigned = (r) => (isMissing(r) ? "–" : (r > 0 ? "+" : "") + formatDecimal(r));
const formatWhole = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
const formatCount = (n, noun) => `${formatWhole(n)} ${noun}${n === 1 ? "" : "s"}`;
// A shortened text ends at a word if one ends in its second half.
const shorten = (text, n) => {
  const c = Array.from(text);
  if (c.length <= n) return text;
  const start = c.slice(0, n - 1).join(""), end = start.search(/\s\S*$/u);
  return (c[n - 1].trim() && end > start.length / 2 ? start.slice(0, end) : start).replace(/[\s,;:]+$/u, "") + "…";
};
const getLabel = (f) => topics[f].label || "(no words)";
// The broadest group of each topic, −1 for none. Seven colors can be told apart; further groups repeat them.
const groupOf = topics.map(() => -1), N_COLORS = 7;
data.groups.forEach((group, i) => group.topics.forEach((f) => { groupOf[f] = i; }));
const highlighters = []; // called with the group that is pointed at, or null
function highlightGroup(i) { for (const act of highlighters) act(i); }
function pointAtGroup(element, i) {
  for (const [event, shown] of [["pointerenter", i], ["focus", i], ["pointerleave", null], ["blur", null]]) element.addEventListener(event, () => highlightGroup(shown));
  return element;
}
function makeSwatch(i) { const swatch = make("i", { class: "swatch", "aria-hidden": "true" }); swatch.style.background = `var(--c${i % N_COLORS})`; return swatch; }
function makeLegend() {
  return make("ul", { class: "legend", "aria-label": "Groups of topics" }, ...data.groups.map((group, i) => {
    const largest = [...group.topics].sort((f, g) => (topics[g].share || 0) - (topics[f].share || 0) || f - g)[0];
    const name = `${group.label}: ${formatCount(group.topics.length, "topic")}, ${formatPercent(group.share)} of the text`;
    return make("li", {}, pointAtGroup(make("button", { type: "button", dir: "auto", title: name, "aria-label": `Group ${name}`, onclick: () => chooseTopic(largest) }, makeSwatch(i), shorten(group.label, 34)), i));
  }));
}
const getTitle = (f) => `Topic ${topics[f].number}: ${getLabel(f)}`;
const uncertain = new Set(data.uncertain.map(([f, g]) => Math.min(f, g) * F + Math.max(f, g)));
const isUncertain = (f, g) => uncertain.has(Math.min(f, g) * F + Math.max(f, g));
const getAssociation = (f, g) => { const r = data.association[Math.max(f, g)][Math.min(f, g)]; return isMissing(r) ? null : r / 10000; };
// Not Math.max(...values): hundreds of topics have more pairs than a call may have arguments.
const strongestAssociation = data.association.reduce((most, row) => row.reduce((a, r) => Math.max(a, Math.abs(r || 0) / 10000), most), 1e-4);
const byShare = topics.map((_, f) => f).sort((f, g) => (topics[g].share || 0) - (topics[f].share || 0) || f - g);
const largestShare = Math.max(1e-9, ...topics.map((t) => t.share || 0));
const prefersReducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
function makeBar(fraction) { const bar = make("span", { class: "hbar" }); bar.style.width = 100 * Math.min(1, Math.max(0, fraction || 0)) + "%"; return bar; }
function makeTopicButton(f, text, attributes = {}) { return make("button", { type: "button", dir: "auto", title: getTitle(f), onclick: () => chooseTopic(f, true), ...attributes }, text); }

// ---- state: the chosen topic and the query are in the URL, so that Back works and a view can be bookmarked ----
function buildHash(topic, query, selected = state.document) {
  const parts = new URLSearchParams();
  parts.set("topic", topics[topic].number);
  if (selected !== null) parts.set("document", selected);
  if (query) parts.set("q", query);
  return "#" + parts;
}
function readHash() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const asked = parts.has("topic") ? topics.findIndex((t) => String(t.number) === parts.get("topic")) : -1;
  const selected = /^\d{1,7}$/.test(parts.get("document") || "") ? Number(parts.get("document")) : null;
  return { topic: asked < 0 ? byShare[0] : asked, document: selected !== null && selected < documents.topics.length ? selected : null, query: (parts.get("q") || "").slice(0, 200) };
}
function chooseTopic(f, scroll = false) {
  location.hash = buildHash(f, state.query, null);
  if (f !== state.topic || state.document !== null) applyHash();
  if (scroll) scrollToChosen();
}
// A document is selected together with its leading topic.
function chooseDocument(d, scroll = false) {
  location.hash = buildHash(documents.topics[d].length ? documents.topics[d][0] : state.topic, state.query, d);
  applyHash();
  byId("announcement").textContent = `Document ${documents.id[d] || d + 1}`;
  if (scroll) byId("atlas").scrollIntoView({ block: "start", behavior: prefersReducedMotion() ? "auto" : "smooth" });
}
function scrollToChosen() {
  byId("chosen").focus({ preventScroll: true });
  byId("chosen").scrollIntoView({ block: "start", behavior: prefersReducedMotion() ? "auto" : "smooth" });
}
function applyHash() {
  const now = readHash();
  if (now.query !== state.query) { state.query = now.query; byId("query").value = now.query; showResults(); }
  const isSame = now.topic === state.topic && now.document === state.document;
  if (isSame && listeners.started) return;
  state.document = now.document;
  listeners.started = true;
  state.topic = now.topic;
  state.shown = 10;
  for (const act of listeners) act(state.topic);
  byId("announcement").textContent = getTitle(state.topic);
}
const getNeighbor = (step) => byShare[(byShare.indexOf(state.topic) + step + F) % F];

// Move the focus with the arrow keys within a group of elements; Tab reaches one of them.
function moveFocus(event, items, current, choose = () => {}) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  const to = event.key === "Home" ? 0 : event.key === "End" ? items.length - 1 : step ? (current + step + items.length) % items.length : -1;
  if (to < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  choose(to); // first: a part of the map that is out of view would make the page scroll
  items[to].focus();
}
function makePressable(element, f, group) {
  element.addEventListener("click", () => chooseTopic(f));
  element.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); chooseTopic(f); return; }
    moveFocus(event, group.map((g) => g.element), group.findIndex((g) => g.f === f), (to) => chooseTopic(group[to].f));
  });
  group.push({ f, element });
}
function markGroup(group, chosen) {
  for (const { f, element } of group) {
    element.classList.toggle("on", f === chosen);
    element.setAttribute("tabindex", f === chosen ? 0 : -1);
    element.setAttribute("aria-pressed", f === chosen);
  }
}

// ---- associated topics ----
function findAssociated(f) {
  const all = topics.map((_, g) => ({ g, r: getAssociation(f, g) })).filter(({ g, r }) => g !== f && !isMissing(r) && Math.abs(r) >= LEAST_ASSOCIATION);
  return [all.filter((x) => x.r > 0).sort((a, b) => b.r - a.r || a.g - b.g).slice(0, 4), all.filter((x) => x.r < 0).sort((a, b) => a.r - b.r || a.g - b.g).slice(0, 4)];
}
function describeAssociated(f) {
  const [positive, negative] = findAssociated(f), list = (xs) => xs.map((x) => `${getLabel(x.g)} ${formatSigned(x.r)}`).join("; ");
  return (positive.length ? `Often together with ${list(positive)}. ` : "") + (negative.length ? `Rarely together with ${list(negative)}.` : "");
}
