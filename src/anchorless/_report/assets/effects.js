// ---- effects: differences and curves of the chosen topic, and one difference of all topics ----
const SIGNIFICANCE = 0.05;
const formatPoints = (x) => (isMissing(x) ? "–" : (x > 0 ? "+" : "") + x.toFixed(Math.abs(x) < 0.1 && x !== 0 ? 2 : 1).replace("-", "−"));
const formatP = (p) => (isMissing(p) ? "–" : p < 0.001 ? "p < 0.001" : `p = ${p.toFixed(p < 0.01 ? 3 : 2)}`);
const describeDifference = ([points, low, high, p]) => (isMissing(points) ? "not known" : `${formatPoints(points)} percentage points (${formatPoints(low)} to ${formatPoints(high)}), ${formatP(p)}`);
const nameTarget = (t) => `${t.topics.length > 1 ? `Topics ${t.name} together` : `Topic ${topics[t.topics[0]].number}`}: ${t.label || "(no words)"}`;

// The smallest and the largest limit, with zero between them, so that figures of different topics have the same scale.
function findRange(rows) {
  const limits = rows.flat().flatMap(([points, low, high]) => [points, low, high].map((x) => x || 0));
  return limits.reduce(([least, most], x) => [Math.min(least, x), Math.max(most, x)], [-0.05, 0.05]);
}

// Rows: { name, title, value: [points, low, high, p], topic }. Rows with a topic can be pressed. Where there is no room for
// names beside the data, as on a phone, they stand above.
function drawForest(rows, [least, most], width, about, group) {
  const narrow = width < 480, above = narrow ? 18 : 0, side = 26 + above, bottom = 26, figures = narrow ? 0 : 150, names = narrow ? 12 : Math.min(230, width * 0.42), right = width - figures - (narrow ? 14 : 10);
  const unit = chooseTickStep(most - least), from = Math.floor(least / unit + 1e-9) * unit, to = Math.ceil(most / unit - 1e-9) * unit, height = rows.length * side;
  const x = (v) => names + ((Math.max(from, Math.min(to, v)) - from) / (to - from)) * (right - names);
  const picture = draw("svg", { viewBox: `0 0 ${width} ${height + bottom}`, role: group ? "group" : "img", "aria-label": about });
  for (let v = from; v <= to + unit / 2; v += unit) {
    const zero = Math.abs(v) < unit / 2, shown = zero || Math.round(v / unit) % (narrow ? 2 : 1) === 0;
    picture.append(draw("line", { class: zero ? "zero" : "axis", x1: x(v), x2: x(v), y1: 0, y2: height }));
    if (shown) picture.append(draw("text", { class: "tick", x: x(v), y: height + 16, "text-anchor": "middle", "aria-hidden": "true" }, zero ? "0" : formatPoints(v).replace(/\.0$/, "")));
  }
  rows.forEach(({ name, title, value, topic }, i) => {
    const [points, low, high, p] = value, y = i * side + above + (side - above) / 2, pressed = group && !isMissing(topic);
    const row = draw("g", pressed ? { class: "row effect", role: "button", "aria-label": `${title}: ${describeDifference(value)}` } : { class: "effect on" });
    row.append(draw("title", {}, `${title}: ${describeDifference(value)}`), draw("rect", { class: "hit", x: 0, y: i * side, width, height: side }));
    const room = narrow ? width : names, place = narrow ? { x: 0, y: i * side + 14 } : { x: names - 10, y: y + 4, "text-anchor": "end" };
    row.append(draw("text", { class: "effect-name", ...place }, shorten(name, Math.floor(room / 7.2))));
    if (!isMissing(points)) {
      row.append(draw("line", { class: "whisker", x1: x(low), x2: x(high), y1: y, y2: y }), draw("circle", { class: `estimate${p < SIGNIFICANCE ? "" : " open"}`, cx: x(points), cy: y, r: 4 }));
      if (figures) row.append(draw("text", { class: "figure-text", x: right + 10, y: y + 4 }, `${formatPoints(points)} (${formatPoints(low)} to ${formatPoints(high)})`));
    }
    if (pressed) makePressable(row, topic, group);
    picture.append(row);
  });
  return picture;
}

function drawCurve(curve, t, width, level) {
  const { column, values, places, shares } = curve, rows = shares[t], n = rows.length, height = width < 480 ? 200 : 240, left = 44, right = 12, top = 10, bottom = 28;
  const highest = shares.flat().reduce((most, [, , high]) => Math.max(most, high || 0), 1e-4), unit = chooseTickStep(highest), ceiling = Math.ceil(highest / unit - 1e-9) * unit;
  const first = places[0], last = places[n - 1], x = (i) => left + (last > first ? (places[i] - first) / (last - first) : 0.5) * (width - left - right), y = (v) => top + (1 - v / ceiling) * (height - top - bottom);
  const peak = rows.reduce((best, row, i) => ((row[0] || 0) > (rows[best][0] || 0) ? i : best), 0), dip = rows.reduce((best, row, i) => ((row[0] || 0) < (rows[best][0] || 0) ? i : best), 0);
  const p = curve.p[t], evidence = isMissing(p) ? "" : p < SIGNIFICANCE ? `It varies with ${column} (${formatP(p)}).` : `The data cannot tell whether it varies with ${column} (${formatP(p)}).`;
  const sentence = `${evidence} Smallest at ${values[dip]}: ${formatPercent(rows[dip][0])}; largest at ${values[peak]}: ${formatPercent(rows[peak][0])}.`;
  const picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: "img", "aria-label": `Mean share by ${column}, with bands of ${formatPercent(level, 0)}. ${sentence}` });
  for (let v = 0; v <= ceiling + unit / 2; v += unit) picture.append(draw("line", { class: "axis", x1: left, x2: width - right, y1: y(v), y2: y(v) }), draw("text", { class: "tick", x: left - 6, y: y(v) + 4, "text-anchor": "end" }, formatPercent(v, unit < 0.01 ? 1 : 0)));
  const tick = (at, text, anchor) => picture.append(draw("text", { class: "tick", x: at, y: height - 8, "text-anchor": anchor }, shorten(text, 12)));
  if (values.every((v, i) => Math.abs(Number(v) - places[i]) <= 1e-4 * Math.abs(places[i]))) {
    const step = chooseTickStep((last - first || 1) * (width < 480 ? 1.5 : 1)), scale = (v) => left + ((v - first) / (last - first || 1)) * (width - left - right);
    for (let v = Math.ceil(first / step - 1e-9) * step; v <= last + 1e-9 * step; v += step) tick(scale(v), String(Number(v.toPrecision(6))).replace("-", "−"), scale(v) > width - 20 ? "end" : "middle");
  } else {
    const marks = Math.max(2, Math.floor((width - left - right) / 110)), shown = [...new Set(Array.from({ length: marks }, (_, k) => Math.round((k * (n - 1)) / (marks - 1))))];
    for (const i of shown) tick(x(i), values[i], i === 0 ? "start" : i === n - 1 ? "end" : "middle");
  }
  const known = rows.map((row, i) => [row, i]).filter(([row]) => row.every((v) => !isMissing(v)));
  const path = (at) => known.map(([row, i]) => `${x(i).toFixed(1)} ${y(row[at]).toFixed(1)}`);
  if (known.length) picture.append(draw("path", { class: "band", d: `M${[...path(1), ...path(2).reverse()].join("L")}Z` }), draw("path", { class: "line on", d: `M${path(0).join("L")}` }));
  const cursor = draw("line", { class: "cursor", y1: top, y2: height - bottom, visibility: "hidden" }), callout = draw("text", { class: "callout", "aria-hidden": "true", y: top + 6 });
  picture.append(cursor, callout);
  const describe = (i) => `${values[i]}: ${formatPercent(rows[i][0])} (${formatPercent(rows[i][1])} to ${formatPercent(rows[i][2])})`;
  const point = (i) => {
    cursor.setAttribute("visibility", i === null ? "hidden" : "visible");
    callout.textContent = i === null ? "" : describe(i);
    if (i === null) return;
    const late = x(i) > width / 2;
    cursor.setAttribute("x1", x(i)); cursor.setAttribute("x2", x(i));
    callout.setAttribute("x", x(i) + (late ? -8 : 8)); callout.setAttribute("text-anchor", late ? "end" : "start");
  };
  let reading = null;
  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect(), px = ((event.clientX - box.left) * width) / box.width;
    point(places.reduce((best, _, i) => (Math.abs(x(i) - px) < Math.abs(x(best) - px) ? i : best), 0));
  });
  picture.addEventListener("pointerleave", () => point(null));
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    reading = reading === null ? (step > 0 ? 0 : n - 1) : Math.max(0, Math.min(n - 1, reading + step));
    point(reading);
    byId("announcement").textContent = describe(reading);
  });
  picture.addEventListener("blur", () => { reading = null; point(null); });
  return make("div", { class: "curve" }, make("h4", { dir: "auto" }, `Mean share by ${column}`), picture, make("p", { class: "note" }, sentence));
}

function drawEffects() {
  const { formula, level, sentences, targets, comparisons, points, curves } = data.effects, chooser = byId("effects-comparison");
  const range = findRange(points), selected = Math.max(0, Number(chooser.value) || 0);
  byId("effects-note").textContent = `${formula}. ${sentences.join(" ")}`;
  byId("effects-reading").hidden = byId("effects-all-part").hidden = !comparisons.length;
  byId("effects-all-part").classList.toggle("many", data.crowded); // on paper, more than a page
  chooser.replaceChildren(...comparisons.map((name, i) => make("option", { value: i, selected: i === selected }, name)));
  let group = [];
  const drawAll = () => {
    const holder = byId("effects-all"), c = Number(chooser.value) || 0, hadFocus = holder.contains(document.activeElement);
    group = [];
    const rows = targets.map((t, i) => ({ name: `${t.topics.length > 1 ? t.name : topics[t.topics[0]].number}  ${t.label}`, title: nameTarget(t), value: points[i][c], topic: t.topics[0] }));
    if (!comparisons.length) { holder.replaceChildren(); return; }
    holder.replaceChildren(drawForest(rows, findRange(points.map((row) => [row[c]])), Math.max(260, holder.clientWidth), `${comparisons[c]}, all topics`, group));
    markGroup(group, state.topic);
    if (hadFocus) holder.querySelector(".on")?.focus();
  };
  chooser.onchange = drawAll;
  drawAll();
  return (f) => {
    markGroup(group, f);
    const holder = byId("effects-chosen"), width = Math.max(260, holder.clientWidth), parts = [];
    targets.forEach((t, i) => {
      if (!t.topics.includes(f)) return;
      parts.push(make("h3", { dir: "auto" }, nameTarget(t)));
      const rows = comparisons.map((name, c) => ({ name, title: name, value: points[i][c] }));
      const about = `Differences: ${rows.map((row) => `${row.name}, ${describeDifference(row.value)}`).join("; ")}.`;
      if (rows.length) parts.push(drawForest(rows, range, width, about, null));
      parts.push(...curves.map((curve) => drawCurve(curve, i, width, level)));
    });
    holder.replaceChildren(...(parts.length ? parts : [make("p", { class: "note" }, `No effects on “${getLabel(f)}” were estimated.`)]));
  };
}
