// Compares what two sides answered, field by field, and what differs with what is expected to differ.
//
//   node compare.mjs PDS-ANSWERS OUR-ANSWERS EXPECTED PAGE
//
// Expected is {"reasons": {key: sentence}, "differences": [{"steps"?, "at", "pds"?, "ours"?, "reason"}]}: what is left
// out matches anything. A difference that nobody expects, an expectation that nothing meets, and a reason that does not
// stand on the page are failures.

import { readFileSync } from 'node:fs'

const [pds, ours, expected] = process.argv.slice(2, 5).map((path) => JSON.parse(readFileSync(path, 'utf8')))
const page = readFileSync(process.argv[5], 'utf8').replaceAll(/\s+/g, ' ')
const NOTHING = '(nothing)'

const rows = []
const failures = []
const met = new Set()
const names = new Set([...Object.keys(pds.answers), ...Object.keys(ours.answers)])
for (const step of names) {
  for (const [at, theirs, own] of differences(pds.answers[step], ours.answers[step])) {
    const rule = expected.differences.find((rule) => matches(rule, step, at, theirs, own))
    if (rule) met.add(rule)
    const reason = rule?.reason ?? 'NOT EXPECTED'
    rows.push([step, at, theirs, own, reason].map((cell) => (typeof cell === 'string' ? cell : JSON.stringify(cell))))
    if (!rule) failures.push(`${step}: ${at}: the PDS says ${show(theirs)}, we say ${show(own)}${words(step)}`)
  }
}
for (const rule of expected.differences) {
  if (!met.has(rule)) failures.push(`nothing differs as expected here: ${JSON.stringify(rule)}`)
  if (!expected.reasons[rule.reason]) failures.push(`there is no reason ${rule.reason}`)
}
for (const [key, sentence] of Object.entries(expected.reasons)) {
  if (!page.includes(sentence)) failures.push(`the page does not say (${key}): ${sentence}`)
}
print(rows)
const reasons = new Set(rows.map(([, , , , reason]) => reason))
console.log(`${names.size} calls, ${rows.length} differences for ${reasons.size} reasons`)
for (const failure of failures) console.error(failure)
process.exit(failures.length > 0 ? 1 : 0)

function words(step) {
  const said = ours.answers[step]?.said
  return said ? ` (${said})` : ''
}

/**
 * Where two answers differ: in their outcome, which is the status and the error together; if that is the same, in any
 * header and any field of the body; and where our answer is one that the client refuses.
 */
function differences(theirs = {}, own = {}) {
  const found = []
  const [a, b] = [outcome(theirs), outcome(own)]
  if (a !== b) found.push(['/outcome', a, b])
  if (own.client === 'refuses the answer') found.push(['/client', theirs.client, own.client])
  if (a === b) {
    const [a, b] = [theirs, own].map(({ headers = {}, body }) => leaves({ headers, body }))
    for (const at of new Set([...a.keys(), ...b.keys()])) {
      const [there, here] = [a, b].map((all) => (all.has(at) ? all.get(at) : NOTHING))
      if (show(there) !== show(here)) found.push([at, there, here])
    }
  }
  return found
}

function outcome({ status, body }) {
  return status >= 400 ? `${status} ${body?.error}` : String(status)
}

function leaves(value, at = '', into = new Map()) {
  if (value === null || typeof value !== 'object') return into.set(at, value)
  const entries = Object.entries(value)
  if (entries.length === 0 && at !== '/headers') into.set(at, value)
  for (const [key, inner] of entries) leaves(inner, `${at}/${key}`, into)
  return into
}

function matches(rule, step, at, theirs, own) {
  const is = (wanted, value) => wanted === undefined || JSON.stringify(wanted) === JSON.stringify(value)
  return rule.at === at && (rule.steps?.includes(step) ?? true) && is(rule.pds, theirs) && is(rule.ours, own)
}

function show(value) {
  return JSON.stringify(value)
}

function print(rows) {
  const all = [['call', 'at', 'PDS', 'ours', 'reason'], ...rows].map((row) => row.map((cell) => cell.slice(0, 44)))
  const widths = all[0].map((_, column) => Math.max(...all.map((row) => row[column].length)))
  for (const row of all) console.log(row.map((cell, column) => cell.padEnd(widths[column])).join('  ').trimEnd())
}
