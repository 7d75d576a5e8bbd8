// Tabs as screen readers and keys expect them: arrow keys go along, one panel is shown.

import { make } from "./dom.js";

export class Tabs {
  constructor(list, pages) {
    this.list = list;
    this.pages = pages;
    this.entries = new Map();
    list.addEventListener("keydown", (event) => this.press(event));
  }

  /** Show exactly these: [[name, title, element], ...]; the chosen one stays chosen if it is still there. */
  set(entries) {
    const before = this.chosen;
    this.entries = new Map(entries.map(([name, title, element]) => [name, this.entry(name, title, element)]));
    this.list.replaceChildren(...[...this.entries.values()].map(({ tab }) => tab));
    this.pages.replaceChildren(...[...this.entries.values()].map(({ page }) => page));
    this.choose(this.entries.has(before) ? before : entries[0][0]);
  }

  choose(name) {
    this.chosen = name;
    for (const [other, { tab, page }] of this.entries) {
      tab.setAttribute("aria-selected", String(other === name));
      tab.tabIndex = other === name ? 0 : -1;
      page.hidden = other !== name;
    }
  }

  entry(name, title, element) {
    const tab = make("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `page-${name}` }, title);
    tab.addEventListener("click", () => this.choose(name));
    const page = make("div", { role: "tabpanel", id: `page-${name}`, "aria-labelledby": `tab-${name}` }, element);
    return { tab, page };
  }

  press(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    const names = [...this.entries.keys()];
    this.choose(names[(names.indexOf(this.chosen) + step + names.length) % names.length]);
    this.entries.get(this.chosen).tab.focus();
    event.preventDefault();
  }
}
