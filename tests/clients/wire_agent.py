"""A small platform of Agent Wire: a supervisor that briefs, a developer that works, a governor that reads the topics.

It knows nothing of Convoke but the documented paths of `/wire`, and needs nothing but Python itself.
"""

import hashlib
import json
import os
import urllib.error
import urllib.request
from datetime import datetime, timezone
from urllib.parse import quote

URL = os.environ["CONVOKE_TEST_URL"]
OPERATOR = os.environ["CONVOKE_TEST_OPERATOR"]


def call(method, path, token, body=None):
    """Calls, and returns the status and the JSON."""
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    request = urllib.request.Request(URL + path, data=data, method=method)
    request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)


def wire(sender, kind, payload):
    """Puts a payload into an envelope."""
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"wire": "1.0", "type": kind, "sender": sender, "ts": now, "payload": payload}


class Agent:
    """Somebody with a slug and a token."""

    def __init__(self, slug, roles=()):
        self.slug = slug
        status, made = call("PUT", f"/v1/agents/{slug}", OPERATOR, {"dialect": "wire", "roles": list(roles)})
        assert status == 201, made
        self.token = made["token"]

    def post(self, kind, payload, query=""):
        """Posts a wire and returns its receipt."""
        status, receipt = call("POST", f"/wire{query}", self.token, wire(self.slug, kind, payload))
        assert status == 201, receipt
        return receipt

    def claim(self, task, role):
        """Claims a task, and returns what came of it."""
        payload = {"task_id": task, "agent": self.slug, "role": role}
        status, claimed = call("POST", "/wire", self.token, wire(self.slug, "claim", payload))
        assert status == 200, claimed
        return claimed["outcome"], claimed["holder"]

    def message(self, to, message_type, body, priority=3, task=None):
        """Writes into somebody's inbox."""
        return self.post("inbox", {
            "to_agent": to, "priority": priority, "message_type": message_type, "ref_task_id": task,
            "subject": body.split(".")[0], "body": body, "action_required": priority < 3,
        })

    def inbox(self):
        """Reads the inbox and says that all of it was processed."""
        status, inbox = call("GET", f"/wire/inbox/{self.slug}", self.token)
        assert status == 200, inbox
        assert len(inbox["messages"]) == len(inbox["ids"]), inbox
        status, done = call("POST", f"/wire/inbox/{self.slug}/processed", self.token, {"ids": inbox["ids"]})
        assert status == 200 and all(result["outcome"] == "processed" for result in done["results"]), done
        return inbox["messages"]

    def topic(self, topic, limit=2):
        """Reads a topic page by page, and checks its numbers and its running hash."""
        path, entries, running = f"/wire/topics/{quote(topic)}/messages?limit={limit}", [], bytes(32)
        while path:
            status, page = call("GET", path, self.token)
            assert status == 200, page
            entries += page["messages"]
            path = page["links"]["next"]
        for number, entry in enumerate(entries, 1):
            running = hashlib.sha256(running + bytes.fromhex(entry["message_sha256"])).digest()
            assert entry["sequence_number"] == number and entry["running_hash"] == running.hex(), entry
        return entries


BRIEF = {
    "goal": "The auth middleware is built.",
    "context": "Tokens are checked by hand today.",
    "constraints": ["No new dependencies"],
    "acceptance_criteria": ["Tests pass"],
    "output_contract": {
        "type": "pr", "schema_ref": None, "output_ref_required": True, "min_length": 0, "evaluate": None,
    },
    "escalation_triggers": ["The brief is ambiguous"],
    "env": {
        "client_id": "bezeliq", "task_id": "0.0.8802709", "project_id": "0.0.1", "repo_url": None,
        "worktree_path": None,
    },
}
TASK = BRIEF["env"]["task_id"]


def main():
    mindy, quinn, iris = Agent("mindy"), Agent("quinn", ["developer"]), Agent("iris")
    mindy.post("brief", BRIEF, "?role=developer")
    iris.message("quinn", "info", "The office is closed on Friday.")
    mindy.message("quinn", "question", "When can you begin. Today would be good.", priority=2)

    # The developer works its inbox off, the most urgent first.
    shown = quinn.inbox()
    kinds = [message["payload"].get("message_type", message["type"]) for message in shown]
    assert kinds == ["question", "brief", "info"], kinds
    brief = next(message for message in shown if message["type"] == "brief")
    assert brief["payload"] == BRIEF, brief
    assert quinn.inbox() == [], "processed is processed"

    assert quinn.claim(TASK, "developer") == ("claimed", "quinn")
    assert iris.claim(TASK, "developer") == ("missed", "quinn"), "the first has it"
    status, task = call("GET", f"/wire/tasks/{TASK}", quinn.token)
    assert (status, task["status"], task["holder"]) == (200, "claimed", "quinn"), task
    assert task["brief"]["payload"] == BRIEF, task
    quinn.message("mindy", "question", "Which branch. There are two.", priority=2, task=TASK)
    quinn.post("blocked", {
        "task_id": TASK, "agent": "quinn", "reason": "The branch is not named.", "blocker_type": "spec_gap",
        "suggested_resolution": None, "attempts": 1,
    })
    mindy.message("quinn", "task.feedback", "Use feature/auth-v2.", priority=2, task=TASK)
    assert [message["payload"]["body"] for message in quinn.inbox()] == ["Use feature/auth-v2."]
    complete = quinn.post("complete", {
        "task_id": TASK, "agent": "quinn", "output_ref": "outputs/auth.diff", "summary": "Auth is built.",
        "cost_usd": 0.42, "duration_seconds": 61,
        "verification": {"mechanical": "pass", "semantic": "skipped", "attempts": 1},
    })
    assert complete["to"] == ["mindy"], complete

    # The supervisor hears of everything that concerns its task.
    heard = sorted(message["payload"].get("message_type", message["type"]) for message in mindy.inbox())
    assert heard == ["blocked", "claim", "complete", "question"], heard

    # The governor reads along, and sees of private messages only that they were there.
    told = [entry["message"] and entry["message"]["type"] for entry in iris.topic(TASK)]
    assert told == ["available", "claim", None, "blocked", None, "complete"], told
    offered = [entry["message"]["payload"] for entry in iris.topic("roles.developer")]
    assert offered == [{"task_id": TASK, "role": "developer"}], offered
    assert [entry["running_hash"] for entry in iris.topic(TASK)] == [
        entry["running_hash"] for entry in quinn.topic(TASK, limit=100)
    ], "everybody sees the same chain"

    # What is wrong is said in the words of the wire.
    foreign = wire("mindy", "brief", BRIEF) | {"wire": "2.0"}
    status, refused = call("POST", "/wire?role=developer", mindy.token, foreign)
    assert (status, refused["outcome"], refused["reason"]) == (422, "rejected", "unsupported_wire_version"), refused
    status, refused = call("POST", "/wire", iris.token, wire("quinn", "claim", {
        "task_id": TASK, "agent": "quinn", "role": "developer",
    }))
    assert (status, refused["reason"]) == (403, "not_yours"), refused
    status, refused = call("GET", "/wire/inbox/quinn", iris.token)
    assert (status, refused["reason"]) == (403, "not_yours"), refused
    print("a brief was claimed, blocked, answered and completed")


main()
