// The reference PDS with accounts, all of it on the loopback, in a folder that is removed at the end.
//
//   node pds.mjs HANDLE…     prints one line of JSON when it is ready, and ends when its standard input does

import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { mkdtempSync, rmSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { startPlc } from './plc.mjs'

const require = createRequire(import.meta.url)

/** The password of every account. */
const PASSWORD = 'correct-horse-battery'
const DOMAIN = '.test'
/** Outside of its development mode a PDS wants a public name; nobody resolves this one. */
const HOSTNAME = 'pds.test'

process.env.LOG_ENABLED ??= 'false'
const { PDS } = await import('@atproto/pds')

const folder = mkdtempSync(join(process.env.PDS_FOLDER ?? tmpdir(), 'pds-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const plc = await startPlc()
const port = await freePort()
const pds = await PDS.fromEnv({
  port,
  hostname: HOSTNAME,
  serviceHandleDomains: [DOMAIN],
  dataDirectory: folder,
  blobstoreDiskLocation: join(folder, 'blobs'),
  blobstoreDiskTmpLocation: join(folder, 'blobs-under-way'),
  didPlcUrl: plc.url,
  inviteRequired: false,
  rateLimitsEnabled: false,
  disableSsrfProtection: true,
  crawlers: [],
  jwtSecret: randomBytes(16).toString('hex'),
  adminPassword: randomBytes(16).toString('hex'),
  plcRotationKeyK256PrivateKeyHex: randomBytes(32).toString('hex'),
})
pds.app.listen = (wanted) => createServer(pds.app).listen(wanted, '127.0.0.1')
await pds.start()

const url = `http://127.0.0.1:${port}`
const accounts = {}
for (const handle of process.argv.slice(2)) accounts[handle] = await account(handle)
const { version } = require('@atproto/pds/package.json')
console.log(JSON.stringify({ url, version, accounts }))

process.stdin.resume().on('end', () => process.exit(0))

async function account(name) {
  const handle = name + DOMAIN
  const answer = await fetch(`${url}/xrpc/com.atproto.server.createAccount`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ handle, email: `${name}@example.test`, password: PASSWORD }),
  })
  const body = await answer.json()
  if (!answer.ok) throw new Error(`making the account ${handle}: ${JSON.stringify(body)}`)
  return { did: body.did, handle, password: PASSWORD }
}

async function freePort() {
  const server = createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}
