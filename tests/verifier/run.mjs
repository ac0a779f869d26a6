// Computes measures with the script of the verifier's page, under Node.
//
// Standard input is one JSON object, a list of them, or one per line: {"rows": CSV text or a list of mappings,
// "declared": {"attributes": {...}}, "measure": ..., "parameters": {...}, "conventions": {...}}. Each answer is a line
// of JSON: {"answer": "3/8", "status": "passed", "classes": 3, "records": 9, "failing_classes": 0,
// "failing_records": 0}, or {"not_mine": why} for what the page does not check. A question {"release": path, "report":
// path, "policy": path or null, "hierarchies": [path]} is answered by what the page would say of these files.
import {readFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";

const PAGE = join(dirname(fileURLToPath(import.meta.url)), "../../tcdp_audit/core/results/verifier.html");

/** The functions of the page's script, by name. */
export function functionsOf(page = readFileSync(PAGE, "utf-8")) {
  const [, script] = /<script>(.*?)<\/script>/s.exec(page), names = "NotMine, OF_SIZES, verify, measureOf, judge, openTable, readCsv, readYaml, encode, canonical, sha256";
  return new Function("postMessage", `${script}\nreturn {${names}};`)();
}

function csvOf(rows) {
  if (typeof rows === "string") return rows;
  const names = Object.keys(rows[0]), quoted = cell => `"${String(cell ?? "").replaceAll('"', '""')}"`;
  return [names, ...rows.map(row => names.map(name => row[name]))].map(line => line.map(quoted).join(",")).join("\n");
}

async function answer({rows, declared, measure, parameters = {}, conventions = {}, ...files}, page) {
  const read = path => path === null || path === undefined ? null : new Uint8Array(readFileSync(path));
  if (files.release) return page.verify(read(files.release), read(files.report), read(files.policy), (files.hierarchies ?? []).map(read));
  try {
    const text = csvOf(rows), exact = page.measureOf(text, declared, measure, parameters, conventions);
    const table = page.openTable(page.readCsv(page.encode(text), ",", "utf-8"), declared.attributes, conventions);
    const named = page.OF_SIZES.includes(measure) ? null : parameters.attribute ?? table.sensitive[0];
    const {status, classes, kept, ...found} = page.judge(table, measure, named, parameters, conventions);
    const single = named === null || parameters.attribute || table.sensitive.length === 1;
    const failing = {failing_classes: found.failingClasses, failing_records: found.failingRecords};
    return {answer: exact, ...(single ? {status, classes: classes.count, records: kept.length, ...failing} : {})};
  } catch (error) {
    if (error instanceof page.NotMine) return {not_mine: error.message};
    throw error;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = readFileSync(0, "utf-8"), page = functionsOf();
  let questions;
  try {
    questions = [JSON.parse(text)].flat();
  } catch {
    questions = text.split("\n").filter(line => line.trim()).map(line => JSON.parse(line));
  }
  for (const one of questions) process.stdout.write(`${JSON.stringify(await answer(one, page))}\n`);
}
