// Runs the sequence of calls against one side by the official client, and writes down what came back in a form that can
// be compared: what must differ from run to run stands as what it is, all else as it came.
//
//   node drive.mjs SEQUENCE < SIDE > ANSWERS
//
// A side is {"url", "accounts": {"ann": {"did", "handle", "password"}, "bob": …}}.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { AtpAgent } from '@atproto/api'
import { XRPCInvalidResponseError } from '@atproto/xrpc'

const TID = /^[234567a-j][2-7a-z]{12}$/
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/
/** Headers that a client or a browser goes by. */
const HEADERS = [
  'content-type',
  'content-disposition',
  'content-security-policy',
  'x-content-type-options',
  'access-control-allow-origin',
  'access-control-allow-methods',
  'access-control-allow-headers',
  'access-control-max-age',
]

const text = readFileSync(process.argv[2], 'utf8')
const side = JSON.parse(readFileSync(0, 'utf8'))
/** What came back, by the names of the steps; and the accounts, by theirs. */
const known = { ...side.accounts }
/** The call that is made, and its last answer as it came over the line; the client makes others on its own. */
let call, last

const agents = { nobody: agent() }
for (const [name, { handle, password }] of Object.entries(side.accounts)) {
  agents[name] = agent()
  await agents[name].login({ identifier: handle, password })
}
const answers = {}
for (const step of JSON.parse(text)) {
  const client = await run(step)
  answers[step.name] = { ...came(last), client }
}
process.stdout.write(JSON.stringify({ accounts: accounts(), answers }, null, 1) + '\n')

function agent() {
  return new AtpAgent({
    service: side.url,
    fetch: async (input, init) => {
      const answer = await heard(await fetch(input, init))
      if (String(input.url ?? input).split(/[?]/)[0].endsWith(`/xrpc/${call}`)) last = answer
      const hasBody = answer.bytes.length > 0
      return new Response(hasBody ? answer.bytes : null, { status: answer.status, headers: answer.headers })
    },
  })
}

/** Reads an answer to its end. */
async function heard(response) {
  const bytes = Buffer.from(await response.arrayBuffer())
  return { status: response.status, headers: response.headers, bytes }
}

/** Makes one call, and says what the client thought of the answer. */
async function run(step) {
  const headers = {}
  if (step.token) headers.authorization = `Bearer ${fill(step.token)}`
  if (step.authorization) headers.authorization = step.authorization
  call = step.call
  last = undefined
  if (step.raw) {
    await raw(step, headers)
    return 'none'
  }
  const data = step.bytes === undefined ? fill(step.body) : new TextEncoder().encode(fill(step.bytes))
  const options = { headers, ...(step.type && { encoding: step.type }) }
  try {
    const response = await agents[step.as ?? 'nobody'].call(step.call, fill(step.params), data, options)
    known[step.name] = JSON.parse(JSON.stringify(response.data))
    return 'content'
  } catch (error) {
    return error instanceof XRPCInvalidResponseError ? 'refuses the answer' : `told: ${error.error}`
  }
}

/** What the client would not send. */
async function raw(step, headers) {
  const { method = 'POST', body, type, query } = step.raw
  Object.assign(headers, step.raw.headers)
  if (type) headers['content-type'] = type
  if (step.as) headers.authorization = `Bearer ${agents[step.as].session.accessJwt}`
  const url = `${side.url}/xrpc/${step.call}${query ? `?${fill(query)}` : ''}`
  const sent = body === undefined ? undefined : new Blob([fill(body)])
  last = await heard(await fetch(url, { method, headers, body: sent }))
}

function came(answer) {
  if (!answer) return { status: 0 }
  const { status, bytes } = answer
  const headers = {}
  for (const name of HEADERS) {
    if (answer.headers.has(name)) headers[name] = answer.headers.get(name).replace(/^([^;]*\/json);.*/, '$1')
  }
  const isJson = headers['content-type']?.startsWith('application/json')
  const body = isJson ? JSON.parse(bytes) : bytes.length > 0 ? { bytes: bytes.length, sha256: sha256(bytes) } : null
  // What an error says is for people: it is written down, and nobody compares it.
  const isError = status >= 400 && typeof body?.message === 'string'
  const said = isError ? { said: plain(body.message) } : {}
  if (isError) body.message = '<words>'
  return { status, ...said, headers, body: plain(body) }
}

/** Replaces what is another in every run, or on every side, by what it is. */
function plain(value) {
  if (Array.isArray(value)) {
    const items = value.map((item) => plain(item))
    const alike = items.length > 10 && items.every((item) => JSON.stringify(item) === JSON.stringify(items[0]))
    return alike ? [items[0], `<${items.length - 1} more>`] : items
  }
  if (value !== null && typeof value === 'object') {
    const entries = Object.entries(value).map(([key, inner]) => [key, plain(inner)])
    if (typeof value.rev === 'string' && typeof value.cid === 'string') {
      return { ...Object.fromEntries(entries), cid: cidKind(value.cid), rev: plain(value.rev) }
    }
    return Object.fromEntries(entries)
  }
  if (typeof value !== 'string') return value
  if (/^zQ3s/.test(value)) return '<key>'
  if (value.length > 1000) return `<${value.length} characters, ${sha256(value)}>`
  if (JWT.test(value) && value.length > 100) return '<token>'
  if (TID.test(value) && !text.includes(value)) return '<tid>'
  let plainer = value
  for (const [name, { did, handle }] of Object.entries(side.accounts)) {
    plainer = plainer.replaceAll(did, `<did of ${name}>`).replaceAll(handle, `<handle of ${name}>`)
  }
  const key = plainer.match(/^at:\/\/(.*)\/([^/]+)$/)
  return key && TID.test(key[2]) && !text.includes(key[2]) ? `at://${key[1]}/<tid>` : plainer
}

/** A commit's CID is signed by a key of its own; what kind of CID it is can be compared. */
function cidKind(cid) {
  return cid.startsWith('bafyrei') && cid.length === 59 ? '<cid of dag-cbor>' : cid
}

/** Fills in what earlier steps brought, and what is too large to stand in a file. */
function fill(value) {
  if (Array.isArray(value)) return value.map(fill)
  if (typeof value === 'string') {
    const whole = value.match(/^\$\{([^}]*)\}$/)
    if (whole) return find(whole[1])
    return value.replaceAll(/\$\{([^}]*)\}/g, (_, path) => find(path))
  }
  if (value === null || typeof value !== 'object') return value
  if ('$repeat' in value) return value.$repeat.repeat(value.times)
  if ('$list' in value) return Array.from({ length: value.times }, () => fill(value.$list))
  if ('$nest' in value) return Array.from({ length: value.times }).reduce((inner) => ({ [value.$nest]: inner }), {})
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fill(inner)]))
}

function find(path) {
  const name = Object.keys(known).find((name) => path.startsWith(`${name}.`))
  const found = path.slice((name ?? '').length + 1).split('.').reduce((value, key) => value?.[key], known[name])
  // A step that failed has brought nothing; the one that needs it then fails too, and is told apart by that.
  return found ?? `<nothing at ${path}>`
}

function accounts() {
  return Object.fromEntries(Object.entries(side.accounts).map(([name, { did, handle }]) => [name, { did, handle }]))
}

function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex')
}
