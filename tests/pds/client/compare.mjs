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
console.log(`${names.size} calls, ${rows.length} differences in ${new Set(rows.map(([step]) => step)).size} of them`)
for (const failure of failures) console.error(failure)
process.exit(failures.length > 0 ? 1 : 0)

function words(step) {
  const said = ours.answers[step]?.said
  return said ? ` (${said})` : ''
}

/** Where two answers differ. Bodies of different statuses have little in common: only the error is looked at. */
function differences(theirs = {}, own = {}) {
  const [a, b] = [leaves(theirs), leaves(own)]
  const isSame = theirs.status === own.status
  const places = [...new Set([...a.keys(), ...b.keys()])].filter(
    (at) => at !== '/said' && (isSame || !at.startsWith('/body') || at === '/body/error'),
  )
  const differ = (at) => JSON.stringify(a.get(at)) !== JSON.stringify(b.get(at))
  return places.filter(differ).map((at) => [at, a.has(at) ? a.get(at) : NOTHING, b.has(at) ? b.get(at) : NOTHING])
}

function leaves(value, at = '', into = new Map()) {
  if (value === null || typeof value !== 'object') return into.set(at, value)
  const entries = Object.entries(value)
  if (entries.length === 0) into.set(at, value)
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
