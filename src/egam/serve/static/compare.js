// Two results in one sentence: which is better, by how much, and what it took.

import { shown, shownSeconds } from "./dom.js";

export function compared(one, other) {
  const [a, b] = [one.result, other.result];
  const [better, worse] = isBetter(a, b) ? [one, other] : [other, one];
  const times = `in ${shownSeconds(better.result.seconds)} against ${shownSeconds(worse.result.seconds)}`;
  return `${difference(better, worse)}, ${times}.`;
}

function isBetter(a, b) {
  return a.feasible === b.feasible ? a.cost <= b.cost : a.feasible;
}

function difference(better, worse) {
  const [low, high] = [better.result.cost, worse.result.cost];
  const [name, otherName] = [better.choice.label, worse.choice.label];
  if (better.result.feasible !== worse.result.feasible) return `${name} keeps all rules, ${otherName} does not`;
  if (high - low <= 1e-9 * Math.abs(high)) return `${name} and ${otherName} both cost ${shown(low)}`;
  if (better.result.problem === "vrptw") {
    return `${name} serves ${high - low} stop${high - low === 1 ? "" : "s"} more than ${otherName}`;
  }
  const share = ((100 * (high - low)) / high).toLocaleString("en", { maximumSignificantDigits: 2 });
  return `${name} is ${share} % cheaper than ${otherName} (${shown(low)} against ${shown(high)})`;
}
