"""Two agents of the Agent Communication Protocols over the documented calls of `/coord`."""

import json
import uuid
from datetime import datetime, timezone

from websockets.sync.client import connect

from bus import PATIENCE, URL, agent

SOCKETS = URL.replace("http", "ws", 1)


def message(sender, to, message_type, payload, **metadata):
    return {
        "id": str(uuid.uuid4()),
        "timestamp": datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "from": sender,
        "to": to,
        "type": message_type,
        "payload": payload,
        "metadata": {"priority": "high", "retry_count": 0, "max_retries": 2, **metadata},
    }


def help_request(task):
    context = {"current_state": "stuck", "attempted_solutions": []}
    return {
        "requester_id": "cara",
        "task_id": task,
        "help_type": "CODE_REVIEW",
        "description": "Which port?",
        "context": context,
        "urgency": "high",
    }


cara, cara_token = agent("cara", dialect="coord")
carl, carl_token = agent("carl", dialect="coord")
asked = message("cara", "carl", "HELP_REQUEST", help_request("task-1"))
sent = cara.post("/coord/messages", json=asked)
assert sent.status_code == 201 and sent.json()["guarantee"] == "at_least_once", sent.text
again = {**asked, "metadata": {**asked["metadata"], "retry_count": 1}}
assert cara.post("/coord/messages", json=again).json()["duplicate"] is True
looked = carl.get("/coord/agents/carl/inbox").json()
assert looked["messages"] == [asked] and looked["more"] == 0, looked

with connect(f"{SOCKETS}/coord/agents/carl", additional_headers={"Authorization": f"Bearer {carl_token}"}) as work:
    assert json.loads(work.recv(timeout=PATIENCE)) == asked
    reply = {
        "responder_id": "carl",
        "request_id": asked["id"],
        "response_type": "DIRECT_ANSWER",
        "content": "7700",
        "follow_up_required": False,
        "estimated_effort": 1,
    }
    work.send(json.dumps(message("carl", "cara", "HELP_RESPONSE", reply, correlation_id=asked["id"])))
    work.send(json.dumps(message("carl", "cara", "SHOUT", {})))
    refused = json.loads(work.recv(timeout=PATIENCE))
    assert refused["type"] == "ERROR_REPORT" and refused["payload"]["error_type"] == "VALIDATION_ERROR", refused

# Without a header: the first frame shows the token.
with connect(f"{SOCKETS}/coord/agents/cara") as ask:
    ask.send(json.dumps({"type": "auth", "token": cara_token}))
    answered = json.loads(ask.recv(timeout=PATIENCE))
    assert answered["payload"]["content"] == "7700" and answered["metadata"]["correlation_id"] == asked["id"]
assert carl.get("/coord/agents/carl/inbox").json()["messages"] == []
unknown = cara.post("/coord/messages", json=message("cara", "carll", "HELP_REQUEST", help_request("task-2")))
assert unknown.status_code == 404 and "carl" in unknown.json()["suggestions"], unknown.text
print("asking, answering, refusing: ok")
