// A stand-in for the directory of DIDs: it takes operations as they come and answers with documents made of them.
// It checks no signature: whoever can reach it is our own PDS.

import { createServer } from 'node:http'

/** Starts it on a free port of the loopback and returns the server with its URL. */
export async function startPlc() {
  const operations = new Map()
  const server = createServer(async (request, response) => {
    const [, did, rest] = decodeURIComponent(request.url).split('/')
    if (did === '_health') return answer(response, 200, { version: 'stand-in' })
    if (request.method === 'POST') {
      operations.set(did, [...(operations.get(did) ?? []), JSON.parse(await text(request))])
      return answer(response, 200, {})
    }
    const log = operations.get(did)
    if (!log) return answer(response, 404, { message: `DID not registered: ${did}` })
    return answer(response, 200, rest === 'data' ? { did, ...log.at(-1) } : document(did, log.at(-1)))
  })
  await new Promise((resolve) => server.listen(0, 'localhost', resolve))
  // By its name: the PDS asks nobody whose address is a number.
  return { server, url: `http://localhost:${server.address().port}` }
}

function document(did, operation) {
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'],
    id: did,
    alsoKnownAs: operation.alsoKnownAs,
    verificationMethod: Object.entries(operation.verificationMethods).map(([name, key]) => ({
      id: `${did}#${name}`,
      type: 'Multikey',
      controller: did,
      publicKeyMultibase: key.replace('did:key:', ''),
    })),
    service: Object.entries(operation.services).map(([name, { type, endpoint }]) => ({
      id: `#${name}`,
      type,
      serviceEndpoint: endpoint,
    })),
  }
}

async function text(request) {
  let whole = ''
  for await (const piece of request.setEncoding('utf8')) whole += piece
  return whole
}

function answer(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
