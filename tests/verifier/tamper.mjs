// Changes one figure, count, status or threshold of a result at a time, and asks the page's function about each.
//
// Standard input: {"release": path, "report": path, "policy": path or null, "hierarchies": [path], "times": n, "seal":
// whether the digest of the changed result is made to fit again, as a forger would}. With `seal` only what the page
// computes is changed. Answers {"same": [pointers that were accepted], "verdicts": {"different": n, ...}, "untouched":
// the verdict of the unchanged result}.
import {readFileSync} from "node:fs";
import {functionsOf} from "./run.mjs";

const {release, report, policy, hierarchies, times, seal} = JSON.parse(readFileSync(0, "utf-8"));
const {verify, canonical, sha256, encode} = functionsOf(), bytes = path => path && new Uint8Array(readFileSync(path));
const [table, declared, trees] = [bytes(release), bytes(policy), hierarchies.map(bytes)], text = readFileSync(report, "utf-8");
const STATES = ["passed", "failed", "error", "measured", "skipped", "warning"];
let seed = 1;
const random = most => (seed = seed * 48271 % 2147483647) % most; // Lehmer's generator: the same changes every time

function places(value, path = []) { // numbers, truth values, statuses and fractions
  if (value && typeof value === "object") return Object.entries(value).flatMap(([name, one]) => places(one, [...path, name]));
  const isFigure = typeof value === "number" || typeof value === "boolean" || STATES.includes(value) || value === "infinity";
  return isFigure || (typeof value === "string" && /^\d+(\/\d+)?$/.test(value)) ? [path] : [];
}

function changed(value) {
  if (typeof value === "boolean") return !value;
  if (typeof value === "number") return [value + 1, value - 1, value * 2 + 1, value * 1.001 + 0.01][random(4)];
  if (STATES.includes(value)) return STATES.filter(one => one !== value)[random(STATES.length - 1)];
  return value === "infinity" ? 1 : `${value}1`;
}

const whole = JSON.parse(text), STRUCTURE = "tcdp-audit: structure";
const OF_OUTCOMES = /^(parameters|status|observed|threshold|comparison|classes|records|worst|proof)$/;
function isComputed([first, second, third]) {
  if (first === "outcomes") return whole.outcomes[second].source !== STRUCTURE && OF_OUTCOMES.test(third);
  if (first === "columns") return ["values", "missing", "present"].includes(third) && whole.columns[second].values !== null;
  return first === "status" || first === "summary" || first === "verdict" || (first === "exposed" && /records|of|counted/.test(second)) ||
    (first === "release" && /records|columns/.test(second));
}

const isFigure = path => path.join(".") !== "proof.needs_policy"; // which says how to read, and is no figure
const all = places(whole).filter(path => isFigure(path) && (!seal || isComputed(path))), same = [], verdicts = {};
for (let i = 0; i < times; i++) {
  const path = all[random(all.length)], result = JSON.parse(text), last = path.at(-1);
  const parent = path.slice(0, -1).reduce((one, name) => one[name], result);
  parent[last] = changed(parent[last]);
  if (seal) {
    const {proof, ...rest} = result;
    result.proof = {...proof, sha256: await sha256(encode(canonical(rest)))};
  }
  const {verdict} = await verify(table, encode(JSON.stringify(result)), declared, trees);
  verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
  if (verdict === "same") same.push(path.join("."));
}
const untouched = (await verify(table, encode(text), declared, trees)).verdict;
process.stdout.write(JSON.stringify({same, verdicts, untouched}));
