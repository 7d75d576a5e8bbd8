// The table of a result: every stop in order of visit, when it is reached, how full the vehicle is, what is violated.

import { make, shown } from "./dom.js";
import { PROBLEMS } from "./problems.js";

const STATUS = { served: "served", failed: "failed", unvisited: "not visited", depot: "start" };

export class Timetable {
  constructor(draft, onMark) {
    this.draft = draft;
    this.onMark = onMark;
    this.element = make("div", { class: "sheet" });
    this.forget();
  }

  forget() {
    this.element.replaceChildren(make("p", { class: "hint" }, "Solve to see when each stop is reached."));
  }

  show(result) {
    const waits = PROBLEMS[this.draft.problem].fields.includes("window");
    const loads = result.schedule.some((row) => row.load !== null);
    const headings = ["Stop", "Arrival", ...(waits ? ["Waiting"] : []), ...(loads ? ["Load"] : []), "Status"];
    const head = make("thead", {}, make("tr", {}, ...headings.map((text) => make("th", { scope: "col" }, text))));
    const groups = grouped(result.schedule).map((rows) => this.group(rows, result, { waits, loads }, headings));
    this.element.replaceChildren(
      make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Timetable" },
        make("table", { class: "timetable" }, head, ...groups)));
  }

  group(rows, result, has, headings) {
    const [{ route }] = rows;
    const several = result.routes.length > 1 || result.schedule.some((row) => row.route === null);
    const body = make("tbody");
    if (several) {
      const title = route === null ? "Not visited" : result.routes.length > 1 ? `Route ${route}` : "Route";
      const dot = route === null ? null : make("i", { class: `route-dot route-${(route - 1) % 6}` });
      const heading = make("th", { scope: "rowgroup", colspan: headings.length }, dot, title);
      body.append(make("tr", { class: "group" }, heading));
    }
    body.append(...rows.flatMap((row) => this.rows(row, has, headings.length)));
    return body;
  }

  /** One for the visit, and one below it if something is wrong there. */
  rows(row, { waits, loads }, width) {
    const name = row.name === String(row.node) ? "" : row.name;
    const element = make("tr", { class: row.status, "data-node": row.node },
      make("th", { scope: "row" }, make("b", {}, String(row.node)), name ? ` ${name}` : null),
      make("td", {}, shown(row.arrival)),
      waits ? make("td", {}, row.wait > 0 ? shown(row.wait) : row.route === null ? "–" : "") : null,
      loads ? make("td", {}, shown(row.load)) : null,
      make("td", { class: "status" }, STATUS[row.status] ?? row.status));
    element.addEventListener("pointerenter", () => this.onMark(row.node));
    if (!row.violation) return [element];
    return [element, make("tr", { class: "wrong" }, make("td", { colspan: width }, row.violation))];
  }
}

/** Rows by route, in their order; those of no route last. */
function grouped(rows) {
  const groups = new Map();
  for (const row of rows) {
    if (!groups.has(row.route)) groups.set(row.route, []);
    groups.get(row.route).push(row);
  }
  return [...groups.values()];
}
