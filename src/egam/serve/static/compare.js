// Two results in one sentence: which is cheaper, by how much, and what it took.

import { shown, shownSeconds } from "./dom.js";

export function compared(one, other) {
  const [a, b] = [one.result, other.result];
  const times = `${one.choice.label} took ${shownSeconds(a.seconds)}, ${other.choice.label} ${shownSeconds(b.seconds)}.`;
  if (a.feasible !== b.feasible) {
    return `Only ${(a.feasible ? one : other).choice.label} keeps all rules. ${times}`;
  }
  const [better, worse] = a.cost <= b.cost ? [one, other] : [other, one];
  const gap = worse.result.cost - better.result.cost;
  if (gap <= 1e-9 * Math.abs(worse.result.cost)) return `Both cost ${shown(a.cost)}. ${times}`;
  const share = shown((100 * gap) / worse.result.cost);
  return `${better.choice.label} is ${share} % cheaper than ${worse.choice.label}, by ${shown(gap)}. ${times}`;
}
