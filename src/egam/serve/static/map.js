// One map: stops that can be placed, dragged and moved by keys, and a route that is drawn step by step over them.
// Sizes are in pixels of the screen, so that markers stay legible on a phone and with 200 stops.

import { draw, make, shown } from "./dom.js";
import { View } from "./layout.js";

const ROUTE_COLOURS = 6; // of page.css; after that, lines are dashed
const ARROWS_UP_TO = 80; // legs
const NUMBERS_UP_TO = 60; // stops
const LEG_MS = 70;
const LONGEST_MS = 2600;
const ARROW_KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export class RouteMap {
  /** `goToRow(stop)` is called when a reader asks for a stop's row of the table, `say(text)` after keys. */
  constructor(draft, title, { goToRow, say }) {
    this.draft = draft;
    this.goToRow = goToRow;
    this.say = say;
    this.result = null;
    this.current = 0; // the stop that Tab leads to
    this.markers = new Map(); // stop -> its <g>
    this.cross = null; // in the world, while the map has the focus
    this.grid = draw("g", { class: "grid", "aria-hidden": "true" });
    this.legs = draw("g", { class: "legs", "aria-hidden": "true" });
    this.stopLayer = draw("g", { class: "stops" });
    this.crossMark = draw("path", { class: "cross", d: "M-11 0H11M0-11V11", "aria-hidden": "true" });
    this.svg = draw("svg", {
      class: "map", role: "application", tabindex: "0", "aria-label": title, "aria-describedby": "keys-help",
    }, this.grid, this.legs, this.stopLayer, this.crossMark);
    this.readout = make("p", { class: "readout", "aria-hidden": "true" });
    this.element = make("div", { class: "map-box" }, this.svg, this.readout);
    this.listen();
    new ResizeObserver(() => this.refresh()).observe(this.svg);
  }

  // What is shown.

  /** All anew, after edits and when the size changes. */
  refresh() {
    const { clientWidth, clientHeight } = this.svg;
    if (!clientWidth || !clientHeight) return;
    this.svg.setAttribute("viewBox", `0 0 ${clientWidth} ${clientHeight}`);
    this.view = new View(this.draft, clientWidth, clientHeight);
    this.drawGrid(clientWidth, clientHeight);
    this.drawStops();
    this.drawCross();
    if (this.result) this.paint(this.painted);
  }

  /** Show a result; step by step unless the reader's system asks for calm. */
  show(result, stepByStep) {
    this.stopDrawing();
    this.result = result;
    this.prepareLegs();
    const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (!stepByStep || calm) {
      this.paint(this.legCount);
      return;
    }
    const length = Math.min(LONGEST_MS, LEG_MS * this.legCount);
    const began = performance.now();
    const frame = (now) => {
      const share = Math.min(1, Math.max(0, now - began) / length);
      this.paint(share * this.legCount);
      this.drawing = share < 1 ? requestAnimationFrame(frame) : null;
    };
    this.paint(0);
    this.drawing = requestAnimationFrame(frame);
  }

  forget() {
    this.stopDrawing();
    this.result = null;
    this.legs.replaceChildren();
    for (const marker of this.markers.values()) setStatus(marker, "");
    this.relabel();
  }

  stopDrawing() {
    if (this.drawing) cancelAnimationFrame(this.drawing);
    this.drawing = null;
  }

  /** Lead the eye to a stop, e.g. to that of a row under the pointer. */
  mark(number) {
    this.stopLayer.querySelector(".marked")?.classList.remove("marked");
    const marker = this.markers.get(this.draft.stops[number]);
    if (marker) marker.classList.add("marked");
  }

  // Drawing.

  drawGrid(width, height) {
    const [left, top] = this.view.toWorld(0, 0);
    const [right, bottom] = this.view.toWorld(width, height);
    const step = niceStep((right - left) / (width / 60));
    const lines = [];
    for (let x = Math.ceil(left / step) * step; x <= right; x += step) {
      const [at] = this.view.toPixels(x, 0);
      lines.push(`M${at.toFixed(1)} 0V${height}`);
    }
    for (let y = Math.ceil(bottom / step) * step; y <= top; y += step) {
      const [, at] = this.view.toPixels(0, y);
      lines.push(`M0 ${at.toFixed(1)}H${width}`);
    }
    this.grid.replaceChildren(draw("path", { d: lines.join("") }));
  }

  drawStops() {
    const focused = [...this.markers].find(([, marker]) => marker === document.activeElement)?.[0];
    const count = this.draft.stops.length;
    this.current = Math.min(this.current, Math.max(0, count - 1));
    this.markers = new Map();
    const numbered = count <= NUMBERS_UP_TO && this.svg.clientWidth > 280;
    const radius = numbered ? (count <= 30 ? 10 : 8.5) : count <= 120 ? 5.5 : 4.5;
    this.draft.stops.forEach((stop, number) => this.markers.set(stop, this.marker(stop, number, radius, numbered)));
    const [start, ...others] = this.markers.values();
    this.stopLayer.replaceChildren(...others, ...(start ? [start] : []));
    for (const stop of this.draft.stops) this.place(stop);
    this.relabel();
    if (focused && this.markers.has(focused)) this.markers.get(focused).focus();
  }

  marker(stop, number, radius, numbered) {
    const size = number === 0 ? radius + 2 : radius;
    const marker = draw("g", {
      class: number === 0 ? "stop start" : "stop", role: "button", "data-node": number,
      tabindex: number === this.current ? "0" : "-1",
    },
    draw("circle", { class: "reach", r: Math.max(size + 5, 12) }),
    draw("circle", { class: "halo", r: size + 5 }),
    number === 0
      ? draw("rect", { class: "body", x: -size, y: -size, width: 2 * size, height: 2 * size, rx: size / 3 })
      : draw("circle", { class: "body", r: size }));
    if (numbered) marker.append(draw("text", { "font-size": number > 99 ? 8 : size, dy: "0.35em" }, String(number)));
    return marker;
  }

  place(stop) {
    if (!this.view) return; // not on the page
    const [left, top] = this.view.toPixels(stop.x, stop.y);
    const known = Number.isFinite(left) && Number.isFinite(top);
    this.markers.get(stop)?.setAttribute("transform", known ? `translate(${left.toFixed(2)} ${top.toFixed(2)})` : "");
  }

  prepareLegs() {
    this.order = this.result.routes.map((route) => [0, ...route, 0]);
    this.legCount = this.order.reduce((sum, nodes) => sum + nodes.length - 1, 0);
    this.legs.replaceChildren();
    this.lines = this.order.map((_, number) => {
      const style = `route route-${number % ROUTE_COLOURS} lap-${Math.floor(number / ROUTE_COLOURS) % 3}`;
      const pair = [draw("path", { class: style }), draw("path", { class: `arrows route-${number % ROUTE_COLOURS}` })];
      this.legs.append(...pair);
      return pair;
    });
    this.statuses = new Map(this.result.schedule.map((row) => [row.node, row.status]));
  }

  /** The first `progress` legs, a broken number being a leg under way. */
  paint(progress) {
    this.painted = progress;
    let left = progress;
    const reached = new Set();
    this.order.forEach((nodes, number) => {
      const { line, arrows } = this.trace(nodes, left, reached);
      this.lines[number][0].setAttribute("d", line);
      this.lines[number][1].setAttribute("d", arrows);
      left -= nodes.length - 1;
    });
    const all = progress >= this.legCount;
    this.draft.stops.forEach((stop, number) => {
      const marker = this.markers.get(stop);
      if (marker && number) setStatus(marker, all || reached.has(number) ? this.statuses.get(number) ?? "" : "waiting");
    });
    if (all) this.relabel();
  }

  trace(nodes, legs, reached) {
    let [line, arrows] = ["", ""];
    for (let k = 0; k + 1 < nodes.length && legs > k; k += 1) {
      const [from, to] = [this.at(nodes[k]), this.at(nodes[k + 1])];
      const share = Math.min(1, legs - k);
      const tip = [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share];
      if (k === 0) line += `M${pair(from)}`;
      line += `L${pair(tip)}`;
      if (share === 1) reached.add(nodes[k + 1]);
      if (share === 1 && this.legCount <= ARROWS_UP_TO) arrows += arrowBetween(from, to);
    }
    return { line, arrows };
  }

  at(node) {
    const stop = this.draft.stops[node];
    return this.view.toPixels(stop.x, stop.y);
  }

  drawCross() {
    const seen = this.cross !== null;
    this.crossMark.classList.toggle("seen", seen);
    if (!seen) return;
    const [left, top] = this.view.toPixels(...this.cross);
    this.crossMark.setAttribute("transform", `translate(${left} ${top})`);
  }

  relabel() {
    const rows = new Map((this.result?.schedule ?? []).map((row) => [row.node, row]));
    this.draft.stops.forEach((stop, number) => {
      this.markers.get(stop)?.setAttribute("aria-label", describe(stop, number, rows.get(number)));
    });
  }

  // Pointer and keys.

  listen() {
    this.svg.addEventListener("click", (event) => {
      if (event.target.closest(".stop")) return;
      const [x, y] = this.worldAt(event);
      if (this.mayPlace()) this.draft.add(x, y);
    });
    this.svg.addEventListener("pointerdown", (event) => this.grab(event));
    this.svg.addEventListener("pointermove", (event) => this.read(event));
    this.svg.addEventListener("pointerleave", () => { this.readout.textContent = ""; });
    this.svg.addEventListener("keydown", (event) => this.press(event));
    this.svg.addEventListener("focusin", (event) => this.focused(event));
    this.svg.addEventListener("focusout", () => {
      this.cross = null;
      this.drawCross();
    });
  }

  worldAt(event) {
    const { left, top } = this.svg.getBoundingClientRect();
    return this.view.toWorld(event.clientX - left, event.clientY - top);
  }

  mayPlace() {
    return !this.draft.hasMatrix;
  }

  stopOf(element) {
    const marker = element.closest?.(".stop");
    return marker ? this.draft.stops[Number(marker.dataset.node)] : null;
  }

  grab(event) {
    const stop = this.stopOf(event.target);
    if (!stop || event.button !== 0) return;
    const marker = this.markers.get(stop);
    marker.setPointerCapture(event.pointerId);
    let moved = false;
    const [startX, startY] = [event.clientX, event.clientY];
    const drag = (step) => {
      if (!moved && Math.hypot(step.clientX - startX, step.clientY - startY) < 4) return;
      if (!this.mayPlace()) return;
      if (!moved) this.draft.remember();
      moved = true;
      this.draft.move(stop, ...this.worldAt(step));
    };
    const drop = () => {
      marker.removeEventListener("pointermove", drag);
      if (moved) this.draft.tell("all");
    };
    marker.addEventListener("pointermove", drag);
    marker.addEventListener("lostpointercapture", drop, { once: true });
  }

  read(event) {
    const stop = this.stopOf(event.target);
    const [x, y] = this.worldAt(event);
    this.readout.textContent = stop
      ? this.markers.get(stop)?.getAttribute("aria-label") ?? ""
      : `x ${shown(x)}  y ${shown(y)}`;
  }

  focused(event) {
    const stop = this.stopOf(event.target);
    if (stop) {
      this.readout.textContent = this.markers.get(stop).getAttribute("aria-label");
      return;
    }
    this.cross ??= this.view.toWorld(this.svg.clientWidth / 2, this.svg.clientHeight / 2);
    this.drawCross();
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const stop = this.stopOf(event.target);
    const done = stop ? this.pressOnStop(event, stop) : this.pressOnMap(event);
    if (done) event.preventDefault();
  }

  pressOnMap(event) {
    const step = this.stepFor(event);
    if (step && this.cross) {
      this.cross = [this.cross[0] + step[0], this.cross[1] + step[1]];
      this.drawCross();
      this.say(spoken(...this.cross));
      return true;
    }
    if (event.key === "Enter" && this.cross && this.mayPlace()) {
      const stop = this.draft.add(...this.cross);
      this.say(`${nameOf(this.draft.numberOf(stop))} placed at ${spoken(stop.x, stop.y)}`);
      return true;
    }
    return false;
  }

  pressOnStop(event, stop) {
    const number = this.draft.numberOf(stop);
    const step = this.stepFor(event);
    if (step && this.mayPlace()) {
      this.draft.rememberOnce(`place of ${stop.id}`);
      this.draft.move(stop, stop.x + step[0], stop.y + step[1]);
      this.draft.tell("all");
      this.say(spoken(stop.x, stop.y));
    } else if (event.key === "PageDown" || event.key === "PageUp") {
      this.focusStop(number + (event.key === "PageDown" ? 1 : -1));
    } else if (event.key === "Enter") {
      this.goToRow(stop);
    } else if (event.key === "Delete" || event.key === "Backspace") {
      this.draft.remove(stop);
      this.say(`${nameOf(number)} removed`);
      if (this.draft.stops.length) this.focusStop(Math.min(number, this.draft.stops.length - 1));
      else this.svg.focus();
    } else {
      return false;
    }
    return true;
  }

  /** A hundredth of the map, or a tenth with Shift. */
  stepFor(event) {
    const direction = ARROW_KEYS[event.key];
    if (!direction) return null;
    const [left, bottom, right, top] = this.view.box;
    const size = Math.max(right - left, top - bottom) * (event.shiftKey ? 0.1 : 0.01);
    return [direction[0] * size, direction[1] * size];
  }

  focusStop(number) {
    const count = this.draft.stops.length;
    this.current = (number + count) % count;
    this.draft.stops.forEach((stop, k) => {
      this.markers.get(stop).setAttribute("tabindex", k === this.current ? "0" : "-1");
    });
    this.markers.get(this.draft.stops[this.current]).focus();
  }
}

function nameOf(number) {
  return number === 0 ? "Start" : `Stop ${number}`;
}

function spoken(x, y) {
  return `x ${shown(x)}, y ${shown(y)}`;
}

function describe(stop, number, row) {
  const name = stop.name ? `${nameOf(number)} (${stop.name})` : nameOf(number);
  const parts = [name, spoken(stop.x, stop.y)];
  if (row && row.status !== "depot") parts.push(row.status);
  if (row?.arrival !== null && row?.arrival !== undefined) parts.push(`arrival ${shown(row.arrival)}`);
  if (row?.violation) parts.push(row.violation);
  return parts.join(", ");
}

function setStatus(marker, status) {
  for (const other of ["served", "failed", "unvisited", "waiting"]) marker.classList.toggle(other, other === status);
}

function pair([left, top]) {
  return `${left.toFixed(1)} ${top.toFixed(1)}`;
}

function arrowBetween(from, to) {
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
  if (length < 34) return "";
  const [dx, dy] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
  const tip = [(from[0] + to[0]) / 2 + 4.5 * dx, (from[1] + to[1]) / 2 + 4.5 * dy];
  const back = [tip[0] - 9 * dx, tip[1] - 9 * dy];
  return `M${pair(tip)}L${pair([back[0] - 4 * dy, back[1] + 4 * dx])}L${pair([back[0] + 4 * dy, back[1] - 4 * dx])}Z`;
}

function niceStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
}
