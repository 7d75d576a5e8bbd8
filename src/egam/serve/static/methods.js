// What can be chosen in the two lists of methods, from the server's answer to GET /methods.

const NAMES = { egam: "EGAM", "or-tools": "OR-Tools", "cp-sat": "CP-SAT", pyvrp: "PyVRP", hygese: "HGS-CVRP",
  highs: "HiGHS", gurobi: "Gurobi", lkh: "LKH", "fast-tsp": "fast-tsp", "held-karp": "Held–Karp" };
const DECODINGS = { greedy: "greedy", "8x20": "8 × 20 samples", "8xdistinct:20": "8 × 20 different samples", "8xgreedy": "8 × greedy" };

/** One row per choice: {id, label, method, decoding, classical, group, off}. */
export function choicesFor(answer, problem) {
  const choices = [];
  for (const row of answer.methods) {
    if (!row.problems.includes(problem)) continue;
    const name = NAMES[row.name] ?? row.name.replaceAll("-", " ");
    const decodings = [null, ...row.decodings]; // null: as the method thinks best
    for (const decoding of decodings) {
      choices.push({
        id: decoding ? `${row.name} ${decoding}` : row.name,
        label: decoding ? `${name} ${DECODINGS[decoding] ?? decoding}` : name,
        method: row.name,
        decoding,
        classical: row.name !== "egam",
        group: row.name === "egam" ? "Neural network" : "Classical solvers",
        off: !row.installed,
      });
    }
  }
  return choices;
}
