// The peer of the area `lexicon`: the reference implementation, driven over standard input and output.
//
// Started with a folder that holds `lexicons/*.json` and one folder of records for each set.
// Each line read is a request, each line written its answer, both JSON.

import { readFileSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Lexicons, jsonToLex, parseLexiconDoc } from '@atproto/lexicon'

const folder = process.argv[2]
const lexicons = new Lexicons()
for (const { bytes } of read('lexicons')) {
  lexicons.add(parseLexiconDoc(JSON.parse(bytes.toString('utf8'))))
}

// What the measured loops compute goes here, so that no compiler may leave it out.
let sink = 0

const measures = {
  from_bytes: (records) => () => {
    for (const { bytes } of records) {
      const value = jsonToLex(JSON.parse(bytes.toString('utf8')))
      lexicons.assertValidRecord(value.$type, value)
      sink += 1
    }
  },
  values: (records) => {
    const values = records.map(({ bytes }) => jsonToLex(JSON.parse(bytes.toString('utf8'))))
    return () => {
      for (const value of values) {
        lexicons.assertValidRecord(value.$type, value)
        sink += 1
      }
    }
  },
  parse: (records) => () => {
    for (const { bytes } of records) {
      sink += JSON.parse(bytes.toString('utf8')).$type.length
    }
  },
}

const requests = {
  versions: () => ({ node: process.version, package: packageVersion() }),
  verdicts: ({ set }) => ({ verdicts: read(set).map(verdict) }),
  measure: ({ set, what, milliseconds }) => {
    const records = read(set)
    const pass = measures[what](records)
    return timed(pass, records.length, BigInt(milliseconds) * 1_000_000n)
  },
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line)
  console.log(JSON.stringify(requests[request.do](request)))
}

function read(set) {
  const names = readdirSync(join(folder, set)).sort()
  return names.map((name) => ({ name, bytes: readFileSync(join(folder, set, name)) }))
}

function verdict({ name, bytes }) {
  try {
    const value = jsonToLex(JSON.parse(bytes.toString('utf8')))
    lexicons.assertValidRecord(value?.$type, value)
    return { name, valid: true, message: '' }
  } catch (error) {
    return { name, valid: false, message: String(error?.message ?? error) }
  }
}

function timed(pass, recordsPerPass, duration) {
  const processorAtStart = processorNanoseconds()
  const start = process.hrtime.bigint()
  let elapsed = 0n
  let records = 0
  do {
    pass()
    records += recordsPerPass
    elapsed = process.hrtime.bigint() - start
  } while (elapsed < duration)
  const processor = processorNanoseconds() - processorAtStart
  return { records, wall_ns: Number(elapsed), processor_ns: Number(processor), sink: sink % 2 }
}

// How long this thread has held a processor; 0 where the system does not tell.
function processorNanoseconds() {
  try {
    return BigInt(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[0])
  } catch {
    return 0n
  }
}

function packageVersion() {
  const require = createRequire(import.meta.url)
  const entry = require.resolve('@atproto/lexicon')
  return JSON.parse(readFileSync(join(entry, '../../package.json'), 'utf8')).version
}
