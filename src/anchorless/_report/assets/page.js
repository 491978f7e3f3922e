// ---- the chosen topic ----
function showTopic(f) {
  const t = topics[f], rank = byShare.indexOf(f) + 1;
  byId("now").textContent = `${t.number} · ${getLabel(f)}`;
  byId("chosen-kicker").textContent = `Topic ${t.number}, rank ${rank} of ${F} by share${t.junk ? ` · looks like ${t.junk}, not like a subject` : ""}`;
  byId("chosen-heading").textContent = getLabel(f);
  byId("chosen-note").textContent = t.note;
  byId("chosen-note").hidden = !t.note;
  const figures = [["share of all text", formatPercent(t.share)], ["coherence", formatDecimal(t.coherence)], ["exclusivity", formatDecimal(t.exclusivity)]];
  byId("chosen-figures").replaceChildren(...figures.map(([term, value]) => make("div", {}, make("dt", {}, term), make("dd", {}, value))));
  showWords();
  const [positive, negative] = findAssociated(f);
  const list = (heading, items, kind, none) => make("div", {}, make("h3", {}, heading), items.length
    ? make("ul", {}, ...items.map(({ g, r }) => make("li", {}, make("span", { class: `r ${kind}` }, formatSigned(r)), makeTopicButton(g, getLabel(g), { class: "link" }))))
    : make("p", { class: "note" }, none));
  byId("related").replaceChildren(list("Often together", positive, "positive-text", `No association of ${formatDecimal(LEAST_ASSOCIATION)} or more.`), list("Rarely together", negative, "negative-text", `No association of ${formatDecimal(-LEAST_ASSOCIATION)} or less.`), make("p", { class: "note" }, "Together in the same documents more or less often than their sizes explain (association)."));
}
function sortWords(words) {
  const at = MEASURES[state.measure];
  return words.map((w, i) => [w, i]).sort(([a, i], [b, j]) => (b[at] || 0) - (a[at] || 0) || i - j).map(([w]) => w);
}
const getBarLength = (word, largest) => (word[MEASURES[state.measure]] || 0) / largest;
const getLongestBar = (f) => (state.measure === "distinctiveness" ? 1 : Math.max(1e-12, ...topics[f].words.map((w) => w[MEASURES[state.measure]] || 0)));
const MEASURE_NOTES = {
  relevance: "By relevance: the word’s probability in the topic where rare words count more. It chooses the words of the list.",
  probability: "The share of the topic’s tokens that are this word.",
  distinctiveness: "The word’s relevance in this topic, divided by the sum of its relevances in all topics.",
};
function showWords() {
  const largest = getLongestBar(state.topic), by = state.measure;
  const heading = make("tr", {}, make("th", { scope: "col" }, "word"), make("th", { scope: "col" }, make("span", { class: "sr" }, by)), make("th", { scope: "col" }, "probability"), make("th", { scope: "col" }, "distinctive"));
  const rows = sortWords(topics[state.topic].words).slice(0, 20).map((w) => make("tr", {},
    make("td", { dir: "auto" }, make("button", { type: "button", class: "word", title: `Search for ${w[0]}`, onclick: () => searchFor(w[0]) }, w[0])),
    make("td", { "aria-hidden": "true" }, makeBar(getBarLength(w, largest))),
    make("td", { class: by === "probability" && "on" }, formatPercent(w[MEASURES.probability], 2)), make("td", { class: by === "distinctiveness" && "on" }, formatPercent(w[MEASURES.distinctiveness], 0))));
  byId("words").replaceChildren(make("thead", {}, heading), make("tbody", {}, ...rows));
  byId("measure-note").textContent = !rows.length ? "This topic has no words."
    : MEASURE_NOTES[by];
}

// ---- documents ----
const decodeMixture = (d) => { const m = documents.topics[d], out = []; for (let i = 0; i < m.length; i += 2) out.push([m[i], (m[i + 1] || 0) / 1000]); return out; };
function listDocuments(f) {
  const best = new Set(topics[f].documents), rest = [];
  documents.topics.forEach((m, d) => { for (let i = 0; i < m.length; i += 2) if (m[i] === f && m[i + 1] > 0 && !best.has(d)) rest.push([d, m[i + 1]]); });
  rest.sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  return [...best, ...rest.map(([d]) => d)];
}
function makeDocumentItem(d, marks = []) {
  const parts = decodeMixture(d), bar = make("div", { class: "mixture", "aria-hidden": "true" });
  for (const [f, share] of parts) { const piece = make("i", { class: f === state.topic && "on" }); piece.style.width = 100 * Math.min(1, Math.max(0, share)) + "%"; bar.append(piece); }
  const about = [documents.label[d], documents.date[d]].filter(Boolean).map((x) => make("span", { dir: "auto" }, x));
  if (isPlaced(d) && d !== state.document) about.push(make("button", { type: "button", class: "link show-on-map", onclick: () => chooseDocument(d, true) }, "On the map"));
  const text = make("p", { class: "text", dir: "auto" }, ...markMatches(documents.text[d], marks)), whole = documents.whole?.[d];
  if (whole) {
    const button = make("button", { type: "button", class: "link whole-text", "aria-expanded": "false" }, "Whole text");
    button.addEventListener("click", () => {
      const open = button.getAttribute("aria-expanded") === "false";
      button.setAttribute("aria-expanded", open);
      button.textContent = open ? "Beginning only" : "Whole text";
      text.replaceChildren(...markMatches(open ? whole : documents.text[d], marks));
    });
    about.push(button);
  }
  return make("li", {}, make("div", { class: "id" }, make("b", { dir: "auto" }, ...markMatches(documents.id[d], marks)), ...about),
    text, bar,
    make("div", { class: "chips" }, ...parts.map(([f, share]) => makeTopicButton(f, `${formatPercent(share, 0)} ${shorten(getLabel(f), 32)}`, { class: f === state.topic && "on" }))));
}
function showDocuments() {
  const all = listDocuments(state.topic), list = byId("document-list");
  byId("documents-note").textContent = !all.length ? (documents.id.length ? "No document on this page contains this topic." : "This page has no documents.")
    : `${formatCount(all.length, "document")} on this page ${all.length === 1 ? "contains" : "contain"} “${getLabel(state.topic)}”, the most representative first. Bars and percentages show the largest topics of a document, with their shares of it; the chosen topic is blue.`;
  list.replaceChildren(...all.slice(0, state.shown).map((d) => makeDocumentItem(d)));
  byId("more").hidden = all.length <= state.shown;
}

// ---- search ----
const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
let haystack = null, wordIndex = null;
function buildIndex() {
  if (haystack) return;
  haystack = documents.text.map((text, d) => fold(`${documents.id[d]}\n${text}\n${documents.label[d] || ""}`));
  const seen = new Map();
  topics.forEach((t, f) => t.words.forEach((w) => { if (!seen.has(w[0])) seen.set(w[0], []); seen.get(w[0]).push([f, w[MEASURES.relevance] || 0]); }));
  wordIndex = [...seen].map(([word, where]) => ({ word, fold: fold(word), where: where.sort((a, b) => b[1] - a[1] || a[0] - b[0]) }));
}
const getTerms = () => fold(state.query).split(/\s+/).filter(Boolean);
function markMatches(text, needles) {
  if (!needles.length) return [text];
  let plain = "";
  const from = [];
  let at = 0;
  for (const c of text) { const piece = fold(c); for (let i = 0; i < piece.length; i++) from.push(at); plain += piece; at += c.length; }
  from.push(at);
  const hits = [];
  for (const needle of needles) for (let i = plain.indexOf(needle); i >= 0; i = plain.indexOf(needle, i + needle.length)) hits.push([from[i], from[i + needle.length - 1]]);
  hits.sort((a, b) => a[0] - b[0]);
  const out = [];
  let done = 0;
  for (const [start, last] of hits) {
    const stop = last + String.fromCodePoint(text.codePointAt(last)).length;
    if (start < done) continue;
    out.push(text.slice(done, start), make("mark", {}, text.slice(start, stop)));
    done = stop;
  }
  return [...out, text.slice(done)];
}
function findWords(needles) {
  const rank = (w) => Math.min(...needles.map((n) => (w.fold === n ? 0 : w.fold.startsWith(n) ? 1 : w.fold.includes(n) ? 2 : 9)));
  return wordIndex.map((w) => [rank(w), w]).filter(([r]) => r < 9).sort(([r, a], [s, b]) => r - s || b.where[0][1] - a.where[0][1] || (a.word < b.word ? -1 : 1)).map(([, w]) => w);
}
function showResults() {
  const needles = getTerms(), panel = byId("results");
  panel.hidden = !needles.length;
  if (!needles.length) { panel.replaceChildren(); return; }
  buildIndex();
  const words = findWords(needles), hits = [];
  haystack.forEach((text, d) => { if (needles.every((n) => text.includes(n))) hits.push(d); });
  const wordItem = (w) => make("li", {}, make("b", { dir: "auto" }, ...markMatches(w.word, needles)), " ", make("span", { class: "where" }, "in "),
    ...w.where.slice(0, 3).flatMap(([f], i) => [i ? ", " : "", makeTopicButton(f, `${topics[f].number} ${shorten(getLabel(f), 26)}`, { class: "link where" })]));
  const summary = `${formatCount(words.length, "word")} and ${formatCount(hits.length, "document")}`;
  const here = documents.topics.length, part = here < data.n_documents ? `${formatWhole(here)} of ${formatCount(data.n_documents, "document")} are on this page; the others are not searched. ` : "";
  panel.replaceChildren(make("h2", {}, "Found ", summary), make("p", { class: "note" }, `Searched are the leading words of all topics and, of the documents on this page, names, labels and the texts that the page shows. ${part}`),
    make("h3", {}, "Leading words"), words.length ? make("ul", { class: "found" }, ...words.slice(0, 18).map(wordItem)) : make("p", { class: "note" }, "No leading word of a topic matches."),
    make("h3", {}, "Documents"), hits.length ? make("ol", { class: "documents" }, ...hits.slice(0, state.found).map((d) => makeDocumentItem(d, needles))) : make("p", { class: "note" }, "No document on this page matches."));
  if (hits.length > state.found) panel.append(make("button", { type: "button", class: "more", onclick: () => { state.found += 40; showResults(); } }, `Show more of ${formatWhole(hits.length)}`));
  byId("announcement").textContent = `Found ${summary}`;
}
function searchFor(text) {
  byId("query").value = text;
  updateQuery();
  byId("query").focus({ preventScroll: true });
  byId("results").scrollIntoView({ block: "start", behavior: prefersReducedMotion() ? "auto" : "smooth" });
}
function updateQuery() {
  state.query = byId("query").value;
  state.found = 20;
  try { history.replaceState(null, "", buildHash(state.topic, state.query)); } catch { /* some viewers forbid it; the search works without it */ }
  showResults();
}

// ---- labels ----
function drawLabels() {
  const { names, values, counts } = data.labels, columnTopics = [...largestTopics], highest = Math.max(1e-9, ...values.map((row) => Math.max(...row.map((v) => v || 0))));
  const columns = columnTopics.map((f) => make("th", { scope: "col" }, make("button", { type: "button", title: getTitle(f), "aria-label": getTitle(f), onclick: () => chooseTopic(f) }, String(topics[f].number))));
  const cells = columnTopics.map(() => []);
  const rows = names.map((label, i) => make("tr", {}, make("th", { scope: "row", dir: "auto" }, label || "(none)", " ", make("span", { class: "n" }, formatWhole(counts[i]))), ...columnTopics.map((f, j) => {
    const v = values[i][f], cell = make("td", { title: `${label}: ${formatPercent(v)}${formatInterval(data.labels, i, f)} ${getLabel(f)}`, onclick: () => chooseTopic(f) }, isMissing(v) ? "–" : v < 0.005 ? "" : formatPercent(v, 0).slice(0, -1));
    if (!isMissing(v)) cell.style.backgroundColor = `color-mix(in srgb, var(--accent) ${Math.round(45 * Math.max(0, v / highest))}%, transparent)`;
    cells[j].push(cell);
    return cell;
  })));
  byId("label-table").replaceChildren(make("table", { class: "heat" }, make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "label, number of documents"), ...columns)), make("tbody", {}, ...rows)));
  return (f) => {
    const chosen = columnTopics.indexOf(f);
    columns.forEach((th, j) => th.classList.toggle("on", j === chosen));
    cells.forEach((column, j) => column.forEach((td) => td.classList.toggle("on", j === chosen)));
    const ranked = names.map((_, i) => i).sort((a, b) => (values[b][f] || 0) - (values[a][f] || 0) || a - b).slice(0, 8);
    const largest = Math.max(1e-9, ...ranked.map((i) => values[i][f] || 0));
    byId("label-bars").replaceChildren(...ranked.map((i) => make("div", {}, make("span", { dir: "auto" }, names[i] || "(none)"), makeBar((values[i][f] || 0) / largest), make("span", {}, `${formatPercent(values[i][f])}${formatInterval(data.labels, i, f)}`))));
    byId("labels-note").textContent = `Mean share of “${getLabel(f)}” in the documents of each label.${data.labels.low ? " " + INTERVALS_NOTE : ""} The table shows the mean shares of ${data.crowded ? `the ${columnTopics.length} largest` : "all"} topics, in percent, by the number of the topic; cells below 0.5% are empty.`;
  };
}

// ---- cards: of many topics, those that are asked for are made, so that the page opens at once ----
const CARDS_STEP = 48;
function drawCards() {
  let group = [], count = data.crowded ? CARDS_STEP : F;
  const makeCard = (f) => {
    const t = topics[f], list = make("ol");
    const button = make("button", { type: "button", dir: "auto" }, getLabel(f));
    button.addEventListener("click", () => chooseTopic(f, true));
    button.addEventListener("keydown", (event) => moveFocus(event, group.map((g) => g.button), group.findIndex((g) => g.f === f)));
    const card = make("article", { class: "card" }, make("h3", {}, make("span", { class: "digit" }, String(t.number)), button), make("p", { class: "share-line" }, `${formatPercent(t.share)} of the text${t.junk ? ` · looks like ${t.junk}` : ""}`), list);
    return { f, button, card, list };
  };
  const words = () => {
    for (const { f, list } of group) {
      const largest = getLongestBar(f);
      list.replaceChildren(...sortWords(topics[f].words).slice(0, 8).map((w) => make("li", {}, make("span", { dir: "auto" }, w[0]), makeBar(getBarLength(w, largest)))));
    }
  };
  const mark = (chosen) => { for (const { f, button, card } of group) { card.classList.toggle("on", f === chosen); button.setAttribute("aria-pressed", f === chosen); } };
  const show = () => {
    const found = filterTopics(byId("topic-query").value), made = new Map(group.map((entry) => [entry.f, entry]));
    group = found.slice(0, count).map((f) => made.get(f) || makeCard(f));
    byId("cards").replaceChildren(...group.map(({ card }) => card));
    const part = found.length === F ? "" : ` ${formatCount(found.length, "topic")} of ${formatWhole(F)} ${found.length === 1 ? "matches" : "match"}.`;
    byId("all-note").textContent = `Largest share first. Choose a topic to see its words and documents.${part}`;
    byId("more-cards").hidden = found.length <= count;
    byId("more-cards").textContent = `Show more of ${formatCount(found.length, "topic")}`;
    words();
    mark(state.topic);
  };
  byId("topic-filter").hidden = !data.crowded;
  let waiting = 0;
  byId("topic-query").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(() => { count = CARDS_STEP; show(); }, 90); });
  byId("topic-filter").addEventListener("submit", (event) => { event.preventDefault(); show(); });
  byId("more-cards").addEventListener("click", () => {
    const first = group.length;
    count += 2 * CARDS_STEP;
    show();
    group[first]?.button.focus({ preventScroll: true }); // the button may be gone, and the focus with it
  });
  // On paper nothing can be asked for.
  let shown = count;
  addEventListener("beforeprint", () => { shown = count; count = F; show(); });
  addEventListener("afterprint", () => { count = shown; show(); });
  show();
  return { mark, words };
}
// Return the topics whose number is the text, then, largest first, those whose label and words contain all its words.
function filterTopics(text) {
  const terms = fold(text).split(/\s+/).filter(Boolean);
  const rank = ({ number, label, words }) => {
    if (terms.length === 1 && String(number) === terms[0]) return 0;
    const texts = fold(`${label} ${words.map((w) => w[0]).join(" ")}`);
    return terms.every((term) => texts.includes(term)) ? 1 : 2;
  };
  const ranks = topics.map(rank);
  return terms.length ? byShare.filter((f) => ranks[f] < 2).sort((f, g) => ranks[f] - ranks[g]) : byShare;
}

// ---- groups ----
function drawGroups() {
  const leaves = topics.map(() => []);
  const makeLeaf = (f) => { const button = makeTopicButton(f, getLabel(f), { class: "link" }); leaves[f].push(button); return make("li", {}, make("span", { class: "n" }, formatPercent(topics[f].share)), " ", button); };
  const makeSummary = (group, i) => { const text = [make("span", { class: "n" }, formatPercent(group.share)), " ", make("b", { dir: "auto" }, group.label), ` (${formatCount(group.topics.length, "topic")})`]; return i === null ? make("summary", {}, ...text) : pointAtGroup(make("summary", {}, makeSwatch(i), ...text), i); };
  const makeGroup = (group, open, i = null) => make("details", open ? { open: "" } : {}, makeSummary(group, i),
    ...(group.parts.length ? group.parts.map((part) => makeGroup(part, false)) : [make("ul", {}, ...[...group.topics].sort((f, g) => topics[g].share - topics[f].share || f - g).map(makeLeaf))]));
  byId("group-tree").replaceChildren(...data.groups.map((group, i) => makeGroup(group, data.groups.length <= 8, i)));
  return (f) => leaves.forEach((buttons, g) => buttons.forEach((button) => { button.setAttribute("aria-current", String(f === g)); if (f === g) for (let at = button.closest("details"); at; at = at.parentNode.closest("details")) at.open = true; }));
}

// ---- quality of the data ----
function showQuality() {
  byId("quality").hidden = !data.quality.length;
  byId("quality-list").append(...data.quality.map(({ what, n, share, remedy, examples }) => make("div", {}, make("dt", { dir: "auto" }, what),
    make("dd", {}, `${formatCount(n, "document")} (${formatPercent(share)}).`, ...(remedy ? [" ", ...remedy.split(/(--[a-z][a-z-]*)/).map((text, i) => (i % 2 ? make("span", { class: "option" }, text) : text))] : []), ...(examples.length ? [make("ul", {}, ...examples.map((text) => make("li", { dir: "auto" }, text)))] : [])))));
}

// ---- start ----
function start() {
  for (const id of ["bar", "main"]) byId(id).hidden = false;
  const here = documents.id.length < data.n_documents ? `; this page contains ${formatWhole(documents.id.length)} of them` : "";
  byId("query").placeholder = document.querySelector("label[for=query]").textContent = documents.topics.length ? `Search ${formatCount(documents.topics.length, "document")} on this page` : "Search words";
  byId("facts").hidden = !here && document.querySelector(".standfirst").textContent.includes(formatWhole(data.n_documents)); // the subtitle already has it
  byId("facts").textContent = `${formatCount(F, "topic")} from ${formatCount(data.n_documents, "document")}${here}.`;
  showQuality();
  byId("diagnostics").hidden = !data.diagnostics.length;
  byId("diagnostics-list").append(...data.diagnostics.map(([heading, sentence]) => make("div", {}, make("dt", { dir: "auto" }, heading), make("dd", { dir: "auto" }, sentence))));
  byId("views").querySelector("[value=pairs]").parentNode.hidden = byId("zoom-keys").hidden = !data.crowded;
  const cards = drawCards();
  let markTime = () => {}, markEffects = () => {};
  const drawDocuments = startAtlas();
  listeners.push((f) => figure.mark(f), showTopic, showDocuments, cards.mark, () => { if (state.query) showResults(); }, (f) => markTime(f), (f) => markEffects(f), () => { if (drawDocuments) atlas.mark(); });
  if (data.groups && data.groups.length) { byId("groups").hidden = false; listeners.push(drawGroups()); }
  if (data.labels && data.labels.names.length) { byId("labels").hidden = false; listeners.push(drawLabels()); }
  const timed = data.prevalence && data.prevalence.names.length;
  byId("time").hidden = !timed;
  byId("effects").hidden = !data.effects;
  const drawAll = () => {
    drawFigure();
    if (timed) { markTime = drawTime(); markTime(state.topic); }
    if (data.effects) { markEffects = drawEffects(); markEffects(state.topic); }
    if (drawDocuments) drawDocuments();
  };
  state.topic = readHash().topic;
  drawAll();
  byId("views").addEventListener("change", (event) => { state.view = event.target.value; drawFigure(); });
  byId("measures").addEventListener("change", (event) => { state.measure = event.target.value; showWords(); cards.words(); });
  byId("more").addEventListener("click", () => { state.shown += 20; showDocuments(); });
  byId("previous").addEventListener("click", () => chooseTopic(getNeighbor(-1)));
  byId("next").addEventListener("click", () => chooseTopic(getNeighbor(1)));
  for (const link of document.querySelectorAll('a[href="#chosen"]')) link.addEventListener("click", (event) => { event.preventDefault(); scrollToChosen(); });
  let waiting = 0;
  byId("query").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(updateQuery, 90); });
  byId("search").addEventListener("submit", (event) => { event.preventDefault(); updateQuery(); });
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const typing = event.target.matches("input[type=search]");
    if (event.key === "Escape" && state.query && event.target !== byId("topic-query")) { byId("query").value = ""; updateQuery(); }
    else if (event.key === "/" && !typing) { event.preventDefault(); byId("query").focus(); }
    else if (event.key === "[" && !typing) chooseTopic(getNeighbor(-1));
    else if (event.key === "]" && !typing) chooseTopic(getNeighbor(1));
  });
  addEventListener("hashchange", applyHash);
  let drawn = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== drawn) { drawn = innerWidth; drawAll(); } });
  applyHash();
}
start();
