// One method and what it found: cost, time, whether it is feasible, the map, and what can be taken along.

import { draw, make, shown, shownSeconds } from "./dom.js";
import { RouteMap } from "./map.js";
import { PROBLEMS } from "./problems.js";
import { copy, curlOf, fileStem, pythonOf, save, solOf, svgOf } from "./share.js";
import { Timetable } from "./timetable.js";

const SENTENCES = 3; // broken rules shown at once

export class Panel {
  /** `requestOf(panel)` is the body of POST /solve; `say` speaks to screen readers and to the eye. */
  constructor(draft, id, { goToRow, requestOf, solveAddress, usesKey, say }) {
    Object.assign(this, { draft, requestOf, solveAddress, usesKey, say, choice: null, result: null, history: [] });
    this.map = new RouteMap(draft, "Map of the stops", { goToRow, say });
    this.map.svg.id = id;
    this.timetable = new Timetable(draft, (node) => this.map.mark(node));
    this.title = make("h2", {});
    this.badge = make("span", { class: "badge" });
    this.cost = make("strong", { class: "cost" });
    this.about = make("span", { class: "about" });
    this.chart = draw("svg", { class: "chart", viewBox: "0 0 240 40", preserveAspectRatio: "none", "aria-hidden": "true" });
    this.steps = make("p", { class: "hint steps" });
    this.reasons = make("ul", { class: "reasons" });
    this.notes = make("ul", { class: "notes" });
    this.element = make("article", { class: "panel", "aria-label": "Result" },
      make("header", {}, make("div", { class: "row spread" }, this.title, this.badge),
        make("p", { class: "figures" }, this.cost, this.about)),
      this.map.element, this.chart, this.steps, this.reasons, this.notes, this.buttons());
    this.forget();
  }

  choose(choice) {
    this.choice = choice;
    this.title.textContent = choice?.label ?? "";
    this.element.setAttribute("aria-label", choice ? `Result of ${choice.label}` : "Result");
    this.forget();
  }

  // What happens to it, in order.

  forget() {
    this.result = null;
    this.history = [];
    this.element.dataset.state = "idle";
    this.setBadge("", "");
    this.cost.textContent = "–";
    this.about.textContent = PROBLEMS[this.draft.problem].cost;
    for (const list of [this.reasons, this.notes, this.chart]) list.replaceChildren();
    this.steps.textContent = "";
    this.chart.classList.remove("seen");
    this.map.forget();
    this.timetable.forget();
    this.enable();
  }

  wait() {
    this.forget();
    this.setBadge("waiting", "waits");
  }

  begin() {
    this.forget();
    this.element.dataset.state = "running";
    this.setBadge("running", "solving");
  }

  improve(result) {
    const first = this.result === null;
    this.take(result, false);
    this.history.push([result.seconds, result.cost]);
    this.drawChart(result.seconds);
    this.setBadge("running", first ? "first route" : `improved ${this.history.length - 1} ×`);
  }

  /** The last word; a route that was not seen before is drawn step by step. */
  finish(result, stopped) {
    const seen = this.result !== null && sameRoutes(this.result, result);
    this.take(result, !seen);
    if (this.history.length) this.drawChart(result.seconds);
    this.element.dataset.state = "done";
    this.setBadge(result.feasible ? "good" : "bad", this.outcome(result));
    if (stopped) this.notes.append(make("li", {}, "Stopped early: the best route so far."));
    this.timetable.show(result);
    this.enable();
    this.say(`${this.choice.label}: cost ${shown(result.cost)}, ${PROBLEMS[this.draft.problem].cost}, ` +
      `${result.feasible ? "feasible" : "not feasible"}, ${shownSeconds(result.seconds)}`);
  }

  fail(sentence) {
    this.forget();
    this.element.dataset.state = "failed";
    this.setBadge("bad", "refused");
    this.reasons.replaceChildren(make("li", {}, sentence));
  }

  // How it is shown.

  take(result, stepByStep) {
    this.result = result;
    this.map.show(result, stepByStep);
    const { unit } = this.draft;
    const { cost: meaning } = PROBLEMS[this.draft.problem];
    this.cost.textContent = shown(result.cost) + (this.draft.problem === "vrptw" ? "" : unit);
    const routes = result.routes.length > 1 ? `${result.routes.length} routes` : null;
    const length = result.cost === result.length ? null : `length ${shown(result.length)}${unit}`;
    this.about.textContent = [meaning, length, routes, shownSeconds(result.seconds)].filter(Boolean).join(" · ");
    const sentences = result.violations.map((violation) => violation.text);
    const more = sentences.length - SENTENCES;
    if (more > 0) sentences.splice(SENTENCES, more, `and ${more} more in the timetable`);
    this.reasons.replaceChildren(...sentences.map((text) => make("li", {}, text)));
    this.notes.replaceChildren(...result.notes.map((note) => make("li", {}, note)));
  }

  outcome(result) {
    if (!result.feasible) return "not feasible";
    if (result.proven) return "proven optimal";
    const count = this.draft.customers.length;
    return this.draft.problem === "vrptw" && result.cost > 0 ? `${count - result.cost} of ${count} served` : "feasible";
  }

  setBadge(kind, text) {
    this.badge.className = `badge ${kind}`;
    this.badge.textContent = text;
  }

  /** Cost over time: a staircase that goes down. */
  drawChart(until) {
    const costs = this.history.map(([, cost]) => cost);
    const [low, high] = [Math.min(...costs), Math.max(...costs)];
    const across = (seconds) => (240 * seconds) / Math.max(until, 1e-9);
    const down = (cost) => (high > low ? 36 - (30 * (cost - low)) / (high - low) : 36);
    let path = "";
    this.history.forEach(([seconds, cost], number) => {
      const [x, y] = [across(seconds).toFixed(1), down(cost).toFixed(1)];
      path += number === 0 ? `M${x} ${y}` : `H${x}V${y}`;
    });
    this.chart.replaceChildren(draw("path", { d: `${path}H240`, "vector-effect": "non-scaling-stroke" }));
    const better = costs.length - 1;
    this.chart.classList.toggle("seen", better > 0);
    this.steps.textContent = better
      ? `Cost over time: ${shown(costs[0])} → ${shown(costs.at(-1))}, ${better} improvement${better > 1 ? "s" : ""}`
      : `Cost over time: ${shown(costs[0])} from the first route on`;
  }

  // What can be taken along.

  buttons() {
    const button = (text, title, act) => {
      const element = make("button", { type: "button", class: "small", "aria-label": title }, text);
      element.addEventListener("click", act);
      return element;
    };
    this.saving = [
      button("Replay", "Draw the route again", () => this.map.show(this.result, true)),
      button("JSON", "Save the result as JSON", () => this.save("json")),
      button(".sol", "Save the routes as .sol", () => this.save("sol")),
      button("SVG", "Save the map as SVG", () => this.save("svg")),
    ];
    const copying = [
      button("curl", "Copy this call as curl", () => this.copyCall("curl")),
      button("Python", "Copy this call as Python", () => this.copyCall("Python")),
    ];
    const [again, ...files] = this.saving;
    return make("footer", {}, again, make("span", { class: "set" }, "Save", ...files),
      make("span", { class: "set" }, "Copy", ...copying));
  }

  enable() {
    const done = this.element.dataset.state === "done";
    for (const button of this.saving) button.disabled = !done;
  }

  save(kind) {
    const stem = fileStem(this.draft);
    if (kind === "json") save(`${stem}.result.json`, `${JSON.stringify(this.result, null, 1)}\n`, "application/json");
    if (kind === "sol") save(`${stem}.sol`, solOf(this.result), "text/plain");
    if (kind === "svg") save(`${stem}.svg`, svgOf(this.map.svg, `${stem}: ${shown(this.result.cost)}`), "image/svg+xml");
  }

  async copyCall(kind) {
    const request = this.requestOf(this);
    const text = kind === "curl" ? curlOf(request, this.solveAddress, this.usesKey()) : pythonOf(request);
    this.say((await copy(text)) ? `The call is copied as ${kind}` : "The browser does not allow copying", true);
  }
}

function sameRoutes(one, other) {
  return JSON.stringify(one.routes) === JSON.stringify(other.routes);
}
