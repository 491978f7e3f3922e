// ---- map, matrix, shares and pairs ----
const figure = { width: 0, mark: () => {} };
function drawFigure() {
  const holder = byId("view"), width = Math.max(260, holder.clientWidth);
  const hadFocus = holder.contains(document.activeElement);
  figure.width = width;
  const [picture, mark, note] = { map: drawMap, matrix: drawMatrix, shares: drawShares, pairs: drawPairs }[state.view](width);
  holder.replaceChildren(picture);
  byId("view-note").replaceChildren(...note);
  figure.mark = mark;
  if (mark.place) mark.place();
  mark(state.topic);
  if (hadFocus) holder.querySelector(".on")?.focus();
}

// Of many topics, the matrix shows the chosen one and those with which it is associated most.
const MATRIX_TOPICS = 30;
function listMatrixTopics(chosen) {
  if (!data.crowded) return data.order;
  const size = (f) => (f === chosen ? Infinity : Math.abs(getAssociation(chosen, f) || 0));
  const shown = new Set([...data.order].sort((f, g) => size(g) - size(f)).slice(0, MATRIX_TOPICS));
  return data.order.filter((f) => shown.has(f));
}
function drawMatrix(width) {
  const center = state.topic, order = listMatrixTopics(center);
  const names = width < 480 ? 34 : 170, side = Math.min(30, (width - names) / order.length), top = 22;
  const span = side * order.length, darkest = Math.max(0.05, strongestAssociation);
  const picture = draw("svg", { viewBox: `0 0 ${width} ${top + span + 2}`, role: "group", "aria-label": "Matrix of associations between topics" });
  const group = [], step = Math.ceil(14 / side), columnStep = Math.ceil((F > 100 ? 24 : 14) / side); // three digits are wider
  order.forEach((f, i) => {
    const y = top + i * side;
    const row = draw("g", { class: "row", role: "button", "aria-label": `${getTitle(f)}. ${describeAssociated(f)}` });
    row.append(draw("title", {}, getTitle(f)), draw("rect", { class: "hit", x: 0, y, width: names - 4, height: side }));
    if (i % step === 0) {
      const text = names < 100 ? String(topics[f].number) : shorten(`${topics[f].number}  ${getLabel(f)}`, 23);
      row.append(draw("text", { x: names - 8, y: y + side / 2 + 4, "text-anchor": "end" }, text));
    }
    if (i % columnStep === 0) {
      picture.append(draw("text", { class: "tick", x: names + (i + 0.5) * side, y: top - 7, "text-anchor": "middle", "aria-hidden": "true" }, String(topics[f].number)));
    }
    makePressable(row, f, group);
    picture.append(row);
    order.forEach((g, j) => {
      const r = f === g ? 1 : getAssociation(f, g), kind = f === g ? "self" : r < 0 ? "negative" : "positive";
      if (isMissing(r)) return;
      const cell = draw("rect", { class: `cell ${kind}`, x: (names + j * side).toFixed(2), y: y.toFixed(2), width: Math.max(1, side - 1).toFixed(2), height: Math.max(1, side - 1).toFixed(2), "fill-opacity": f === g ? 1 : (Math.abs(r) / darkest).toFixed(3), onclick: () => chooseTopic(f) });
      if (f !== g) cell.append(draw("title", {}, `${topics[f].number} ${getLabel(f)}\n${topics[g].number} ${getLabel(g)}\n${formatSigned(r)}`));
      picture.append(cell);
    });
  });
  const across = draw("rect", { class: "cross", x: names - 0.5, width: span, height: side }), down = draw("rect", { class: "cross", y: top - 0.5, width: side, height: span });
  picture.append(across, down);
  const mark = (chosen) => {
    if (data.crowded && chosen !== center) { drawFigure(); return; }
    markGroup(group, chosen);
    const i = order.indexOf(chosen);
    across.setAttribute("y", top + i * side - 0.5);
    down.setAttribute("x", names + i * side - 0.5);
  };
  return [picture, mark, [make("span", { class: "positive-text" }, "Blue"), ": often together. ", make("span", { class: "negative-text" }, "Orange"), `: rarely together, beyond what their sizes explain. Darker is stronger; the largest absolute association is ${formatDecimal(data.association.flat().some((r) => !isMissing(r)) ? strongestAssociation : null)}. Topics are ordered so that neighbors are often together.`, data.crowded ? ` Shown are the chosen topic and the ${order.length - 1} topics with which it is associated most; associations below ${formatDecimal(LEAST_ASSOCIATION)} are left out.` : ""]];
}

function drawShares(width) {
  const side = 24, names = Math.min(230, width * 0.45), longest = width - names - 52, group = [];
  const picture = draw("svg", { viewBox: `0 0 ${width} ${F * side}`, role: "group", "aria-label": "Shares of the topics, largest first" });
  byShare.forEach((f, i) => {
    const t = topics[f], y = i * side, length = longest * ((t.share || 0) / largestShare);
    const row = draw("g", { class: "row", role: "button", "aria-label": `${getTitle(f)}, ${formatPercent(t.share)}` });
    row.append(draw("title", {}, getTitle(f)), draw("rect", { class: "hit", x: 0, y, width, height: side }),
      draw("text", { x: names - 8, y: y + 16, "text-anchor": "end" }, shorten(`${t.number}  ${getLabel(f)}`, Math.floor(names / 6.6))),
      draw("rect", { class: "share", x: names, y: y + 5, width: Math.max(1, length).toFixed(1), height: side - 10 }),
      draw("text", { class: "figure-text", x: names + length + 6, y: y + 16 }, formatPercent(t.share)));
    makePressable(row, f, group);
    picture.append(row);
  });
  // Of many topics, the list scrolls by itself, to the chosen topic.
  const list = make("div", { class: "scroll rows" }, picture);
  const mark = (chosen) => {
    markGroup(group, chosen);
    if (data.crowded) list.scrollTop = byShare.indexOf(chosen) * side - list.clientHeight / 2;
  };
  return [data.crowded ? list : picture, mark, ["The share of the text in all documents that each topic accounts for. The shares sum to 100%."]];
}

// The strongest associations of all topics: a matrix of hundreds of topics has more cells than anyone can read.
const LISTED_PAIRS = 40;
function drawPairs() {
  const all = data.association.flatMap((row, f) => row.map((r, g) => ({ f, g, r: (r || 0) / 10000 }))).filter(({ r }) => Math.abs(r) >= LEAST_ASSOCIATION);
  const list = (heading, pairs, kind) => make("div", {}, make("h3", {}, heading), make("ol", {}, ...pairs.slice(0, LISTED_PAIRS).map(({ f, g, r }) => make("li", {}, make("span", { class: `r ${kind}` }, formatSigned(r)), make("span", {}, makeTopicButton(f, getLabel(f), { class: "link", "data-topic": f }), " / ", makeTopicButton(g, getLabel(g), { class: "link", "data-topic": g }))))));
  const columns = make("div", { class: "pairs" }, list("Often together", all.filter(({ r }) => r > 0).sort((a, b) => b.r - a.r), "positive-text"), list("Rarely together", all.filter(({ r }) => r < 0).sort((a, b) => a.r - b.r), "negative-text"));
  const mark = (chosen) => { for (const link of columns.querySelectorAll("[data-topic]")) link.classList.toggle("on", Number(link.dataset.topic) === chosen); };
  return [columns, mark, [`The strongest associations, at most ${LISTED_PAIRS} of either kind: together in the same documents more or less often than their sizes explain.`]];
}

// ---- over time ----
const INTERVALS_NOTE = "Intervals (90%) are about which documents were collected, with the topics as they were fitted.";
function formatInterval({ low, high }, row, column) { return low && !isMissing(low[row][column]) ? ` (${formatPercent(low[row][column])} to ${formatPercent(high[row][column])})` : ""; }
// Of many topics, only the largest have a gray line.
const largestTopics = new Set(byShare.slice(0, data.crowded ? 60 : F));
function drawTime() {
  const { names: periods, values, counts, low, high } = data.prevalence, holder = byId("time-chart"), width = Math.max(260, holder.clientWidth), height = width < 480 ? 240 : 320;
  const left = 40, right = 14, top = 16, bottom = 28, P = periods.length;
  const highest = Math.max(1e-6, ...values.flat().map((v) => v || 0)), band = draw("path", { class: "band" }), unit = chooseTickStep(highest), ceiling = Math.ceil(highest / unit) * unit;
  const x = (i) => left + (P < 2 ? 0.5 : i / (P - 1)) * (width - left - right), y = (v) => top + (1 - v / ceiling) * (height - top - bottom);
  const picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: "img", "aria-label": "" });
  for (let v = 0; v <= ceiling + unit / 2; v += unit) picture.append(draw("line", { class: "axis", x1: left, x2: width - right, y1: y(v), y2: y(v) }), draw("text", { class: "tick", x: left - 6, y: y(v) + 4, "text-anchor": "end" }, formatPercent(v, unit < 0.01 ? 1 : 0)));
  const widest = Math.max(...periods.map((p) => Math.min(12, p.length))) * 7 + 14, every = Math.max(1, Math.ceil((1.5 * widest * (P - 1)) / (width - left - right))); // 1.5: the first and last label are not centered
  periods.forEach((p, i) => { if (i % every === 0) picture.append(draw("text", { class: "tick", x: x(i), y: height - 8, "text-anchor": i === 0 && P > 1 ? "start" : x(i) > width - widest / 2 ? "end" : "middle" }, shorten(p, 12))); });
  // Bars at the bottom: how many documents there are in each period.
  const most = Math.max(1, ...counts), bar = Math.min(40, (0.7 * (width - left - right)) / Math.max(1, P - 1));
  counts.forEach((n, i) => {
    const h = (0.2 * (height - top - bottom) * n) / most, from = Math.max(left, x(i) - bar / 2), to = Math.min(width - right, x(i) + bar / 2);
    picture.append(draw("rect", { class: "count", x: from.toFixed(1), width: Math.max(1, to - from).toFixed(1), y: (height - bottom - h).toFixed(1), height: h.toFixed(1) }));
  });
  const path = (row) => row.map((v, i) => (isMissing(v) ? "" : `${i === 0 || isMissing(row[i - 1]) ? "M" : "L"}${x(i).toFixed(1)} ${y(v).toFixed(1)}`)).join("");
  const paths = values.map((row) => draw("path", { class: "line", d: path(row) }));
  const dots = draw("g"), cursor = draw("line", { class: "cursor", y1: top, y2: height - bottom, visibility: "hidden" }), callout = draw("text", { class: "callout", "aria-hidden": "true" });
  picture.append(band, ...paths.filter((_, f) => largestTopics.has(f)), dots, cursor, callout);
  // The interval of the chosen topic; where it is larger than the picture, it is cut.
  const outline = (f) => {
    const at = periods.map((_, i) => i).filter((i) => !isMissing(low[f][i]) && !isMissing(high[f][i])), corner = (i, v) => `${x(i).toFixed(1)} ${y(Math.min(ceiling, v)).toFixed(1)}`;
    return at.length < 2 ? "" : `M${[...at.map((i) => corner(i, high[f][i])), ...at.reverse().map((i) => corner(i, low[f][i]))].join("L")}Z`;
  };
  const point = (f, i) => {
    paths.forEach((p, g) => p.classList.toggle("over", g === f && f !== state.topic));
    const shown = f !== null && i !== null && !isMissing(values[f][i]);
    cursor.setAttribute("visibility", shown ? "visible" : "hidden");
    callout.textContent = shown ? `${shorten(periods[i], 14)}: ${formatPercent(values[f][i])}${formatInterval(data.prevalence, f, i)} ${shorten(getLabel(f), width < 480 ? 20 : 36)}${width < 480 ? "" : `, ${formatCount(counts[i], "document")}`}` : "";
    if (!shown) return;
    cursor.setAttribute("x1", x(i)); cursor.setAttribute("x2", x(i));
    const late = x(i) > width / 2;
    callout.setAttribute("x", x(i) + (late ? -8 : 8)); callout.setAttribute("y", Math.max(12, y(values[f][i]) - 9)); callout.setAttribute("text-anchor", late ? "end" : "start");
  };
  const nearest = (event) => {
    const box = picture.getBoundingClientRect(), px = ((event.clientX - box.left) * width) / box.width, py = ((event.clientY - box.top) * height) / box.height;
    const i = Math.max(0, Math.min(P - 1, Math.round(((px - left) / (width - left - right)) * (P - 1) || 0)));
    const off = (f) => (isMissing(values[f][i]) ? Infinity : Math.abs(y(values[f][i]) - py));
    return [byShare.filter((f) => largestTopics.has(f) || f === state.topic).reduce((best, f) => (off(f) < off(best) ? f : best), byShare[0]), i];
  };
  let reading = null;
  picture.addEventListener("pointermove", (event) => point(...nearest(event)));
  picture.addEventListener("pointerleave", () => point(null, null));
  picture.addEventListener("click", (event) => { const [f, i] = nearest(event); chooseTopic(f); point(f, i); });
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    reading = reading === null ? (step > 0 ? 0 : P - 1) : Math.max(0, Math.min(P - 1, reading + step));
    point(state.topic, reading);
    byId("announcement").textContent = `${periods[reading]}: ${formatPercent(values[state.topic][reading])}${formatInterval(data.prevalence, state.topic, reading)}, ${formatCount(counts[reading], "document")}`;
  });
  picture.addEventListener("blur", () => { reading = null; point(null, null); });
  holder.replaceChildren(picture);
  return (f) => {
    paths.forEach((p, g) => { p.classList.toggle("on", g === f); if (!largestTopics.has(g)) p.remove(); });
    picture.insertBefore(paths[f], dots);
    if (low) band.setAttribute("d", outline(f));
    dots.replaceChildren(...values[f].flatMap((v, i) => (isMissing(v) || P > 40 ? [] : [draw("circle", { class: "dot", cx: x(i).toFixed(1), cy: y(v).toFixed(1), r: 3 })])));
    const known = values[f].map((v, i) => [v, i]).filter(([v]) => !isMissing(v)), peak = known.reduce((a, b) => (b[0] > a[0] ? b : a), known[0] || [null, 0]);
    const sentence = known.length ? `The mean share of “${getLabel(f)}” was largest in ${periods[peak[1]]}: ${formatPercent(peak[0])}.` : `There are no shares of “${getLabel(f)}” over time.`;
    picture.setAttribute("aria-label", `Mean share in the documents of each period. ${sentence}`);
    byId("time-note").textContent = `Mean share of each topic in the documents of a period; the chosen topic is blue, ${data.crowded ? `the ${largestTopics.size} largest` : "the others"} are gray.${low ? " " + INTERVALS_NOTE : ""} Bars show the number of documents, at most ${formatWhole(most)}. ${sentence} Point at a line to read its values, or click it to choose its topic.`;
  };
}
function chooseTickStep(highest) { const rough = highest / 4, power = 10 ** Math.floor(Math.log10(rough)); return power * [1, 2, 2.5, 5, 10].find((m) => m * power >= rough - 1e-12); }
