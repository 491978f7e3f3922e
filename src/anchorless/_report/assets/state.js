// Texts come from documents that nobody has checked: they become text nodes and attribute values here, never markup.
const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const topics = data.topics, documents = data.documents, F = topics.length;
const state = { topic: 0, query: "", measure: "probability", view: "map", shown: 10, found: 20 };
const followers = []; // what to do when another topic is chosen

// ---- small things ----
const NS = "http://www.w3.org/2000/svg";
function make(tag, attributes = {}, ...children) { return filled(document.createElement(tag), attributes, children); }
function draw(tag, attributes = {}, ...children) { return filled(document.createElementNS(NS, tag), attributes, children); }
function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}
const missing = (x) => x === null || x === undefined;
const percent = (x, digits = 1) => {
  const least = 10 ** -digits; // a share that is not nothing is not shown as 0.0%
  return missing(x) ? "–" : x > 0 && 100 * x < least / 2 ? `<${least.toFixed(digits)}%` : (100 * x).toFixed(digits) + "%";
};
const decimal = (x) => (missing(x) ? "–" : x.toFixed(2).replace("-", "−"));
const signed = (r) => (missing(r) ? "–" : (r > 0 ? "+" : "") + decimal(r));
const whole = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
const count = (n, noun) => `${whole(n)} ${noun}${n === 1 ? "" : "s"}`;
const shorter = (text, n) => { const c = Array.from(text); return c.length > n ? c.slice(0, n - 1).join("").trimEnd() + "…" : text; };
const name = (f) => topics[f].label || "(no words)";
const title = (f) => `Topic ${topics[f].number}: ${name(f)}`;
const uncertain = (f, g) => data.uncertain.some(([a, b]) => (a === f && b === g) || (a === g && b === f));
const correlation = (f, g) => { const r = data.correlation[Math.max(f, g)][Math.min(f, g)]; return missing(r) ? null : r / 1000; };
const byShare = topics.map((_, f) => f).sort((f, g) => (topics[g].share || 0) - (topics[f].share || 0) || f - g);
const largestShare = Math.max(1e-9, ...topics.map((t) => t.share || 0));
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
function rod(fraction) { const bar = make("span", { class: "rod" }); bar.style.width = 100 * Math.min(1, Math.max(0, fraction || 0)) + "%"; return bar; }
function topicButton(f, text, attributes = {}) { return make("button", { type: "button", dir: "auto", title: title(f), onclick: () => choose(f, true), ...attributes }, text); }

// ---- state: what is chosen stands in the address, so that Back works and a view can be bookmarked ----
function address(topic, query) {
  const parts = new URLSearchParams();
  parts.set("topic", topics[topic].number);
  if (query) parts.set("q", query);
  return "#" + parts;
}
function readAddress() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const asked = parts.has("topic") ? topics.findIndex((t) => String(t.number) === parts.get("topic")) : -1;
  return { topic: asked < 0 ? byShare[0] : asked, query: (parts.get("q") || "").slice(0, 200) };
}
function choose(f, comeAlong = false) {
  location.hash = address(f, state.query);
  if (f !== state.topic) follow();
  if (comeAlong) showChosen();
}
function showChosen() {
  byId("chosen").focus({ preventScroll: true });
  byId("chosen").scrollIntoView({ block: "start", behavior: still() ? "auto" : "smooth" });
}
function follow() {
  const now = readAddress();
  if (now.query !== state.query) { state.query = now.query; byId("query").value = now.query; showResults(); }
  if (now.topic === state.topic && followers.started) return;
  followers.started = true;
  state.topic = now.topic;
  state.shown = 10;
  for (const act of followers) act(state.topic);
  byId("said").textContent = title(state.topic);
}
const neighbour = (step) => byShare[(byShare.indexOf(state.topic) + step + F) % F];

// Arrow keys walk through a group of things of which one is reached by Tab.
function walk(event, items, current) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  const to = event.key === "Home" ? 0 : event.key === "End" ? items.length - 1 : step ? (current + step + items.length) % items.length : -1;
  if (to < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  items[to].focus();
  return to;
}
function pressable(element, f, group) {
  element.addEventListener("click", () => choose(f));
  element.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(f); return; }
    const to = walk(event, group.map((g) => g.element), group.findIndex((g) => g.f === f));
    if (to !== undefined) choose(group[to].f);
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

// ---- which topics go together ----
function related(f) {
  const all = topics.map((_, g) => ({ g, r: correlation(f, g) })).filter(({ g, r }) => g !== f && !missing(r) && Math.abs(r) >= 0.05);
  return [all.filter((x) => x.r > 0).sort((a, b) => b.r - a.r || a.g - b.g).slice(0, 4), all.filter((x) => x.r < 0).sort((a, b) => a.r - b.r || a.g - b.g).slice(0, 4)];
}
function spokenRelations(f) {
  const [withIt, againstIt] = related(f), list = (xs) => xs.map((x) => `${name(x.g)} ${signed(x.r)}`).join("; ");
  return (withIt.length ? `Goes with ${list(withIt)}. ` : "") + (againstIt.length ? `Avoids ${list(againstIt)}.` : "");
}
