// The table in which stops are edited: place, name, and what the problem asks for.

import { draw, make } from "./dom.js";
import { columnsOf } from "./problems.js";

export class StopsTable {
  constructor(draft, { onMark, onSave }) {
    this.draft = draft;
    this.onMark = onMark;
    this.count = make("p", { class: "hint" });
    this.notes = make("ul", { class: "notes" });
    this.head = make("thead");
    this.body = make("tbody");
    const save = make("button", { type: "button", class: "small" }, "Save stops as JSON");
    save.addEventListener("click", onSave);
    this.element = make("div", { class: "sheet" },
      make("div", { class: "row spread" }, this.count, save),
      this.notes,
      make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Stops" },
        make("table", { class: "stops-table" }, this.head, this.body)));
    draft.onChange((what, stop) => (what === "all" ? this.refresh() : what === "moved" ? this.moved(stop) : null));
  }

  refresh() {
    const { draft } = this;
    this.named = draft.stops.some((stop) => stop.name);
    this.columns = columnsOf(draft.problem);
    const count = draft.customers.length;
    this.count.textContent = draft.stops.length ? `The start and ${count} stop${count === 1 ? "" : "s"}` : "No stops yet";
    this.notes.replaceChildren(...draft.notes.map((note) => make("li", {}, note)));
    const headings = ["", ...(this.named ? ["Name"] : []), "x", "y", ...this.columns.map(([, heading]) => heading), ""];
    this.head.replaceChildren(make("tr", {}, ...headings.map((text, place) =>
      make("th", { scope: "col" }, text || make("span", { class: "unseen" }, place ? "Remove" : "Number")))));
    const focused = this.focusedCell();
    this.body.replaceChildren(...draft.stops.map((stop, number) => this.row(stop, number)));
    if (focused) this.cell(...focused)?.focus();
  }

  moved(stop) {
    for (const key of ["x", "y"]) {
      const input = this.cell(this.draft.numberOf(stop), key);
      if (input) input.value = stop[key];
    }
  }

  /** Bring a stop's row into view and put the cursor into its first value. */
  edit(stop) {
    const row = this.body.rows[this.draft.numberOf(stop)];
    row?.querySelector("input:not([disabled])")?.focus();
    row?.scrollIntoView({ block: "nearest" });
  }

  row(stop, number) {
    const title = number === 0 ? "start" : `stop ${number}`;
    const fixed = this.draft.hasMatrix || !this.draft.hasCoords;
    const cells = [make("th", { scope: "row", class: number === 0 ? "start" : null }, String(number))];
    if (this.named) cells.push(this.field(stop, number, "name", `Name of ${title}`, { kind: "text" }));
    cells.push(this.field(stop, number, "x", `x of ${title}`, { off: fixed }));
    cells.push(this.field(stop, number, "y", `y of ${title}`, { off: fixed }));
    for (const [key, heading, zeroAtStart] of this.columns) {
      if (number === 0 && (zeroAtStart || key === "draft_limit")) cells.push(make("td", { class: "none" }, "–"));
      else cells.push(this.field(stop, number, key, `${heading} of ${title}`, {}));
    }
    const remove = make("button", { type: "button", class: "quiet remove", "aria-label": `Remove ${title}` },
      draw("svg", { viewBox: "0 0 12 12", "aria-hidden": "true" }, draw("path", { d: "M2 2 10 10M10 2 2 10" })));
    remove.addEventListener("click", () => this.removeRow(stop, number));
    const row = make("tr", { "data-node": number }, ...cells, make("td", {}, remove));
    row.addEventListener("pointerenter", () => this.onMark(number));
    row.addEventListener("focusin", () => this.onMark(number));
    return row;
  }

  field(stop, number, key, label, { kind = "number", off = false }) {
    const input = make("input", {
      type: kind, step: "any", "data-key": key, "aria-label": label, disabled: off,
      placeholder: key === "draft_limit" ? "none" : null,
    });
    input.value = stop[key] ?? "";
    input.addEventListener("input", () => {
      const text = input.value.trim();
      this.draft.set(stop, key, kind === "text" ? text || null : text === "" ? null : Number(text));
    });
    return make("td", {}, input);
  }

  removeRow(stop, number) {
    this.draft.remove(stop);
    const next = this.body.rows[Math.min(number, this.body.rows.length - 1)];
    next?.querySelector(".remove").focus();
  }

  cell(number, key) {
    return this.body.rows[number]?.querySelector(`[data-key="${key}"]`);
  }

  focusedCell() {
    const input = this.body.contains(document.activeElement) ? document.activeElement : null;
    return input?.dataset.key ? [Number(input.closest("tr").dataset.node), input.dataset.key] : null;
  }
}
