// The instance while it is edited: stops with their values, in the user's own units. Judges nothing; the server does.
// stops[0] is the start. Listeners are told what changed: "all", "moved" (a stop, while it is dragged) or
// "values" (of the table).

import { Chance, fixedShare } from "./chance.js";
import { DETOUR, FIELDS, PROBLEMS, SCALARS, columnsOf, usualValues } from "./problems.js";
import { placedByCost } from "./layout.js";

const UNDOS = 50;
const KEPT = ["problem", "stops", "capacity", "min_prize", "name", "notes", "geographic", "rounding", "seed", "drawn",
  "hasCoords", "nextId", "id", "x", "y", "demand", "prize", "penalty", "opens", "closes", "draft_limit"];

export class Draft {
  constructor() {
    this.listeners = [];
    this.past = [];
    Object.assign(this, empty("tsp"));
  }

  onChange(listener) {
    this.listeners.push(listener);
  }

  get customers() {
    return this.stops.slice(1);
  }

  /** Are travel costs a table of their own, which no movement changes? */
  get hasMatrix() {
    return this.matrix !== null;
  }

  /** Of lengths, where it is known: great circles are in metres, TSPLIB's GEO is in kilometres. */
  get unit() {
    if (!this.geographic || this.hasMatrix) return "";
    return { "": " m", GREAT_CIRCLE: " m", GEO: " km" }[this.rounding] ?? "";
  }

  numberOf(stop) {
    return this.stops.indexOf(stop);
  }

  labelOf(stop) {
    return stop.name ?? String(this.numberOf(stop));
  }

  // Editing. Each of these can be taken back.

  choose(problem) {
    this.remember();
    this.problem = problem;
    this.completeValues();
    this.tell("all");
  }

  randomise(count, seed) {
    this.remember();
    const chance = new Chance(seed);
    Object.assign(this, empty(this.problem), { seed });
    for (let k = 0; k <= count; k += 1) this.put(round(chance.next() * 100), round(chance.next() * 100));
    PROBLEMS[this.problem].fill(this, chance);
    this.tell("all");
  }

  clear() {
    this.remember();
    Object.assign(this, empty(this.problem));
    this.tell("all");
  }

  add(x, y) {
    this.remember();
    const stop = this.put(round(x, this.geographic ? 5 : 2), round(y, this.geographic ? 5 : 2));
    this.completeValues();
    this.tell("all");
    return stop;
  }

  remove(stop) {
    this.remember();
    const number = this.numberOf(stop);
    this.stops.splice(number, 1);
    if (this.hasMatrix) this.matrix = without(this.matrix, number).map((row) => without(row, number));
    this.tell("all");
  }

  /** Call `remember` before the first step of a movement. */
  move(stop, x, y) {
    stop.x = round(x, this.geographic ? 5 : 2);
    stop.y = round(y, this.geographic ? 5 : 2);
    this.tell("moved", stop);
  }

  /** Called at every key that is typed into a cell; all of them are one step to take back. */
  set(stop, key, value) {
    this.rememberOnce(`${stop.id} ${key}`);
    stop[key] = value;
    this.tell("values", stop);
  }

  setScalar(key, value) {
    this.rememberOnce(key);
    this[key] = value;
    this.tell("values");
  }

  /** Forget a file's table of travel costs and go straight from stop to stop. */
  straighten() {
    this.remember();
    Object.assign(this, { matrix: null, rounding: "" });
    this.tell("all");
  }

  /** Steps share the matrix, which may be large and is never changed in place. */
  remember() {
    this.past.push({ kept: JSON.stringify(this, KEPT), matrix: this.matrix });
    if (this.past.length > UNDOS) this.past.shift();
    this.typedInto = null;
  }

  rememberOnce(cell) {
    if (this.typedInto !== cell) this.remember();
    this.typedInto = cell;
  }

  undo() {
    if (!this.past.length) return;
    const { kept, matrix } = this.past.pop();
    Object.assign(this, JSON.parse(kept), { matrix, typedInto: null });
    this.tell("all");
  }

  // To and from the JSON that the server knows.

  toInstance() {
    const { fields, scalars } = PROBLEMS[this.problem];
    const instance = { problem: this.problem };
    if (this.name) instance.name = this.name;
    if (this.stops.some((stop) => stop.name)) instance.names = this.stops.map((stop) => this.labelOf(stop));
    if (this.hasCoords) instance.coords = this.stops.map((stop) => [stop.x, stop.y]);
    if (this.geographic) instance.geographic = true;
    if (this.rounding) instance.rounding = this.rounding;
    if (this.hasMatrix) instance.matrix = this.matrix;
    else if (this.problem === "atsp" && this.drawn) instance.matrix = this.detours();
    const total = this.customers.reduce((sum, stop) => sum + (stop.demand ?? 0), 0);
    for (const field of fields) {
      instance[field] = this.stops.map((stop, number) => valueOf(field, stop, number === 0, total));
    }
    for (const scalar of scalars) instance[scalar] = this[scalar];
    return instance;
  }

  /** Take what the server made of a file. */
  fromInstance(instance) {
    this.remember();
    const nodes = instance.coords ?? placedByCost(instance.matrix);
    Object.assign(this, empty(instance.problem), {
      drawn: false,
      hasCoords: Boolean(instance.coords),
      name: instance.name ?? "",
      notes: instance.notes ?? [],
      geographic: Boolean(instance.geographic),
      rounding: instance.rounding ?? "",
      matrix: instance.rounding ? null : instance.matrix ?? null,
    });
    for (const scalar of Object.keys(SCALARS)) this[scalar] = instance[scalar] ?? null;
    nodes.forEach(([x, y], number) => {
      const stop = this.put(x, y);
      stop.name = instance.names?.[number] ?? null;
      for (const field of PROBLEMS[this.problem].fields) take(field, stop, instance[field][number]);
    });
    this.tell("all");
  }

  // Inside.

  put(x, y) {
    const named = this.stops.some((stop) => stop.name);
    const stop = { id: this.nextId, x, y, name: named ? `stop ${this.nextId}` : null };
    this.nextId += 1;
    this.stops.push(stop);
    return stop;
  }

  /** Values that the problem needs and stops lack: the usual ones for a few, random ones if all lack them. */
  completeValues() {
    const keys = columnsOf(this.problem).map(([key]) => key);
    const lacking = this.customers.filter((stop) => keys.some((key) => stop[key] === undefined));
    if (lacking.length > 1 && lacking.length === this.customers.length) {
      PROBLEMS[this.problem].fill(this, new Chance(this.seed + 1));
    }
    const usual = usualValues(this);
    for (const stop of this.stops) {
      for (const key of keys) if (stop[key] === undefined) stop[key] = usual[key];
    }
    const scalars = { capacity: 30, min_prize: 25 * Math.max(1, this.customers.length) };
    for (const key of PROBLEMS[this.problem].scalars) this[key] ??= scalars[key];
  }

  detours() {
    return this.stops.map((from) => this.stops.map((to) =>
      round(Math.hypot(from.x - to.x, from.y - to.y) * (1 + DETOUR * fixedShare(this.seed, from.id, to.id)), 3)));
  }

  tell(what, stop = null) {
    for (const listener of this.listeners) listener(what, stop);
  }
}

function empty(problem) {
  return {
    problem, stops: [], capacity: null, min_prize: null, matrix: null, name: "", notes: [], geographic: false,
    rounding: "", seed: 1, drawn: true, hasCoords: true, nextId: 0,
  };
}

function valueOf(field, stop, isStart, total) {
  if (field === "window") return [stop.opens, stop.closes];
  if (isStart && FIELDS[field].zeroAtStart) return 0;
  if (field === "draft_limit") return stop.draft_limit ?? total;
  return stop[field];
}

function take(field, stop, value) {
  if (field === "window") [stop.opens, stop.closes] = value;
  else stop[field] = value;
}

function without(list, number) {
  return list.filter((_, place) => place !== number);
}

function round(value, digits = 2) {
  const scale = 10 ** digits;
  return Math.round(value * scale) / scale;
}
