// The page put together: controls, one or two panels, tables, and what happens between them.

import { Refused, hasKey, methods, parse, solve, useKey } from "./api.js";
import { compared } from "./compare.js";
import { byId, make } from "./dom.js";
import { Draft } from "./draft.js";
import { choicesFor } from "./methods.js";
import { Panel } from "./panel.js";
import { PROBLEMS, SCALARS } from "./problems.js";
import { fileStem, save } from "./share.js";
import { StopsTable } from "./stops.js";
import { Tabs } from "./tabs.js";

const LARGEST_FILE = 64 * 2 ** 20; // bytes; the server has a limit of its own

const draft = new Draft();
const tabs = new Tabs(byId("tabs"), byId("pages"));
const table = new StopsTable(draft, {
  onMark: (node) => panels.forEach((panel) => panel.map.mark(node)),
  onSave: () => save(`${fileStem(draft)}.json`, `${JSON.stringify(draft.toInstance())}\n`, "application/json"),
});
const panels = ["map-first", "map-second"].map((id) => new Panel(draft, id, {
  goToRow(stop) {
    tabs.choose("stops");
    table.edit(stop);
  },
  requestOf: (panel) => requestFor(panel.choice),
  solveAddress: new URL("solve", document.baseURI).href,
  usesKey: hasKey,
  say,
}));
let answerToMethods = { methods: [] };
let running = null; // the AbortController of a call under way

// What is said.

function say(text, toTheEye = false) {
  byId("said").textContent = text;
  if (toTheEye) flash(text);
}

function flash(text) {
  const note = make("p", { class: "flash", "aria-hidden": "true" }, text);
  document.body.append(note);
  setTimeout(() => note.remove(), 2200);
}

function complain(sentence) {
  byId("error").textContent = sentence;
}

// Choosing.

function fillProblems() {
  byId("problem").replaceChildren(...Object.entries(PROBLEMS).map(([name, { title }]) =>
    make("option", { value: name }, title)));
}

function fillMethods() {
  const choices = choicesFor(answerToMethods, draft.problem);
  fillList(byId("first"), choices, choices[0]?.id);
  fillList(byId("second"), [{ id: "", label: "nothing", group: "" }, ...choices], "");
  choosePanels();
}

function fillList(list, choices, usual) {
  const before = list.value;
  const groups = new Map();
  for (const choice of choices) {
    if (!groups.has(choice.group)) groups.set(choice.group, []);
    const label = choice.off ? `${choice.label} (not installed)` : choice.label;
    groups.get(choice.group).push(make("option", { value: choice.id, disabled: choice.off }, label));
  }
  list.replaceChildren(...[...groups].flatMap(([group, options]) =>
    (group ? [make("optgroup", { label: group }, ...options)] : options)));
  list.value = choices.some((choice) => choice.id === before && !choice.off) ? before : usual ?? "";
}

function choosePanels() {
  stopRunning();
  const choices = choicesFor(answerToMethods, draft.problem);
  ["first", "second"].forEach((list, number) => {
    const choice = choices.find(({ id }) => id === byId(list).value) ?? null;
    if (panels[number].choice?.id !== choice?.id) panels[number].choose(choice);
  });
  const shownPanels = activePanels();
  byId("main").dataset.panels = shownPanels.length;
  byId("panels").replaceChildren(...shownPanels.map((panel) => panel.element));
  showTabs();
  showComparison();
  byId("limit-hint").textContent = shownPanels.some(({ choice }) => choice?.classical)
    ? "Without a limit, a classical solver takes up to 10 s."
    : "With a limit, each better route is shown as it is found.";
}

function activePanels() {
  return panels.filter((panel, number) => number === 0 || panel.choice);
}

function showTabs() {
  const active = activePanels();
  const title = (panel) => (active.length > 1 ? `Timetable · ${panel.choice.label}` : "Timetable");
  tabs.set([["stops", "Stops", table.element],
    ...active.map((panel, number) => [`timetable-${number}`, title(panel), panel.timetable.element])]);
}

function showComparison() {
  const active = activePanels();
  const both = active.length === 2 && active.every((panel) => panel.element.dataset.state === "done");
  byId("compared").hidden = !both;
  if (both) byId("compared").textContent = compared(...active);
}

function showDraft() {
  byId("problem").value = draft.problem;
  byId("sentence").textContent = PROBLEMS[draft.problem].sentence;
  byId("undo").disabled = !draft.past.length;
  byId("scalars").replaceChildren(...PROBLEMS[draft.problem].scalars.map((key) => {
    const input = make("input", { type: "number", step: "any", id: key });
    input.value = draft[key] ?? "";
    input.addEventListener("input", () => draft.setScalar(key, input.value === "" ? null : Number(input.value)));
    return make("label", {}, SCALARS[key], input);
  }));
  showNotice();
}

function showNotice() {
  const notice = byId("notice");
  notice.hidden = !draft.hasMatrix;
  if (!draft.hasMatrix) return;
  notice.textContent = "Travel costs come from the file's own table, so stops cannot be moved or added. ";
  if (!draft.hasCoords) {
    notice.append("There are no coordinates: stops stand where their travel costs put them.");
    return;
  }
  const straight = make("button", { type: "button", class: "small" }, "Use straight lines");
  straight.addEventListener("click", () => draft.straighten());
  notice.append(straight);
}

// Editing.

draft.onChange((what, stop) => {
  stopRunning();
  complain("");
  for (const panel of panels) {
    if (panel.element.dataset.state !== "idle") panel.forget();
    if (what === "moved") panel.map.place(stop);
    else panel.map.refresh();
  }
  byId("compared").hidden = true;
  if (what === "all") {
    if (byId("problem").value !== draft.problem || byId("first").options.length === 0) {
      byId("problem").value = draft.problem;
      fillMethods();
    }
    showDraft();
    for (const panel of panels) panel.about.textContent = PROBLEMS[draft.problem].cost;
  }
  byId("undo").disabled = !draft.past.length;
});

async function readFile(file) {
  complain("");
  try {
    if (file.size > LARGEST_FILE) {
      throw new Refused(`${file.name}: has ${Math.round(file.size / 2 ** 20)} MB; files up to 64 MB are read here`);
    }
    const request = { name: file.name, text: await file.text(), problem: null };
    if (byId("read-as").value === "chosen") {
      request.problem = draft.problem;
      if (/\.(csv|tsv)$/i.test(file.name)) {
        for (const key of PROBLEMS[draft.problem].scalars) if (draft[key] !== null) request[key] = draft[key];
      }
    }
    const { instance, notes } = await parse(request);
    draft.fromInstance({ ...instance, notes: notes ?? instance.notes ?? [] });
    tabs.choose("stops");
    say(`${file.name}: ${draft.customers.length} stops`, true);
  } catch (error) {
    refuse(error);
  }
}

function refuse(error) {
  if (!(error instanceof Refused)) throw error;
  if (error.status === 401) byId("key-field").hidden = false;
  complain(error.message);
}

// Solving.

function requestFor(choice) {
  const seconds = byId("time-limit").value;
  return {
    instance: draft.toInstance(),
    method: choice.method,
    decoding: choice.decoding,
    samples: null,
    time_limit: seconds === "" ? null : Number(seconds),
    seed: Number(byId("solve-seed").value) || 0,
  };
}

/** One after the other, so that neither takes the processor from the other. */
async function solveAll() {
  stopRunning();
  complain("");
  byId("compared").hidden = true;
  const call = new AbortController();
  const active = activePanels().filter((panel) => panel.choice);
  setRunning(call);
  for (const panel of active) panel.wait();
  try {
    for (const [number, panel] of active.entries()) {
      if (call.signal.aborted) break;
      await solveOne(panel, call.signal);
      if (number === 0) bringIntoView(panel.element);
      if (panel.result && number === 0 && tabs.chosen === "stops") tabs.choose("timetable-0");
    }
  } finally {
    if (running === call || running === null) { // else a later call owns the panels
      for (const panel of active) if (panel.badge.classList.contains("waiting")) panel.forget();
      setRunning(null);
      showComparison();
    }
  }
}

async function solveOne(panel, signal) {
  panel.begin();
  try {
    const onImprovement = (result) => { if (!signal.aborted) panel.improve(result); };
    const result = await solve(requestFor(panel.choice), { signal, onImprovement });
    if (signal.aborted && signal.reason !== "stopped") return; // an edit: the panel is another one by now
    if (result) panel.finish(result, signal.aborted);
    else panel.forget();
  } catch (error) {
    panel.fail(error.message);
    refuse(error);
  }
}

/** On a phone the controls fill the screen. */
function bringIntoView(element) {
  const { top } = element.getBoundingClientRect();
  if (top < window.innerHeight * 0.6) return;
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  element.scrollIntoView({ behavior: calm ? "auto" : "smooth", block: "start" });
}

function stopRunning(reason = "edited") {
  running?.abort(reason);
  setRunning(null);
}

function setRunning(call) {
  running = call;
  const [shownNow, hiddenNow] = call ? [byId("stop"), byId("solve")] : [byId("solve"), byId("stop")];
  const hadFocus = document.activeElement === hiddenNow;
  shownNow.hidden = false;
  if (hadFocus) shownNow.focus(); // before the other is gone, and the focus with it
  hiddenNow.hidden = true;
}

// Wiring.

function wire() {
  byId("problem").addEventListener("change", (event) => {
    draft.choose(event.target.value);
    fillMethods();
  });
  for (const list of ["first", "second"]) byId(list).addEventListener("change", choosePanels);
  byId("random").addEventListener("click", () => {
    draft.randomise(Math.min(wholeOf("count", 20), Number(byId("count").max)), wholeOf("seed", 1));
  });
  byId("undo").addEventListener("click", () => draft.undo());
  byId("clear").addEventListener("click", () => draft.clear());
  byId("open").addEventListener("click", () => byId("file").click());
  byId("file").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (file) await readFile(file);
    event.target.value = "";
  });
  byId("key").addEventListener("change", (event) => useKey(event.target.value));
  byId("stop").addEventListener("click", () => stopRunning("stopped"));
  byId("controls").addEventListener("submit", (event) => {
    event.preventDefault();
    solveAll();
  });
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey)) return;
    if (event.key === "Enter") solveAll();
    else if (event.key === "z" && !event.target.matches("input, textarea")) draft.undo();
    else return;
    event.preventDefault();
  });
  wireDropping();
}

function wireDropping() {
  const holdsFile = (event) => event.dataTransfer?.types.includes("Files");
  window.addEventListener("dragover", (event) => {
    if (!holdsFile(event)) return;
    event.preventDefault();
    byId("drop").hidden = false;
  });
  window.addEventListener("dragleave", (event) => { if (!event.relatedTarget) byId("drop").hidden = true; });
  window.addEventListener("drop", (event) => {
    if (!holdsFile(event)) return;
    event.preventDefault();
    byId("drop").hidden = true;
    const [file] = event.dataTransfer.files;
    if (file) readFile(file);
  });
}

function wholeOf(id, otherwise) {
  const value = Math.floor(Number(byId(id).value));
  return Number.isFinite(value) && value >= 0 ? value : otherwise;
}

async function start() {
  fillProblems();
  wire();
  choosePanels();
  draft.randomise(20, 1);
  draft.past = [];
  showDraft();
  try {
    answerToMethods = await methods();
    byId("count").max = answerToMethods.limits.nodes - 1;
    fillMethods();
  } catch (error) {
    refuse(error);
  }
  document.documentElement.dataset.ready = "yes";
}

start();
