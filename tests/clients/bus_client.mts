// A client of the AgentMessage bus as its adapters are: TypeScript, `fetch` and `ws`, and the documented calls.

import assert from "node:assert/strict";
import { createRequire } from "node:module";

type Json = Record<string, unknown>;
type Party = { agent_id: string; framework: string; session_id?: string };
type AgentMessage = {
  message_id: string;
  timestamp: string;
  sender: Party;
  recipient: Party;
  message_type: "task_request" | "task_response" | "status_update" | "error" | "heartbeat";
  priority: "critical" | "high" | "medium" | "low";
  payload: Json;
  routing: Json;
  metadata: Json;
};

const WebSocket = createRequire(process.env.CONVOKE_TEST_MODULES as string)("ws");
const URL = process.env.CONVOKE_TEST_URL as string;
const OPERATOR = process.env.CONVOKE_TEST_OPERATOR;
// Nothing here is meant to take that long.
const PATIENCE_MS = 60_000;

const framework = (agentId: string): string => agentId.split("://")[0];

async function call(method: string, path: string, key?: string, body?: Json): Promise<Json> {
  const headers = { "content-type": "application/json", ...(key && { "x-agent-api-key": key }) };
  const answer = await fetch(URL + path, { method, headers, body: body && JSON.stringify(body) });
  return { status: answer.status, ...(await answer.json()) };
}

async function register(agentId: string): Promise<string> {
  const agent_descriptor = {
    agent_id: agentId,
    framework: framework(agentId),
    capabilities: { optimal_tasks: ["debugging"] },
    endpoints: {},
    metadata: { version: "1.0.0", author: "tests", tags: [] },
  };
  const registration = { agent_descriptor, health_check_url: "http://localhost:1/health" };
  const said = await call("POST", "/bus/agents/register", OPERATOR, registration);
  assert.equal(said.success, true, JSON.stringify(said));
  return said.token as string;
}

let count = 0;
function message(
  from: string,
  to: string,
  type: AgentMessage["message_type"] = "task_request",
  payload: Json = { task_type: "debugging" },
  metadata: Json = {},
): AgentMessage {
  const part = (agentId: string): Party => ({ agent_id: agentId, framework: framework(agentId) });
  return {
    message_id: `msg_${Date.now()}_js${count++}`,
    timestamp: new Date().toISOString(),
    sender: part(from),
    recipient: part(to),
    message_type: type,
    priority: "high",
    payload,
    routing: { timeout: "30s", retry_policy: { max_retries: 2, backoff: "linear" }, delivery_mode: "async" },
    metadata,
  };
}

// An open socket with the messages that came over it.
class Connection {
  came: AgentMessage[] = [];
  waiting: ((message: AgentMessage) => void)[] = [];
  socket: any;
  closed: Promise<[number, string]>;
  opened: Promise<unknown>;

  constructor(agentId: string, options?: Json, first?: Json) {
    this.socket = new WebSocket(`${URL.replace("http", "ws")}/bus?agent_id=${agentId}`, options);
    this.socket.on("message", (data: Buffer) => {
      const message: AgentMessage = JSON.parse(data.toString());
      const next = this.waiting.shift();
      if (next) next(message);
      else this.came.push(message);
    });
    this.closed = new Promise((resolve) => this.socket.on("close", (code: number, reason: Buffer) => resolve([code, reason.toString()])));
    this.opened = new Promise((resolve, reject) => {
      this.socket.on("open", () => resolve(first && this.socket.send(JSON.stringify(first))));
      this.socket.on("error", reject);
    });
  }

  next(): AgentMessage | Promise<AgentMessage> {
    if (this.came.length > 0) return this.came.shift() as AgentMessage;
    return new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error("nothing came")), PATIENCE_MS).unref();
      this.waiting.push(resolve);
    });
  }

  send(message: Json | AgentMessage): void {
    this.socket.send(JSON.stringify(message));
  }
}

const [ask, work] = ["claude-code://js-asker", "opencode://js-worker"];
const keys = { [ask]: await register(ask), [work]: await register(work) };

// One shows its key in a header, the other in its first message, as a page would.
const worker = new Connection(work, { headers: { "x-agent-api-key": keys[work] } });
const asker = new Connection(ask, {}, { type: "auth", token: keys[ask] });
await Promise.all([worker.opened, asker.opened]);

const request = message(ask, work, "task_request", { task_type: "debugging" }, { task_id: "js-1" });
asker.send(request);
assert.deepEqual(await worker.next(), request);
// What is over cannot fail any more: the error is of another task.
for (const [type, task_id] of [["status_update", "js-1"], ["task_response", "js-1"], ["error", "js-2"]] as const) {
  const answer = message(work, ask, type, { notes: type }, { task_id });
  worker.send(answer);
  assert.deepEqual(await asker.next(), answer);
}
asker.send({ ...message(ask, work), message_type: "shout" });
assert.equal((await asker.next()).payload.error_code, "invalid");

// Many at once, in order, while the other side sends too.
const many = Array.from({ length: 200 }, () => message(ask, work));
many.forEach((one) => asker.send(one));
many.forEach(() => worker.send(message(work, "communication-bus", "heartbeat", { status: "healthy", active_tasks: 0 })));
for (const one of many) assert.equal((await worker.next()).message_id, one.message_id);

const stranger = new Connection("codex://js-nobody", { headers: { "x-agent-api-key": OPERATOR } });
assert.deepEqual(await stranger.closed, [1008, "Agent not registered"]);
const removed = await call("DELETE", `/bus/agents/${encodeURIComponent(work)}`, OPERATOR);
assert.equal(removed.success, true);
assert.deepEqual(await worker.closed, [1008, "Agent not registered"]);
const lost = await call("POST", "/bus/messages/send", keys[ask], message(ask, work));
assert.deepEqual([lost.status, lost.success], [404, false]);
asker.socket.close();
console.log(`${many.length} messages and all that is known of the bus: ok`);
