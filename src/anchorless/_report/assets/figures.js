// ---- map, matrix and shares ----
const figure = { width: 0, mark: () => {} };
function drawFigure() {
  const holder = byId("view"), width = Math.max(260, holder.clientWidth);
  const hadFocus = holder.contains(document.activeElement);
  figure.width = width;
  const [picture, mark, note] = { map: drawMap, matrix: drawMatrix, shares: drawShares }[state.view](width);
  holder.replaceChildren(picture);
  byId("view-note").replaceChildren(...note);
  figure.mark = mark;
  if (mark.place) mark.place();
  mark(state.topic);
  if (hadFocus) holder.querySelector(".on")?.focus();
}

function drawMap(width) {
  const height = Math.round(Math.min(width * (width < 480 ? 1.15 : 0.82), 620));
  const radius = topics.map((t) => Math.max(9, Math.min(width, height) * (F > 30 ? 0.042 : 0.055) * Math.sqrt((t.share || 0) / largestShare)));
  const at = separateCircles(data.positions, radius, width, height);
  const lines = [], group = [];
  const picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `Map of ${formatCount(F, "topic")}: topics that are often together are close to each other and joined by lines` });
  const behind = draw("g", { "aria-hidden": "true" });
  picture.append(behind);
  const addLine = (f, g, extra) => {
    const r = getAssociation(f, g) || 0;
    const line = draw("line", { x1: at[f][0], y1: at[f][1], x2: at[g][0], y2: at[g][1], class: "link-line" + (r < 0 ? " negative" : "") + (isUncertain(f, g) ? " uncertain" : ""), "stroke-width": (0.7 + (3.3 * Math.abs(r)) / Math.max(0.1, strongestAssociation)).toFixed(2) });
    behind.append(line);
    lines.push({ f, g, line, extra });
  };
  for (const [f, g] of data.links) addLine(f, g, false);
  const labels = topics.map((t, f) => {
    const node = draw("g", { class: "node", role: "button", "aria-label": `${getTitle(f)}, ${formatPercent(t.share)} of the text` });
    const label = draw("text", { class: "name" }, shorten(getLabel(f).split(", ").slice(0, 2).join(", "), 24));
    node.append(draw("title", {}, `${getTitle(f)} (${formatPercent(t.share)})`), draw("circle", { cx: at[f][0], cy: at[f][1], r: radius[f].toFixed(1) }), draw("text", { class: "digit", x: at[f][0], y: at[f][1], "aria-hidden": "true" }, String(t.number)));
    for (const [event, over] of [["pointerenter", true], ["pointerleave", false], ["focus", true], ["blur", false]]) node.addEventListener(event, () => label.classList.toggle("over", over));
    return { node, label };
  });
  for (const f of byShare) { makePressable(labels[f].node, f, group); picture.append(labels[f].node); }
  // Labels are drawn above all circles: another topic must not cover the label of the chosen one.
  picture.append(draw("g", { class: "names", "aria-hidden": "true" }, ...byShare.map((f) => labels[f].label)));
  const mark = (chosen) => {
    markGroup(group, chosen);
    for (const { line } of lines.filter((l) => l.extra)) line.remove();
    lines.splice(0, lines.length, ...lines.filter((l) => !l.extra));
    const [positive, negative] = findAssociated(chosen);
    const near = new Set([...positive, ...negative].map((x) => x.g));
    for (const g of near) if (!lines.some((l) => (l.f === chosen && l.g === g) || (l.g === chosen && l.f === g))) addLine(chosen, g, true);
    for (const { f, g, line } of lines) line.classList.toggle("near", f === chosen || g === chosen);
    labels.forEach(({ node, label }, f) => {
      node.classList.toggle("near", near.has(f));
      label.classList.toggle("near", near.has(f));
      label.classList.toggle("on", f === chosen);
      node.classList.toggle("negative", near.has(f) && getAssociation(chosen, f) < 0);
    });
  };
  mark.place = () => placeLabels(labels, at, radius, width, height);
  const note = [make("span", { class: "sample" }), "often together ", make("span", { class: "sample negative" }), "rarely together, beyond what their sizes explain; thicker lines are stronger. Topics that are often together are close to each other. The area of a circle shows the topic’s share. Lines of the chosen topic are colored."];
  if (data.uncertain.length) note.push(" ", make("span", { class: "sample uncertain" }), "not significantly different from zero.");
  return [picture, mark, F > 1 ? note : ["There is only one topic."]];
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

// Place the labels where they cover no circle or label, and as few lines as possible, large topics first. Labels without
// such a place are shown only while their topic is pointed at, chosen, or associated with the chosen topic.
function placeLabels(labels, at, radius, width, height) {
  const taken = at.map(([x, y], f) => [x - radius[f], y - radius[f], x + radius[f], y + radius[f]]);
  const free = (box, own) => box[0] >= 0 && box[2] <= width && box[1] >= 0 && box[3] <= height && taken.every((t, i) => i === own || box[2] <= t[0] || box[0] >= t[2] || box[3] <= t[1] || box[1] >= t[3]);
  // With few topics, every line may be drawn: those of the chosen topic are added.
  const links = F > 8 ? data.links : topics.flatMap((_, g) => [...Array(g).keys()].map((h) => [h, g])).filter(([g, h]) => Math.abs(getAssociation(g, h) || 0) >= LEAST_ASSOCIATION);
  for (const f of byShare) {
    const { label } = labels[f], [x, y] = at[f], w = 1.1 * label.getComputedTextLength() + 4, r = radius[f] + 5;
    const spots = [[x + r, y - 7], [x - r - w, y - 7], [x - w / 2, y + r - 2], [x - w / 2, y - r - 13]];
    for (const side of [x + 0.75 * r, x - 0.75 * r - w]) spots.push([side, y + 0.75 * r - 4], [side, y - 0.75 * r - 10]);
    const boxes = spots.map(([left, top]) => [left, top, left + w, top + 14]).filter((box) => free(box, f));
    const lines = boxes.map((box) => links.filter(([g, h]) => crosses(at[g], at[h], box)).length);
    const spot = boxes[lines.indexOf(Math.min(...lines))];
    const [left, top] = spot || [Math.min(Math.max(0, x - w / 2), Math.max(0, width - w)), y + r - 2 + 14 < height ? y + r - 2 : y - r - 13];
    if (spot) taken.push([left, top, left + w, top + 14]);
    label.classList.toggle("quiet", !spot);
    label.setAttribute("x", (left + 2 + (w - 4) / 2).toFixed(1));
    label.setAttribute("y", (top + 11).toFixed(1));
    label.setAttribute("text-anchor", "middle");
  }
}

function drawMatrix(width) {
  const names = width < 480 ? 34 : 170, side = Math.min(30, (width - names) / F), top = 22;
  const span = side * F, darkest = Math.max(0.05, strongestAssociation);
  const picture = draw("svg", { viewBox: `0 0 ${width} ${top + span + 2}`, role: "group", "aria-label": "Matrix of associations between topics" });
  const group = [], step = Math.ceil(14 / side);
  data.order.forEach((f, i) => {
    const y = top + i * side;
    const row = draw("g", { class: "row", role: "button", "aria-label": `${getTitle(f)}. ${describeAssociated(f)}` });
    row.append(draw("title", {}, getTitle(f)), draw("rect", { class: "hit", x: 0, y, width: names - 4, height: side }));
    if (i % step === 0) {
      const text = names < 100 ? String(topics[f].number) : shorten(`${topics[f].number}  ${getLabel(f)}`, 23);
      row.append(draw("text", { x: names - 8, y: y + side / 2 + 4, "text-anchor": "end" }, text));
      picture.append(draw("text", { class: "tick", x: names + (i + 0.5) * side, y: top - 7, "text-anchor": "middle", "aria-hidden": "true" }, String(topics[f].number)));
    }
    makePressable(row, f, group);
    picture.append(row);
    data.order.forEach((g, j) => {
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
    markGroup(group, chosen);
    const i = data.order.indexOf(chosen);
    across.setAttribute("y", top + i * side - 0.5);
    down.setAttribute("x", names + i * side - 0.5);
  };
  return [picture, mark, [make("span", { class: "positive-text" }, "Blue"), ": often together. ", make("span", { class: "negative-text" }, "Orange"), `: rarely together, beyond what their sizes explain. Darker is stronger; the largest absolute association is ${formatDecimal(data.association.flat().some((r) => !isMissing(r)) ? strongestAssociation : null)}. Topics are ordered so that neighbors are often together.`]];
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
  return [picture, (chosen) => markGroup(group, chosen), ["The share of the text in all documents that each topic accounts for. The shares sum to 100%."]];
}

// ---- over time ----
function drawTime() {
  const { names: periods, values } = data.prevalence, holder = byId("time-chart"), width = Math.max(260, holder.clientWidth), height = width < 480 ? 240 : 320;
  const left = 40, right = 14, top = 16, bottom = 28, P = periods.length;
  const highest = Math.max(1e-6, ...values.flat().map((v) => v || 0)), unit = chooseTickStep(highest), ceiling = Math.ceil(highest / unit) * unit;
  const x = (i) => left + (P < 2 ? 0.5 : i / (P - 1)) * (width - left - right), y = (v) => top + (1 - v / ceiling) * (height - top - bottom);
  const picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: "img", "aria-label": "" });
  for (let v = 0; v <= ceiling + unit / 2; v += unit) picture.append(draw("line", { class: "axis", x1: left, x2: width - right, y1: y(v), y2: y(v) }), draw("text", { class: "tick", x: left - 6, y: y(v) + 4, "text-anchor": "end" }, formatPercent(v, unit < 0.01 ? 1 : 0)));
  const widest = Math.max(...periods.map((p) => Math.min(12, p.length))) * 7 + 14, every = Math.max(1, Math.ceil((1.5 * widest * (P - 1)) / (width - left - right))); // 1.5: the first and last label are not centered
  periods.forEach((p, i) => { if (i % every === 0) picture.append(draw("text", { class: "tick", x: x(i), y: height - 8, "text-anchor": i === 0 && P > 1 ? "start" : x(i) > width - widest / 2 ? "end" : "middle" }, shorten(p, 12))); });
  const path = (row) => row.map((v, i) => (isMissing(v) ? "" : `${i === 0 || isMissing(row[i - 1]) ? "M" : "L"}${x(i).toFixed(1)} ${y(v).toFixed(1)}`)).join("");
  const paths = values.map((row) => draw("path", { class: "line", d: path(row) }));
  const dots = draw("g"), cursor = draw("line", { class: "cursor", y1: top, y2: height - bottom, visibility: "hidden" }), callout = draw("text", { class: "callout", "aria-hidden": "true" });
  picture.append(...paths, dots, cursor, callout);
  const point = (f, i) => {
    paths.forEach((p, g) => p.classList.toggle("over", g === f && f !== state.topic));
    const shown = f !== null && i !== null && !isMissing(values[f][i]);
    cursor.setAttribute("visibility", shown ? "visible" : "hidden");
    callout.textContent = shown ? `${shorten(periods[i], 14)}: ${formatPercent(values[f][i])} ${shorten(getLabel(f), width < 480 ? 20 : 36)}` : "";
    if (!shown) return;
    cursor.setAttribute("x1", x(i)); cursor.setAttribute("x2", x(i));
    const late = x(i) > width / 2;
    callout.setAttribute("x", x(i) + (late ? -8 : 8)); callout.setAttribute("y", Math.max(12, y(values[f][i]) - 9)); callout.setAttribute("text-anchor", late ? "end" : "start");
  };
  const nearest = (event) => {
    const box = picture.getBoundingClientRect(), px = ((event.clientX - box.left) * width) / box.width, py = ((event.clientY - box.top) * height) / box.height;
    const i = Math.max(0, Math.min(P - 1, Math.round(((px - left) / (width - left - right)) * (P - 1) || 0)));
    const off = (f) => (isMissing(values[f][i]) ? Infinity : Math.abs(y(values[f][i]) - py));
    return [byShare.reduce((best, f) => (off(f) < off(best) ? f : best), byShare[0]), i];
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
    byId("announcement").textContent = `${periods[reading]}: ${formatPercent(values[state.topic][reading])}`;
  });
  picture.addEventListener("blur", () => { reading = null; point(null, null); });
  holder.replaceChildren(picture);
  return (f) => {
    paths.forEach((p, g) => p.classList.toggle("on", g === f));
    picture.insertBefore(paths[f], dots);
    dots.replaceChildren(...values[f].flatMap((v, i) => (isMissing(v) || P > 40 ? [] : [draw("circle", { class: "dot", cx: x(i).toFixed(1), cy: y(v).toFixed(1), r: 3 })])));
    const known = values[f].map((v, i) => [v, i]).filter(([v]) => !isMissing(v)), peak = known.reduce((a, b) => (b[0] > a[0] ? b : a), known[0] || [null, 0]);
    const sentence = known.length ? `The mean share of “${getLabel(f)}” was largest in ${periods[peak[1]]}: ${formatPercent(peak[0])}.` : `There are no shares of “${getLabel(f)}” over time.`;
    picture.setAttribute("aria-label", `Mean share in the documents of each period. ${sentence}`);
    byId("time-note").textContent = `Mean share of each topic in the documents of a period; the chosen topic is blue, the others are gray. ${sentence} Point at a line to read its values, or click it to choose its topic.`;
  };
}
function chooseTickStep(highest) { const rough = highest / 4, power = 10 ** Math.floor(Math.log10(rough)); return power * [1, 2, 2.5, 5, 10].find((m) => m * power >= rough - 1e-12); }
