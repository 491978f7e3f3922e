// ---- the map ----
const crowdedScale = data.crowded ? Math.min(0.042, 0.42 / Math.sqrt(F)) : F > 30 ? 0.042 : 0.055;
const MIN_RADIUS = data.crowded ? 5 : 9, MIN_NUMBERED_RADIUS = data.crowded ? 8 : 0, MAX_ZOOM = 16, ZOOM_STEP = 1.6;
const MAX_ROW_TOPICS = 12; // so many unrelated topics stand in rows (topic_map.py)
const MAX_NAMED_TOPICS = 20; // of so many, all names find room, also on a phone
const zoom = { scale: 1, x: 0.5, y: 0.5 }; // of the map; the center is a part of its width and height
function drawMap(width) {
  const height = Math.round(Math.min(width * (width < 480 ? 1.15 : 0.82), 620));
  const radius = topics.map((t) => Math.max(MIN_RADIUS, Math.min(width, height) * crowdedScale * Math.sqrt((t.share || 0) / largestShare)));
  const map = { width, height, radius, whole: separateCircles(data.positions, radius, width, height), lines: [], group: [] };
  const picture = draw("svg", { class: data.crowded ? "zoomable" : null, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `Map of ${formatCount(F, "topic")}: ${data.links.length ? "topics that are often together are close to each other and joined by lines" : "no two are associated, so there are no lines"}` });
  map.behind = draw("g", { "aria-hidden": "true" });
  picture.append(map.behind);
  map.labels = topics.map((_, f) => drawNode(f));
  for (const f of byShare) { makePressable(map.labels[f].node, f, map.group); picture.append(map.labels[f].node); }
  // Labels are drawn above all circles: another topic must not cover the label of the chosen one.
  picture.append(draw("g", { class: "names", "aria-hidden": "true" }, ...byShare.map((f) => map.labels[f].label)));
  applyZoom(map);
  for (const [f, g] of data.links) addLine(map, f, g, false);
  const mark = (chosen) => markMap(map, chosen);
  mark.place = () => { placeLabels(map, byShare); map.isFull = data.crowded || map.labels.some(({ label }) => label.matches(".quiet")); if (map.isFull && map.order) placeLabels(map, map.order); };
  const note = !data.links.length ? [`No two topics are together more or less often than their sizes explain (no association of ${formatDecimal(LEAST_ASSOCIATION)} or more, or of ${formatDecimal(-LEAST_ASSOCIATION)} or less), so there are no lines${F > MAX_ROW_TOPICS || data.groups.length ? "" : ", and places mean nothing"}. The area of a circle shows the topic’s share.`] : [make("span", { class: "sample" }), "often together ", make("span", { class: "sample negative" }), "rarely together, beyond what their sizes explain; thicker lines are stronger. Topics that are often together are close to each other. The area of a circle shows the topic’s share. Lines of the chosen topic are colored."];
  if (data.uncertain.length) note.push(" ", make("span", { class: "sample uncertain" }), "not significantly different from zero.");
  if (data.crowded) note.push(" Names are shown where there is room: zoom in, point at a circle, or choose it. Drag to move the map; Ctrl and the wheel, or +, − and 0, zoom." + (data.links.length ? " Gray lines lead from each topic to the one that is most often with it." : ""));
  else if (F > MAX_NAMED_TOPICS) note.push(" Names are shown where there is room: point at a circle, or choose it.");
  if (data.groups.length) {
    note.push(` Colors show the group of a topic${data.groups.length > N_COLORS ? "; some groups have the same color" : ""}; topics of a group are closer to each other. Point at a group to see its topics.`);
    map.highlight = (i) => map.labels.forEach(({ node, label }, f) => { const quiet = i !== null && groupOf[f] !== i; node.classList.toggle("faded", quiet); label.classList.toggle("faded", quiet); });
  }
  highlighters[0] = map.highlight || (() => {});
  const shown = data.crowded ? makeZoomable(picture, map) : picture;
  return [data.groups.length ? make("div", {}, shown, makeLegend()) : shown, mark, F > 1 ? note : ["There is only one topic."]];
}

function drawNode(f) {
  const t = topics[f], node = draw("g", { class: "node", role: "button", "aria-label": `${getTitle(f)}, ${formatPercent(t.share)} of the text` });
  const circle = draw("circle"), digit = draw("text", { class: "digit", "aria-hidden": "true" }, String(t.number));
  const label = draw("text", { class: "name" }, shorten(getLabel(f).split(data.crowded ? /,? / : ", ").slice(0, 2).join(data.crowded ? " " : ", "), 24));
  node.append(draw("title", {}, `${getTitle(f)} (${formatPercent(t.share)})${groupOf[f] < 0 ? "" : `\nGroup: ${data.groups[groupOf[f]].label}`}`), circle, digit);
  if (groupOf[f] >= 0) { node.classList.add("grouped"); node.style.setProperty("--group", `var(--c${groupOf[f] % N_COLORS})`); }
  for (const [event, over] of [["pointerenter", true], ["pointerleave", false], ["focus", true], ["blur", false]]) node.addEventListener(event, () => label.classList.toggle("over", over));
  return { node, circle, digit, label, length: null };
}

function addLine(map, f, g, extra) {
  const r = getAssociation(f, g) || 0;
  const line = draw("line", { class: "link-line" + (r < 0 ? " negative" : "") + (isUncertain(f, g) ? " uncertain" : ""), "stroke-width": (0.7 + (3.3 * Math.abs(r)) / Math.max(0.1, strongestAssociation)).toFixed(2) });
  map.behind.append(line);
  map.lines.push({ f, g, line, extra });
  moveLine(map, { f, g, line });
}
function moveLine({ at }, { f, g, line }) {
  for (const [name, value] of [["x1", at[f][0]], ["y1", at[f][1]], ["x2", at[g][0]], ["y2", at[g][1]]]) line.setAttribute(name, value);
}

function markMap(map, chosen) {
  markGroup(map.group, chosen);
  for (const { line } of map.lines.filter((l) => l.extra)) line.remove();
  map.lines = map.lines.filter((l) => !l.extra);
  if (!isInView(map, chosen)) { centerOn(map, chosen); applyZoom(map); }
  const [positive, negative] = findAssociated(chosen);
  const near = new Set([...positive, ...negative].map((x) => x.g));
  for (const g of near) if (!map.lines.some((l) => (l.f === chosen && l.g === g) || (l.g === chosen && l.f === g))) addLine(map, chosen, g, true);
  for (const { f, g, line } of map.lines) line.classList.toggle("near", f === chosen || g === chosen);
  map.labels.forEach(({ node, label }, f) => {
    node.classList.toggle("near", near.has(f));
    label.classList.toggle("near", near.has(f));
    label.classList.toggle("on", f === chosen);
    node.classList.toggle("negative", near.has(f) && getAssociation(chosen, f) < 0);
  });
  // Where names compete for room, those of the chosen topic and its associated topics come first.
  map.order = [...new Set([chosen, ...near, ...byShare])];
  map.nFirst = 1 + near.size;
  if (map.isFull ?? data.crowded) placeLabels(map, map.order);
}

// ---- zoom: circles grow more slowly than their distances, so that there is room for more names ----
function applyZoom(map) {
  const { width, height, radius, whole } = map, { scale } = zoom;
  const clamp = (x) => Math.min(1 - 0.5 / scale, Math.max(0.5 / scale, x)); // the map fills the view
  zoom.x = clamp(zoom.x); zoom.y = clamp(zoom.y);
  map.at = whole.map(([x, y]) => [[x, zoom.x, width], [y, zoom.y, height]].map(([v, center, side]) => Math.round(10 * (side / 2 + (v - center * side) * scale)) / 10));
  map.r = radius.map((r) => r * Math.sqrt(scale));
  map.labels.forEach(({ circle, digit, node }, f) => {
    circle.setAttribute("cx", map.at[f][0]); circle.setAttribute("cy", map.at[f][1]); circle.setAttribute("r", map.r[f].toFixed(1));
    digit.setAttribute("x", map.at[f][0]); digit.setAttribute("y", map.at[f][1]);
    node.classList.toggle("small", map.r[f] < MIN_NUMBERED_RADIUS);
  });
  for (const line of map.lines) moveLine(map, line);
}
const isInView = ({ at, width, height }, f) => at[f][0] >= 0 && at[f][0] <= width && at[f][1] >= 0 && at[f][1] <= height;
function centerOn({ whole, width, height }, f) { zoom.x = whole[f][0] / width; zoom.y = whole[f][1] / height; }
// Multiply the scale, so that the point (x, y) of the view, as parts of its sides, stays where it is.
function changeZoom(map, factor, x = 0.5, y = 0.5) {
  const before = zoom.scale;
  zoom.scale = Math.min(MAX_ZOOM, Math.max(1, before * factor));
  zoom.x += (x - 0.5) * (1 / before - 1 / zoom.scale);
  zoom.y += (y - 0.5) * (1 / before - 1 / zoom.scale);
  showZoom(map);
}
function showZoom(map) {
  applyZoom(map);
  markMap(map, state.topic);
  map.update();
}
function makeZoomable(picture, map) {
  const chosen = () => map.at[state.topic].map((v, i) => v / [map.width, map.height][i]);
  const button = (text, name, act) => make("button", { type: "button", "aria-label": name, title: name, onclick: act }, text);
  const zoomIn = () => changeZoom(map, ZOOM_STEP, ...chosen()), zoomOut = () => changeZoom(map, 1 / ZOOM_STEP, ...chosen()), reset = () => changeZoom(map, 0);
  const buttons = [button("+", "Zoom in", zoomIn), button("−", "Zoom out", zoomOut), button("0", "Show the whole map", reset)];
  map.update = () => {
    buttons[0].disabled = zoom.scale >= MAX_ZOOM;
    buttons[1].disabled = buttons[2].disabled = zoom.scale <= 1;
    picture.classList.toggle("zoomed", zoom.scale > 1);
  };
  map.update();
  const locate = (event) => { const box = picture.getBoundingClientRect(); return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height]; };
  picture.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // the wheel alone scrolls the page
    event.preventDefault();
    changeZoom(map, 2 ** (-event.deltaY / 240), ...locate(event));
  }, { passive: false });
  picture.addEventListener("dblclick", (event) => changeZoom(map, ZOOM_STEP, ...locate(event)));
  picture.addEventListener("keydown", (event) => {
    const act = { "+": zoomIn, "=": zoomIn, "-": zoomOut, 0: reset }[event.key];
    if (!act || event.altKey || event.ctrlKey || event.metaKey) return; // those zoom the page
    event.preventDefault();
    act();
  });
  addDragging(picture, map, locate);
  return make("div", { class: "map" }, picture, make("div", { class: "zoom", role: "group", "aria-label": "Zoom of the map" }, ...buttons));
}
function addDragging(picture, map, locate) {
  let from = null, dragged = false;
  picture.addEventListener("pointerdown", (event) => { from = event.button === 0 && zoom.scale > 1 ? locate(event) : null; dragged = false; });
  for (const event of ["pointerup", "pointerleave"]) picture.addEventListener(event, () => { from = null; });
  picture.addEventListener("pointermove", (event) => {
    if (!from || event.buttons !== 1) return;
    const to = locate(event), step = [from[0] - to[0], from[1] - to[1]];
    if (!dragged && Math.hypot(step[0] * map.width, step[1] * map.height) < 4) return; // a click
    dragged = true;
    from = to;
    zoom.x += step[0] / zoom.scale; zoom.y += step[1] / zoom.scale;
    applyZoom(map);
    placeLabels(map, map.order);
  });
  // The end of a drag is no click on the circle where it ends.
  picture.addEventListener("click", (event) => { if (dragged) { event.stopPropagation(); dragged = false; } }, true);
}

// Move overlapping circles apart, in a fixed order, so that the map is the same every time.
function separateCircles(places, radius, width, height) {
  const rim = Math.max(...radius) + 14;
  const at = places.map(([x, y]) => [rim + x * (width - 2 * rim), rim + y * (height - 2 * rim)]);
  for (let iteration = 0; iteration < 120; iteration++) {
    let moved = false;
    for (let f = 0; f < at.length; f++) for (let g = 0; g < f; g++) {
      const dx = at[f][0] - at[g][0], dy = at[f][1] - at[g][1], distance = Math.hypot(dx, dy), least = radius[f] + radius[g] + 5;
      if (distance >= least) continue;
      const angle = distance > 1e-6 ? Math.atan2(dy, dx) : f;
      const push = (least - distance) / 2;
      for (const [h, sign] of [[f, 1], [g, -1]]) {
        at[h][0] = Math.min(width - radius[h] - 2, Math.max(radius[h] + 2, at[h][0] + sign * push * Math.cos(angle)));
        at[h][1] = Math.min(height - radius[h] - 2, Math.max(radius[h] + 2, at[h][1] + sign * push * Math.sin(angle)));
      }
      moved = true;
    }
    if (!moved) break;
  }
  return at.map((point) => point.map((x) => Math.round(10 * x) / 10));
}

// Return whether the line from a to b crosses a box, by clipping the line to the sides of the box.
function crosses([ax, ay], [bx, by], box) {
  let first = 0, last = 1;
  for (const [start, step, low, high] of [[ax, bx - ax, box[0], box[2]], [ay, by - ay, box[1], box[3]]]) {
    if (step === 0) { if (start < low || start > high) return false; continue; }
    const ends = [(low - start) / step, (high - start) / step];
    first = Math.max(first, Math.min(...ends));
    last = Math.min(last, Math.max(...ends));
  }
  return first <= last;
}

// Place the labels where they cover no circle or label, and as few lines as possible, in the given order. Labels without
// such a place are shown only while their topic is pointed at or chosen; no other label is placed on that of the chosen one.
function placeLabels(map, order) {
  const { labels, at, r: radius, width, height } = map, landmarks = findLandmarks(map, order);
  // All lengths are read before any label moves: the browser would lay the page out again for each of them.
  for (const entry of labels) entry.length ??= 1.1 * entry.label.getComputedTextLength() + 4;
  const circles = at.map(([x, y], f) => [x - radius[f], y - radius[f], x + radius[f], y + radius[f]]), taken = data.crowded ? [[width - 112, 0, width, 40]] : []; // no label is under the buttons
  const overlaps = (a, b) => a[2] > b[0] && a[0] < b[2] && a[3] > b[1] && a[1] < b[3];
  const isInside = (box) => box[0] >= 0 && box[2] <= width && box[1] >= 0 && box[3] <= height, isFree = (box) => !taken.some((other) => overlaps(box, other));
  const countCovered = (box, own) => circles.filter((circle, f) => f !== own && overlaps(box, circle)).length + taken.filter((other) => overlaps(box, other)).length;
  const countCircles = (box, own) => circles.reduce((n, circle, f) => n + (f !== own && overlaps(box, circle) ? (landmarks.has(own) && !landmarks.has(f) && radius[f] < MIN_NUMBERED_RADIUS ? 1 : Infinity) : 0), 0);
  // With few topics, every line may be drawn: those of the chosen topic are added.
  const links = F > 8 ? data.links : topics.flatMap((_, g) => [...Array(g).keys()].map((h) => [h, g])).filter(([g, h]) => Math.abs(getAssociation(g, h) || 0) >= LEAST_ASSOCIATION);
  for (const f of [...landmarks, ...order.filter((g) => !landmarks.has(g))]) {
    const { label, length: w } = labels[f], [x, y] = at[f], r = radius[f] + 5;
    label.classList.toggle("away", !isInView(map, f));
    if (!isInView(map, f)) continue;
    const spots = [[x + r, y - 7], [x - r - w, y - 7], [x - w / 2, y + r - 2], [x - w / 2, y - r - 13]];
    for (const side of [x + 0.75 * r, x - 0.75 * r - w]) spots.push([side, y + 0.75 * r - 4], [side, y - 0.75 * r - 10]);
    for (const part of [0.2, 0.8]) spots.push([x - part * w, y + r - 2], [x - part * w, y - r - 13]);
    const inside = spots.map(([left, top]) => [left, top, left + w, top + 14]).filter(isInside), boxes = inside.filter(isFree).map((box) => [box, countCircles(box, f)]).filter(([, covered]) => covered < Infinity);
    const costs = boxes.map(([box, covered]) => 5 * covered + links.filter(([g, h]) => crosses(at[g], at[h], box)).length);
    const spot = boxes[costs.indexOf(Math.min(...costs))]?.[0];
    const [left, top] = spot || inside.sort((a, b) => countCovered(a, f) - countCovered(b, f))[0] || [Math.min(Math.max(0, x - w / 2), Math.max(0, width - w)), y + r - 2 + 14 < height ? y + r - 2 : y - r - 13];
    if (spot || f === state.topic) taken.push([left, top, left + w, top + 14]);
    label.classList.toggle("quiet", !spot);
    label.setAttribute("x", (left + 2 + (w - 4) / 2).toFixed(1));
    label.setAttribute("y", (top + 11).toFixed(1));
    label.setAttribute("text-anchor", "middle");
  }
}
// Return the topics of a crowded map whose labels may cover small circles: without names in its middle, it could not
// be read. They are the chosen topic, those associated with it, and the largest one of every part of the view.
function findLandmarks(map, order) {
  const landmarks = new Set(data.crowded ? order.slice(0, map.nFirst) : []);
  if (!data.crowded) return landmarks;
  const isApart = (f) => [...landmarks].every((g) => Math.abs(map.at[f][0] - map.at[g][0]) > 130 || Math.abs(map.at[f][1] - map.at[g][1]) > 36);
  for (const f of byShare) if (isInView(map, f) && isApart(f)) landmarks.add(f);
  return landmarks;
}
