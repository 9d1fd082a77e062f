// Follows `/subscribe` with `ws` while the official client writes, and checks that every write comes as an event.
//
//   node follow.mjs < SIDE

import { readFileSync } from 'node:fs'
import { AtpAgent } from '@atproto/api'
import WebSocket from 'ws'

const COLLECTION = 'com.example.followed'
const { url, accounts } = JSON.parse(readFileSync(0, 'utf8'))
const { did, handle, password } = accounts.ann
const agent = new AtpAgent({ service: url })
await agent.login({ identifier: handle, password })

const live = await follow(`?wantedCollections=${COLLECTION}`)
const record = { $type: COLLECTION, text: 'hello' }
const made = await agent.com.atproto.repo.createRecord({ repo: did, collection: COLLECTION, rkey: 'one', record })
await agent.com.atproto.repo.createRecord({ repo: did, collection: 'com.example.other', record: {} })
const put = await agent.com.atproto.repo.putRecord({
  repo: did,
  collection: COLLECTION,
  rkey: 'one',
  record: { ...record, text: 'changed' },
})
await agent.com.atproto.repo.deleteRecord({ repo: did, collection: COLLECTION, rkey: 'one' })
const seen = [await live.next(), await live.next(), await live.next()]
live.close()
for (const event of seen) {
  check(event.did === did && event.kind === 'commit', event)
  check(Number.isSafeInteger(event.time_us) && event.time_us > 1e15, event)
  check(event.commit.collection === COLLECTION && event.commit.rkey === 'one', event)
  check(/^[2-7a-z]{13}$/.test(event.commit.rev), event)
}
const operations = seen.map(({ commit }) => commit.operation)
check(operations.join() === 'create,update,delete', operations)
check(seen[0].commit.cid === made.data.cid && seen[1].commit.cid === put.data.cid, seen)
check(seen[0].commit.record.text === 'hello' && seen[1].commit.record.text === 'changed', seen)
check(seen[2].commit.record === undefined && seen[2].commit.cid === undefined, seen[2])
check(seen[0].time_us < seen[1].time_us && seen[1].time_us < seen[2].time_us, seen)

// Whoever comes back with the last cursor gets what came after it, and nobody else's collections.
const again = await follow(`?wantedCollections=${COLLECTION}&wantedDids=${did}&cursor=${seen[0].time_us}`)
let resumed = await again.next()
// A cursor may be read as "from" or as "after".
if (resumed.time_us === seen[0].time_us) resumed = await again.next()
check(JSON.stringify(resumed) === JSON.stringify(seen[1]), resumed)
again.close()
const stranger = await follow(`?wantedDids=did:plc:aaaaaaaaaaaaaaaaaaaaaaaa&cursor=${seen[0].time_us}`)
const late = await follow(`?wantedCollections=com.example.*`)
await agent.com.atproto.repo.createRecord({ repo: did, collection: COLLECTION, rkey: 'two', record })
check((await late.next()).commit.rkey === 'two', 'a prefix of collections')
check(stranger.waiting() === 0, 'somebody else was told')
late.close()
stranger.close()
console.log('@atproto/api wrote, ws followed: create, update, delete, a cursor, a prefix, nobody else')
process.exit(0)

/** Opens a stream, and keeps what comes until it is asked for. */
async function follow(query) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/subscribe${query}`, {
    headers: { authorization: `Bearer ${agent.session.accessJwt}` },
  })
  const [events, waiting] = [[], []]
  const fail = (error) => {
    console.error(`the stream ended: ${error}`)
    process.exit(1)
  }
  socket.on('message', (data) => {
    const event = JSON.parse(data)
    // Others are told of accounts and identities too.
    if (event.kind !== 'commit') return
    const next = waiting.shift()
    if (next) next(event)
    else events.push(event)
  })
  socket.on('error', fail)
  await new Promise((resolve) => socket.once('open', resolve))
  socket.on('close', (code) => socket.isDone || fail(code))
  return {
    next: () => (events.length > 0 ? events.shift() : new Promise((resolve) => waiting.push(resolve))),
    waiting: () => events.length,
    close: () => {
      socket.isDone = true
      socket.close()
    },
  }
}

function check(holds, what) {
  if (holds) return
  console.error('not as expected:', JSON.stringify(what))
  process.exit(1)
}
