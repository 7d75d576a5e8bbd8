// The seven problems: what their stops carry, what is asked for, and how random ones are drawn.
// Random values follow the sets that the networks were trained on (docs/problems.md), on a map of 100 x 100.

const SIDE = 100;
export const DETOUR = 0.6; // atsp: the largest share by which a way is longer than its straight line

/** What a field of the instance is called in the table, and its columns there. */
export const FIELDS = {
  demand: { columns: [["demand", "Demand"]], zeroAtStart: true },
  prize: { columns: [["prize", "Prize"]], zeroAtStart: true },
  penalty: { columns: [["penalty", "Penalty"]], zeroAtStart: true },
  window: { columns: [["opens", "Opens"], ["closes", "Closes"]] },
  draft_limit: { columns: [["draft_limit", "Draft limit"]] },
};
export const SCALARS = { capacity: "Capacity", min_prize: "Prize needed" };

export const PROBLEMS = {
  tsp: {
    title: "TSP · shortest round trip",
    sentence: "The shortest closed tour through all stops.",
    fields: [], scalars: [], cost: "length",
    fill() {},
  },
  atsp: {
    title: "ATSP · directed ways",
    sentence: "The cheapest closed tour where the way back may cost something else. On this map each direction is up to " +
      "60 % longer than the straight line, drawn by the seed.",
    fields: [], scalars: [], cost: "length",
    fill() {},
  },
  cvrp: {
    title: "CVRP · limited capacity",
    sentence: "The shortest routes from the start that serve every stop, none above the capacity.",
    fields: ["demand"], scalars: ["capacity"], cost: "length of all routes",
    fill(draft, chance) {
      for (const stop of draft.customers) stop.demand = chance.whole(1, 9);
      draft.capacity = usualCapacity(draft.customers.length);
    },
  },
  pctsp: {
    title: "PCTSP · collect enough prize",
    sentence: "A tour that collects the prize needed; its length and the penalties of stops left out count.",
    fields: ["prize", "penalty"], scalars: ["min_prize"], cost: "length + penalties",
    fill(draft, chance) {
      const count = draft.customers.length;
      for (const stop of draft.customers) {
        stop.prize = chance.whole(1, 100);
        stop.penalty = tenths(chance.next() * SIDE * largestPenalty(count));
      }
      draft.min_prize = 25 * Math.max(count, 1);
    },
  },
  tsptw: {
    title: "TSPTW · time windows",
    sentence: "The shortest tour that reaches every stop within its time window. Travel takes as long as it is far.",
    fields: ["window"], scalars: [], cost: "length",
    fill(draft, chance) {
      const span = 55 * draft.stops.length;
      for (const stop of draft.customers) {
        stop.opens = chance.whole(0, span - 1);
        stop.closes = stop.opens + Math.round(span * chance.between(0.1, 0.2));
      }
      setWindow(draft.stops[0], 0, 2 * span);
    },
  },
  tspdl: {
    title: "TSPDL · draft limits",
    sentence: "The shortest tour of a ship that loads at every port and nowhere lies deeper than the port allows. " +
      "An empty limit is none.",
    fields: ["demand", "draft_limit"], scalars: [], cost: "length",
    fill(draft, chance) {
      for (const stop of draft.customers) Object.assign(stop, { demand: 1, draft_limit: null });
      const limits = feasibleLimits(chance, draft.customers.length);
      const ports = shuffled(chance, draft.customers);
      limits.forEach((limit, number) => { ports[number].draft_limit = limit; });
    },
  },
  vrptw: {
    title: "VRPTW · serve the most",
    sentence: "One vehicle serves as many stops as it can within their time windows.",
    fields: ["window"], scalars: [], cost: "stops not served",
    fill(draft, chance) {
      for (const stop of draft.customers) {
        stop.opens = Math.round(chance.next() * 20 * SIDE);
        stop.closes = stop.opens + Math.round(chance.between(0.1, 0.5) * SIDE);
      }
      setWindow(draft.stops[0], 0, 22 * SIDE);
    },
  },
};

/** What a stop that is placed by hand carries, until its row is edited. */
export function usualValues(draft) {
  const last = Math.max(0, ...draft.stops.map((stop) => stop.closes ?? 0));
  return { demand: 1, prize: 50, penalty: 15, opens: 0, closes: last || 1000, draft_limit: null };
}

/** The columns that a problem's table has, beside the place: [key, heading, is it 0 at the start?]. */
export function columnsOf(problem) {
  return PROBLEMS[problem].fields.flatMap((field) =>
    FIELDS[field].columns.map(([key, heading]) => [key, heading, Boolean(FIELDS[field].zeroAtStart)]));
}

function setWindow(stop, opens, closes) {
  if (stop) Object.assign(stop, { opens, closes });
}

function tenths(value) {
  return Math.round(value * 10) / 10;
}

function usualCapacity(count) {
  const known = [[10, 20], [20, 30], [50, 40], [100, 50]];
  if (count <= 10) return 20;
  for (let k = 1; k < known.length; k += 1) {
    const [[below, low], [above, high]] = [known[k - 1], known[k]];
    if (count <= above) return Math.round(low + ((high - low) * (count - below)) / (above - below));
  }
  return 50;
}

function largestPenalty(count) {
  const tour = count < 50 ? Math.max(1, 2 + (count - 20) / 30) : 3 + (count - 50) / 50;
  return (3 * tour) / Math.max(count, 1);
}

/** Limits of three quarters of the ports: the p-th smallest is p or more, so that some order keeps them all. */
function feasibleLimits(chance, ports) {
  const limited = Math.min(Math.floor(((ports + 1) * 3) / 4), ports - 1);
  for (;;) {
    const limits = Array.from({ length: Math.max(limited, 0) }, () => chance.whole(1, ports - 1));
    if (limits.sort((a, b) => a - b).every((limit, number) => limit > number)) return limits;
  }
}

function shuffled(chance, items) {
  const order = [...items];
  for (let k = order.length - 1; k > 0; k -= 1) {
    const other = chance.whole(0, k);
    [order[k], order[other]] = [order[other], order[k]];
  }
  return order;
}
