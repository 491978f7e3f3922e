// ---- the map of the documents: points on a canvas, names of topics as buttons above them ----
const atlas = { scale: 1, x: 0.5, y: 0.5, coloring: null, redraw: () => {} };
const MAX_ATLAS_ZOOM = 40, POINT_REACH = 8, MAX_STRETCH = 1.7, MANY_TOPICS = 30;
const places = decodePlaces(data.places || "");
const isPlaced = (d) => d !== null && d < places.length && places[d] !== null;
function decodePlaces(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0)), read = (i) => bytes[2 * i] + 256 * bytes[2 * i + 1];
  const found = Array.from({ length: Math.min(bytes.length / 4, documents.topics.length) }, (_, d) => (read(2 * d) === 0 ? null : [(read(2 * d) - 1) / 65534, (read(2 * d + 1) - 1) / 65534]));
  return found.map((place, d) => (documents.topics[d].length ? place : null)); // without topics there is no color
}
const getLeadingTopic = (d) => documents.topics[d][0];
const getMedian = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

// The middle of each topic's documents: where its name stands, and what decides its color.
function findRegions() {
  const members = topics.map(() => []);
  places.forEach((place, d) => { if (place) members[getLeadingTopic(d)].push(place); });
  return members.map((own) => (own.length ? { n: own.length, x: getMedian(own.map((p) => p[0])), y: getMedian(own.map((p) => p[1])) } : null));
}
// Topics that lie near each other have different colors: each takes the one whose nearest topic is farthest away.
function chooseTopicColors(regions) {
  const chosen = topics.map(() => 0);
  const order = topics.map((_, f) => f).filter((f) => regions[f]).sort((f, g) => regions[g].n - regions[f].n || f - g), done = [];
  for (const f of order) {
    const far = Array(N_COLORS).fill(Infinity);
    for (const g of done) far[chosen[g]] = Math.min(far[chosen[g]], Math.hypot(regions[f].x - regions[g].x, regions[f].y - regions[g].y));
    chosen[f] = far.indexOf(Math.max(...far));
    done.push(f);
  }
  return chosen;
}
const COLORING_NOTES = {
  topics: `Colors show the leading topic of a document${F > 7 ? "; topics far from each other may have the same color" : ""}.`,
  groups: "Colors show the group of the leading topic.",
  chosen: "Documents with the chosen topic are blue, the darker the larger its share.",
};

function drawAtlas() {
  const holder = byId("atlas-map"), width = Math.max(260, holder.clientWidth), height = Math.round(Math.min(width * (width < 480 ? 1.1 : 0.56), 640));
  const canvas = make("canvas", { id: "atlas-canvas", tabindex: 0, role: "img", "aria-describedby": "atlas-note" }), dots = Math.min(3, devicePixelRatio || 1);
  canvas.width = width * dots; canvas.height = height * dots;
  canvas.style.height = `${height}px`;
  const names = make("div", { class: "regions" }), tip = make("div", { class: "tip", hidden: true });
  const context = canvas.getContext("2d"), regions = findRegions();
  const shown = places.map((_, d) => d).filter((d) => places[d]);
  const view = { width, height, dots, canvas, context, names, tip, regions, shown, colors: chooseTopicColors(regions), fit: fitPlaces(shown, width, height), buttons: makeRegionNames(regions, context) };
  names.append(...view.buttons.filter(Boolean).map(({ button }) => button));
  view.radius = Math.min(4.5, Math.max(1.6, 0.24 * Math.sqrt((width * height) / Math.max(1, shown.length))));
  let waiting = 0;
  atlas.redraw = () => { if (!waiting) waiting = requestAnimationFrame(() => { waiting = 0; paintAtlas(view); }); };
  const buttons = makeAtlasZoomable(view);
  holder.replaceChildren(canvas, names, make("div", { class: "zoom", role: "group", "aria-label": "Zoom of the map of the documents" }, ...buttons), tip);
  atlas.paint = () => { waiting = 0; paintAtlas(view); };
  highlighters[1] = (i) => { atlas.highlight = i; atlas.redraw(); };
  const mark = () => {
    byId("atlas-legend").replaceChildren(...(atlas.coloring === "groups" ? [makeLegend()] : []));
    if (isPlaced(state.document)) revealPlace(view, state.document);
    describeAtlas(view);
    atlas.paint();
  };
  return mark;
}
// A place on the page: the documents fill the canvas, stretched in one direction at most.
function fitPlaces(shown, width, height) {
  const rim = 26, range = (i) => shown.reduce(([low, high], d) => [Math.min(low, places[d][i]), Math.max(high, places[d][i])], [1, 0]);
  const [x, y] = [range(0), range(1)], spans = [x, y].map(([low, high]) => Math.max(high - low, 1e-6));
  const scales = [(width - 2 * rim) / spans[0], (height - 2 * rim) / spans[1]], least = Math.min(...scales);
  const [sx, sy] = scales.map((s) => Math.min(s, MAX_STRETCH * least));
  return ([px, py]) => [width / 2 + (px - (x[0] + x[1]) / 2) * sx, height / 2 + (py - (y[0] + y[1]) / 2) * sy];
}
function makeRegionNames(regions, context) {
  context.font = "600 12px sans-serif";
  return regions.map((region, f) => {
    if (!region) return null;
    const text = shorten(getLabel(f).split(", ").slice(0, 2).join(", "), 26);
    return { button: make("button", { type: "button", tabindex: -1, dir: "auto", title: `${getTitle(f)}, leading topic of ${formatCount(region.n, "document")} on this map`, onclick: () => chooseTopic(f) }, text), length: 1.06 * context.measureText(text).width + 12 };
  });
}
const locate = (view, d) => move(view, view.fit(places[d]));
const move = ({ width, height }, [x, y]) => [width / 2 + (x - atlas.x * width) * atlas.scale, height / 2 + (y - atlas.y * height) * atlas.scale];

function describeAtlas(view) {
  const n = view.shown.length, missing = documents.topics.length - n, f = state.topic, all = n === data.n_documents;
  const what = data.by_embeddings ? "Documents with similar embeddings are close to each other" : "Documents with similar topics are close to each other";
  view.canvas.setAttribute("aria-label", `Map of ${formatCount(n, "document")}. ${view.regions[f] ? `“${getLabel(f)}” leads in ${formatCount(view.regions[f].n, "document")}.` : ""} The lists of documents have the same documents as text.`);
  const part = all ? formatCount(n, "document") : `${formatWhole(n)} of ${formatCount(data.n_documents, "document")}`;
  const sample = documents.topics.length < data.n_documents ? " (those that represent the topics best, and others, evenly spaced)" : "";
  byId("atlas-note").textContent = `${part}${sample}. ${what}; directions and large distances mean nothing. ${COLORING_NOTES[atlas.coloring]} ${missing > 0 ? `${formatCount(missing, "document")} without topics or without a place ${missing === 1 ? "is" : "are"} not shown. ` : ""}Point at a document to read it, click it to select it; click a name to choose its topic. Drag to move the map; Ctrl and the wheel, two fingers, or +, −, 0 and arrow keys zoom and move it.`;
  const item = byId("atlas-document");
  item.replaceChildren(...(state.document === null ? [] : [makeDocumentItem(state.document)]));
}

// ---- painting ----
function paintAtlas(view) {
  const { context, dots, width, height, shown } = view, style = getComputedStyle(document.documentElement), read = (name) => style.getPropertyValue(name).trim();
  const r = view.radius * atlas.scale ** 0.35, layers = new Map(), { topic } = state;
  const add = (key, d) => { if (!layers.has(key)) layers.set(key, []); layers.get(key).push(d); };
  const highlight = atlas.highlight ?? null; // a group that the legend points at
  const faint = read("--dot");
  for (const d of shown) {
    const f = getLeadingTopic(d);
    if (atlas.coloring === "chosen") { const share = decodeMixture(d).find(([g]) => g === topic)?.[1] || 0; add(share > 0 ? `1 --accent ${(0.25 + 0.75 * Math.round(4 * share) / 4).toFixed(2)}` : "0 --gray 0.45", d); continue; }
    const color = atlas.coloring === "groups" ? (groupOf[f] < 0 ? "--gray" : `--c${groupOf[f] % N_COLORS}`) : `--c${view.colors[f]}`;
    const quiet = highlight !== null && groupOf[f] !== highlight;
    add(`${f === topic ? 1 : 0} ${color} ${quiet ? 0.08 : f === topic ? 0.95 : faint}`, d);
  }
  context.setTransform(dots, 0, 0, dots, 0, 0);
  context.clearRect(0, 0, width, height);
  for (const key of [...layers.keys()].sort()) {
    const [first, color, alpha] = key.split(" "), size = first === "1" && atlas.coloring !== "chosen" ? 1.35 * r : r;
    context.globalAlpha = Number(alpha);
    context.fillStyle = read(color);
    context.beginPath();
    for (const d of layers.get(key)) {
      const [x, y] = locate(view, d);
      if (x < -9 || y < -9 || x > width + 9 || y > height + 9) continue;
      context.moveTo(x + size, y);
      context.arc(x, y, size, 0, 7);
    }
    context.fill();
  }
  context.globalAlpha = 1;
  if (isPlaced(state.document)) {
    const [x, y] = locate(view, state.document);
    context.lineWidth = 2.5;
    context.strokeStyle = read("--ink");
    context.beginPath();
    context.arc(x, y, r + 5, 0, 7);
    context.stroke();
  }
  placeRegionNames(view);
  if (document.documentElement.classList.contains("printing")) paintNames(view, read);
  view.update();
}
// Names stand on the middle of their documents, the largest topics first, where they cover no other name.
function placeRegionNames(view) {
  const { regions, buttons, width, height } = view, taken = [];
  const order = topics.map((_, f) => f).filter((f) => regions[f]).sort((f, g) => (g === state.topic) - (f === state.topic) || regions[g].n - regions[f].n || f - g);
  for (const f of order) {
    const { button, length } = buttons[f], [x, middle] = move(view, view.fit([regions[f].x, regions[f].y]));
    const y = f === state.topic ? Math.max(12, middle - 18) : middle; // the box of the chosen topic would hide its documents
    const left = Math.min(Math.max(2, x - length / 2), width - length - 2), box = [left, y - 10, left + length, y + 10];
    const inView = x >= 0 && x <= width && y >= 10 && y <= height - 10;
    const free = inView && !taken.some((other) => box[2] > other[0] && box[0] < other[2] && box[3] > other[1] && box[1] < other[3]);
    button.hidden = !free;
    button.classList.toggle("on", f === state.topic);
    if (!free) continue;
    taken.push(box);
    button.style.left = `${left.toFixed(1)}px`;
    button.style.top = `${(y - 10).toFixed(1)}px`;
    button.style.width = `${length.toFixed(1)}px`;
  }
}
// On paper the map has another width than on the screen: its names are a part of the picture.
function paintNames({ context, buttons }, read) {
  Object.assign(context, { font: "600 13px sans-serif", textAlign: "center", textBaseline: "middle", lineWidth: 4, lineJoin: "round", strokeStyle: read("--paper"), fillStyle: read("--ink") });
  for (const { button, length } of buttons.filter((entry) => entry && !entry.button.hidden)) {
    const at = [button.textContent, parseFloat(button.style.left) + length / 2, parseFloat(button.style.top) + 10];
    context.strokeText(...at);
    context.fillText(...at);
  }
}
function findNearest(view, [x, y]) {
  const reach = POINT_REACH + view.radius * atlas.scale ** 0.35;
  let best = null, least = reach * reach;
  for (const d of view.shown) {
    const [px, py] = locate(view, d), squared = (px - x) ** 2 + (py - y) ** 2;
    if (squared < least) { least = squared; best = d; }
  }
  return best;
}

// ---- zooming, moving, pointing ----
function changeAtlasZoom(view, factor, [x, y] = [view.width / 2, view.height / 2]) {
  const before = atlas.scale;
  atlas.scale = Math.min(MAX_ATLAS_ZOOM, Math.max(1, before * factor));
  atlas.x += (x / view.width - 0.5) * (1 / before - 1 / atlas.scale);
  atlas.y += (y / view.height - 0.5) * (1 / before - 1 / atlas.scale);
  keepInside();
  atlas.redraw();
}
function moveAtlas(view, dx, dy) {
  atlas.x -= dx / view.width / atlas.scale;
  atlas.y -= dy / view.height / atlas.scale;
  keepInside();
  atlas.redraw();
}
function keepInside() {
  const clamp = (v) => Math.min(1 - 0.5 / atlas.scale, Math.max(0.5 / atlas.scale, v));
  atlas.x = clamp(atlas.x); atlas.y = clamp(atlas.y);
}
function revealPlace(view, d) {
  const [x, y] = locate(view, d);
  if (x >= 8 && y >= 8 && x <= view.width - 8 && y <= view.height - 8) return;
  const [px, py] = view.fit(places[d]);
  atlas.x = px / view.width; atlas.y = py / view.height;
  keepInside();
}
function makeAtlasZoomable(view) {
  const { canvas } = view, zoomIn = () => changeAtlasZoom(view, ZOOM_STEP), zoomOut = () => changeAtlasZoom(view, 1 / ZOOM_STEP), reset = () => changeAtlasZoom(view, 0);
  const button = (text, name, act) => make("button", { type: "button", "aria-label": name, title: name, onclick: act }, text);
  const buttons = [button("+", "Zoom into the documents", zoomIn), button("−", "Zoom out of the documents", zoomOut), button("0", "Show all documents", reset)];
  view.update = () => {
    buttons[0].disabled = atlas.scale >= MAX_ATLAS_ZOOM;
    buttons[1].disabled = buttons[2].disabled = atlas.scale <= 1;
    canvas.classList.toggle("zoomed", atlas.scale > 1);
  };
  const where = (event) => { const box = canvas.getBoundingClientRect(); return [((event.clientX - box.left) * view.width) / box.width, ((event.clientY - box.top) * view.height) / box.height]; };
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // the wheel alone scrolls the page
    event.preventDefault();
    changeAtlasZoom(view, 2 ** (-event.deltaY / 240), where(event));
  }, { passive: false });
  canvas.addEventListener("dblclick", (event) => changeAtlasZoom(view, ZOOM_STEP, where(event)));
  const keys = { "+": zoomIn, "=": zoomIn, "-": zoomOut, 0: reset, ArrowLeft: () => moveAtlas(view, 60, 0), ArrowRight: () => moveAtlas(view, -60, 0), ArrowUp: () => moveAtlas(view, 0, 60), ArrowDown: () => moveAtlas(view, 0, -60) };
  canvas.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.altKey || event.ctrlKey || event.metaKey || (event.key.startsWith("Arrow") && atlas.scale <= 1)) return;
    event.preventDefault();
    keys[event.key]();
  });
  addAtlasPointers(view, where);
  return buttons;
}
function addAtlasPointers(view, where) {
  const { canvas } = view, fingers = new Map();
  let dragged = false;
  const spread = () => { const [a, b] = [...fingers.values()]; return [Math.hypot(a[0] - b[0], a[1] - b[1]), [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2]]; };
  canvas.addEventListener("pointerdown", (event) => { if (event.button === 0) { fingers.set(event.pointerId, where(event)); dragged = fingers.size > 1; } });
  for (const name of ["pointerup", "pointercancel", "pointerleave"]) canvas.addEventListener(name, (event) => { fingers.delete(event.pointerId); if (name === "pointerleave") showTip(view, null); });
  canvas.addEventListener("pointermove", (event) => {
    const at = where(event), from = fingers.get(event.pointerId);
    if (!from || (event.pointerType === "mouse" && event.buttons !== 1)) { showTip(view, findNearest(view, at)); return; }
    if (!dragged && Math.hypot(at[0] - from[0], at[1] - from[1]) < 4) return; // a click
    dragged = true;
    showTip(view, null);
    if (fingers.size === 2) {
      const [before] = spread();
      fingers.set(event.pointerId, at);
      const [after, center] = spread();
      changeAtlasZoom(view, after / Math.max(1, before), center);
    } else if (atlas.scale > 1) { fingers.set(event.pointerId, at); moveAtlas(view, at[0] - from[0], at[1] - from[1]); }
  });
  canvas.addEventListener("click", (event) => {
    if (dragged) { dragged = false; return; } // the end of a drag
    const d = findNearest(view, where(event));
    if (d !== null) chooseDocument(d);
  });
}
function showTip({ tip, canvas, width, ...view }, d) {
  tip.hidden = d === null;
  canvas.classList.toggle("pointing", d !== null);
  if (d === null) return;
  const [x, y] = locate({ width, ...view }, d), late = x > width / 2;
  const shares = decodeMixture(d).slice(0, 3).map(([f, share]) => make("li", { dir: "auto" }, `${formatPercent(share, 0)} ${shorten(getLabel(f), 34)}`));
  tip.replaceChildren(make("b", { dir: "auto" }, shorten(documents.id[d] || "", 60)), make("p", { dir: "auto" }, shorten(documents.text[d] || "", 170)), make("ul", {}, ...shares));
  tip.style.left = late ? "auto" : `${x + 14}px`;
  tip.style.right = late ? `${width - x + 14}px` : "auto";
  tip.style.top = `${Math.max(0, Math.min(y - 20, view.height - 130))}px`;
}
function startAtlas() {
  const n = places.filter(Boolean).length;
  byId("atlas").hidden = n < 2;
  if (n < 2) return null;
  byId("colorings").querySelector("[value=groups]").parentNode.hidden = !data.groups.length;
  atlas.coloring = data.groups.length ? "groups" : F > MANY_TOPICS ? "chosen" : "topics";
  byId("colorings").querySelector(`[value=${atlas.coloring}]`).checked = true;
  byId("colorings").addEventListener("change", (event) => { atlas.coloring = event.target.value; atlas.mark(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => atlas.redraw());
  addEventListener("beforeprint", () => { document.documentElement.classList.add("printing"); atlas.paint(); });
  addEventListener("afterprint", () => { document.documentElement.classList.remove("printing"); atlas.paint(); });
  return () => { atlas.mark = drawAtlas(); atlas.mark(); };
}
