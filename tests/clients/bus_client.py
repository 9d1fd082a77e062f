"""A client of the AgentMessage bus that knows nothing of Convoke but the documented calls of `/bus`."""

import json
import threading
import time
import uuid
from datetime import datetime, timezone
from urllib.parse import quote

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from bus import OPERATOR, PATIENCE, URL, client

SOCKETS = URL.replace("http", "ws", 1)


def registration(agent_id):
    framework = agent_id.partition("://")[0]
    descriptor = {
        "agent_id": agent_id,
        "framework": framework,
        "capabilities": {"optimal_tasks": ["code_review"], "tools": ["git"]},
        "endpoints": {"websocket": "ws://localhost:1"},
        "metadata": {"version": "1.0.0", "author": "tests", "tags": []},
    }
    return {
        "agent_descriptor": descriptor,
        "health_check_url": "http://localhost:1/health",
        "authentication": {"type": "api_key", "credentials": "default-key"},
    }


def register(agent_id):
    """Registers by the operator's key, and returns a client that speaks by the agent's own."""
    with client() as operator:
        answer = operator.post(
            "/bus/agents/register", json=registration(agent_id), headers={"x-agent-api-key": OPERATOR}
        )
    assert answer.status_code == 200, answer.text
    said = answer.json()
    assert said["success"] is True and said["agent_id"] == agent_id, said
    keyed = client()
    keyed.headers["x-agent-api-key"] = said["token"]
    return keyed, said["token"]


def message(sender, recipient, message_type="task_request", payload=None, mode="async", **more):
    part = lambda agent_id: {"agent_id": agent_id, "framework": agent_id.partition("://")[0]}
    return {
        "message_id": f"msg_{int(time.time() * 1000)}_{uuid.uuid4().hex[:7]}",
        "timestamp": datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "sender": part(sender),
        "recipient": part(recipient),
        "message_type": message_type,
        "priority": "medium",
        "payload": payload or {"task_type": "code_review", "files": ["src/a.ts"]},
        "routing": {
            "timeout": "30s",
            "retry_policy": {"max_retries": 2, "backoff": "exponential"},
            "delivery_mode": mode,
        },
        **more,
    }


def socket(agent_id, token, encoded=True):
    shown = quote(agent_id, safe="") if encoded else agent_id
    return connect(
        f"{SOCKETS}/bus?agent_id={shown}", additional_headers={"x-agent-api-key": token}, open_timeout=PATIENCE
    )


def receive(connection):
    return json.loads(connection.recv(timeout=PATIENCE))


def registering():
    _, token = register("opencode://py-reviewer")
    with client(OPERATOR) as operator:
        again = operator.post("/bus/agents/register", json=registration("opencode://py-reviewer"))
        assert again.status_code == 200 and again.json()["success"], again.text
        changed = registration("opencode://py-reviewer")
        changed["agent_descriptor"]["metadata"]["version"] = "2.0.0"
        refused = operator.post("/bus/agents/register", json=changed)
        assert refused.status_code == 400, refused.text
        assert refused.json()["error"] == "Agent opencode://py-reviewer already registered"
        path = "/bus/agents/" + quote("opencode://py-reviewer", safe="")
        assert [operator.delete(path).json()["success"] for _ in "ab"] == [True, False]
    assert client(token).get("/bus/metrics").status_code == 401, "a key ends with its agent"
    try:
        with socket("opencode://py-reviewer", OPERATOR) as connection:
            connection.recv(timeout=PATIENCE)
    except ConnectionClosed as closed:
        assert (closed.rcvd.code, closed.rcvd.reason) == (1008, "Agent not registered"), closed
    else:
        raise AssertionError("who is not registered was let in")


def talking():
    asker, asker_key = register("claude-code://py-orchestrator")
    worker, worker_key = register("codex://py-worker")
    texts = [message("claude-code://py-orchestrator", "codex://py-worker") for _ in range(3)]
    for text in texts:
        assert asker.post("/bus/messages/send", json=text).json()["success"] is True
    assert asker.post("/bus/messages/send", json=texts[0]).json()["duplicate"] is True
    with socket("codex://py-worker", worker_key, encoded=False) as work:
        came = [receive(work)["message_id"] for _ in texts]
        assert came == [text["message_id"] for text in texts]
        with socket("claude-code://py-orchestrator", asker_key) as ask:
            request = message("claude-code://py-orchestrator", "codex://py-worker", metadata={"task_id": "task_1"})
            ask.send(json.dumps(request))
            assert receive(work) == request, "what goes over a socket is routed"
            response = message(
                "codex://py-worker",
                "claude-code://py-orchestrator",
                "task_response",
                {"status": "completed", "result": {"ok": True}},
                metadata={"task_id": "task_1"},
            )
            work.send(json.dumps(response))
            assert receive(ask) == response
            ask.send(json.dumps(message("claude-code://py-orchestrator", "codex://nobody")))
            refused = receive(ask)
            assert refused["message_type"] == "error" and refused["sender"]["agent_id"] == "communication-bus"
            assert refused["payload"]["error_code"] == "unknown_recipient", refused
            ask.send("{not json")
            assert receive(ask)["payload"]["error_code"] == "not_json"
    with socket("codex://py-worker", worker_key) as work:
        # Nothing of what was settled comes again: the next is what is sent now.
        last = message("claude-code://py-orchestrator", "codex://py-worker")
        assert asker.post("/bus/messages/send", json=last).json()["success"] is True
        assert receive(work)["message_id"] == last["message_id"]
    missing = asker.post("/bus/messages/send", json=message("claude-code://py-orchestrator", "codex://nobody"))
    assert missing.status_code == 404 and "No available recipients" in missing.json()["error"], missing.text
    legacy = asker.post(
        "/bus/messages/send?compat=legacy", json=message("claude-code://py-orchestrator", "codex://nobody")
    )
    assert legacy.status_code == 200 and legacy.json()["success"] is False, legacy.text


def waiting():
    asker, _ = register("claude-code://py-waiter")
    _, worker_key = register("codex://py-answerer")

    def answer():
        with socket("codex://py-answerer", worker_key) as work:
            request = receive(work)
            work.send(
                json.dumps(
                    message(
                        "codex://py-answerer",
                        "claude-code://py-waiter",
                        "task_response",
                        {"status": "completed", "result": 42},
                        metadata={"in_reply_to": request["message_id"]},
                    )
                )
            )
            # Leaves when everything was read.
            work.send("{")
            receive(work)

    thread = threading.Thread(target=answer)
    thread.start()
    request = message("claude-code://py-waiter", "codex://py-answerer", mode="sync")
    answered = asker.post("/bus/messages/send", json=request)
    thread.join(PATIENCE)
    assert answered.status_code == 200 and answered.json()["reply"]["payload"]["result"] == 42, answered.text
    request = message("claude-code://py-waiter", "codex://py-answerer", mode="sync")
    request["routing"]["timeout"] = "100ms"
    late = asker.post("/bus/messages/send", json=request)
    assert late.status_code == 504 and late.json()["error"] == "timeout", late.text


def figures():
    with client() as anybody:
        health = anybody.get("/bus/health").json()
        assert health["status"] == "healthy" and health["uptime"] >= 0, health
    with client(OPERATOR) as operator:
        shown = operator.get("/bus/metrics").json()
    wanted = "total_messages active_sessions registered_agents average_response_time error_rate uptime throughput"
    assert set(shown) == set(wanted.split()) and shown["total_messages"] > 0, shown


for part in (registering, talking, waiting, figures):
    part()
    print(f"{part.__name__}: ok")
