// Computes measures with the script of the verifier's page, under Node.
//
// Standard input is one JSON object, or one per line: {"rows": CSV text or a list of mappings, "declared":
// {"attributes": {...}}, "measure": ..., "parameters": {...}, "conventions": {...}}. Each answer is one line of JSON:
// {"answer": "3/8", "status": "passed", "classes": 3, "records": 9, "failing_classes": 0, "failing_records": 0}, or
// {"not_mine": why} for what the page does not check.
import {readFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";

const PAGE = join(dirname(fileURLToPath(import.meta.url)), "../../tcdp_audit/verification/verifier.html");

/** The functions of the page's script, by name. */
export function functionsOf(page = readFileSync(PAGE, "utf-8")) {
  const [, script] = /<script>(.*?)<\/script>/s.exec(page);
  return new Function(`${script}\nreturn {NotMine, verify: typeof verify === "function" ? verify : null, judgeRows,
    measureOf, fractionText, readCsv};`)();
}

function answer({rows, declared, measure, parameters = {}, conventions = {}}, {judgeRows, measureOf, NotMine}) {
  try {
    const found = judgeRows(rows, declared, measure, parameters, conventions);
    const figures = {status: found.status, classes: found.total, records: found.records};
    const failing = {failing_classes: found.failingClasses, failing_records: found.failingRecords};
    return {answer: measureOf(rows, declared, measure, parameters, conventions), ...figures, ...failing};
  } catch (error) {
    if (error instanceof NotMine) return {not_mine: error.message};
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
  for (const one of questions) process.stdout.write(`${JSON.stringify(answer(one, page))}\n`);
}
