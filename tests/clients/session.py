"""A whole session by clients that know nothing of Convoke but its documented calls: `httpx` and `websockets`."""

import json
import threading

from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from bus import OPERATOR, PATIENCE, URL, agent, check, client, note


def sending_and_taking():
    ann, _ = agent("ann")
    bob, _ = agent("bob", dialect="wire")
    sent = check(ann.post("/v1/messages", json=note("ann", "bob", "hello", native_id="n-1")), 201)
    assert sent["stage"] == "stored" and sent["guarantee"] == "at_least_once" and not sent["duplicate"]
    again = check(ann.post("/v1/messages", json=note("ann", "bob", "hello", native_id="n-1")), 200)
    assert again["id"] == sent["id"] and again["duplicate"] is True
    other = check(ann.post("/v1/messages", json=note("ann", "bob", "other", native_id="n-1")), 409, "conflict")
    assert other["id"] == sent["id"]
    keyed = [ann.post("/v1/messages", json=note("ann", "bob", "k"), headers={"Idempotency-Key": "k"}) for _ in "ab"]
    assert [answer.status_code for answer in keyed] == [201, 200]

    looked = check(bob.get("/v1/agents/bob/inbox", params={"dialect": "convoke", "max": 1}), 200)
    assert len(looked["messages"]) == 1 and looked["more"] == 1
    taken = check(bob.post("/v1/agents/bob/inbox/take", json={"lease": "60s"}), 200)["deliveries"]
    assert [delivery["dialect"] for delivery in taken] == ["wire", "wire"]
    assert taken[0]["id"] == sent["id"] and taken[0]["attempt"] == 1
    extended = check(bob.post(f"/v1/deliveries/{taken[0]['delivery']}/extend", json={"lease": "120s"}), 200)
    assert extended["lease_until"] > taken[0]["lease_until"]
    check(bob.post(f"/v1/deliveries/{taken[0]['delivery']}/surfaced", json={"by": "session.py"}), 200)
    for delivery in taken:
        settled = check(bob.post(f"/v1/deliveries/{delivery['delivery']}/ack"), 200)
        assert settled["stage"] in ("acknowledged", "surfaced"), settled
    receipt = check(ann.get(f"/v1/messages/{sent['id']}/receipt"), 200)
    assert receipt["stage"] == "acknowledged" and receipt["recipients"][0]["attempts"] == 1
    document = check(bob.get(f"/v1/messages/{sent['id']}", params={"dialect": "convoke"}), 200)
    assert document["text"] == "hello"


def refusals():
    ann, token = agent("rita")
    agent("robert")
    unknown = check(ann.post("/v1/messages", json=note("rita", "robertt", "x")), 404, "unknown_recipient")
    assert "robert" in unknown["suggestions"]
    check(ann.post("/v1/messages", json=note("robert", "rita", "x")), 403, "not_yours")
    invalid = check(ann.post("/v1/messages", json={"kind": "note"}), 422, "invalid")
    assert {"path", "code", "message"} <= invalid["errors"][0].keys()
    check(ann.post("/v1/messages", content=b"{"), 400, "not_json")
    # A body that is not read to its end costs the connection.
    with client(token) as other:
        check(other.post("/v1/messages", content=b'{"text":"' + b"x" * (9 << 20) + b'"}'), 413, "too_large")
    check(ann.get("/v1/agents/robert/inbox"), 403, "not_yours")
    check(ann.put("/v1/agents/mallory", json={}), 403, "not_yours")
    check(ann.get("/v1/nothing"), 404, "not_found")
    check(ann.patch("/v1/me"), 405, "method_not_allowed")
    check(client().get("/v1/me"), 401, "no_token")
    check(ann.get("/v1/me", headers={"Host": "evil.example"}), 403, "host")
    check(ann.get("/v1/me", headers={"Origin": "https://evil.example"}), 403, "origin")


def batch():
    ann, _ = agent("bea")
    agent("bert")
    lines = [note("bea", "bert", "1"), note("bea", "nobody", "2"), note("bea", "bert", "3")]
    body = "\n".join(json.dumps(line) for line in lines) + "\nnonsense\n"
    answer = ann.post("/v1/messages/batch", content=body)
    assert answer.status_code == 200, answer.text
    answers = [json.loads(line) for line in answer.text.splitlines()]
    assert [line.get("code") for line in answers] == [None, "unknown_recipient", None, "not_json"]


def waiting():
    ann, _ = agent("wanda")
    bob, _ = agent("wim")
    question = {"convoke": 1, "kind": "question", "from": "wanda", "to": ["wim"], "text": "how many?"}
    late = check(ann.post("/v1/messages", json={**question, "native_id": "q-0"}, params={"wait": "20ms"}), 504, "no_reply")
    assert late["receipt"]["native_id"] == "q-0"
    again = check(ann.post("/v1/messages", json={**question, "native_id": "q-0"}, params={"wait": "30s"}), 504, "no_reply")
    assert again["receipt"]["id"] == late["receipt"]["id"]
    answers = []
    asking = threading.Thread(
        target=lambda: answers.append(ann.post("/v1/messages", json={**question, "native_id": "q-1"}, params={"wait": "30s"}))
    )
    asking.start()
    seen = None
    while seen is None:
        for delivery in check(bob.post("/v1/agents/wim/inbox/take", json={"wait": "30s", "dialect": "convoke"}), 200)["deliveries"]:
            if delivery["document"].get("native_id") == "q-1":
                seen = delivery
            check(bob.post(f"/v1/deliveries/{delivery['delivery']}/ack"), 200)
    reply = {"convoke": 1, "kind": "help.reply", "from": "wim", "to": ["wanda"], "reply_to": seen["id"], "text": "42"}
    check(bob.post("/v1/messages", json=reply), 201)
    asking.join(PATIENCE)
    answered = check(answers[0], 200)
    assert answered["reply"]["text"] == "42" and answered["receipt"]["stage"] == "answered", answered
    repeat = check(ann.post("/v1/messages", json={**question, "native_id": "q-1"}, params={"wait": "30s"}), 200)
    assert repeat["reply"]["text"] == "42"


def socket():
    ann, ann_token = agent("sara")
    _, bob_token = agent("stan")
    url = URL.replace("http://", "ws://") + "/v1/agents/stan/socket?dialect=convoke&receipts=brief"
    with connect(url, open_timeout=PATIENCE) as line:
        line.send(json.dumps({"op": "auth", "token": bob_token}))
        ready = json.loads(line.recv(timeout=PATIENCE))
        assert ready["op"] == "ready" and ready["agent"] == "stan"
        ids = [check(ann.post("/v1/messages", json=note("sara", "stan", str(number))), 201)["id"] for number in range(5)]
        line.send(json.dumps({"op": "credit", "n": 2}))
        first = [json.loads(line.recv(timeout=PATIENCE)) for _ in range(2)]
        assert [frame["id"] for frame in first] == ids[:2]
        # Without credit nothing comes: the answer to the next order is the next frame.
        line.send(json.dumps({"op": "ack", "ref": "a", "delivery": first[0]["delivery"]}))
        assert json.loads(line.recv(timeout=PATIENCE)) == {"op": "done", "ref": "a"}
        line.send(json.dumps({"op": "ack", "delivery": "x", "ref": 7}))
        error = json.loads(line.recv(timeout=PATIENCE))
        assert error["op"] == "error" and error["ref"] == 7 and error["code"] == "unknown_delivery"
        line.send(json.dumps({"op": "send", "ref": 1, "document": note("stan", "sara", "back")}))
        receipt = json.loads(line.recv(timeout=PATIENCE))
        assert receipt["op"] == "receipt" and receipt["ref"] == 1 and receipt["stage"] == "stored"
        line.send(json.dumps({"op": "credit", "n": 10}))
        rest = [json.loads(line.recv(timeout=PATIENCE)) for _ in range(3)]
        assert [frame["id"] for frame in rest] == ids[2:]
    # What was not acknowledged when the line closed comes again, and says so.
    with connect(url, additional_headers={"Authorization": f"Bearer {bob_token}"}) as line:
        assert json.loads(line.recv(timeout=PATIENCE))["op"] == "ready"
        line.send(json.dumps({"op": "credit", "n": 10}))
        again = [json.loads(line.recv(timeout=PATIENCE)) for _ in range(4)]
        assert sorted(frame["id"] for frame in again) == sorted(ids[1:])
        assert {frame["attempt"] for frame in again} == {2}
        for frame in again:
            line.send(json.dumps({"op": "ack", "delivery": frame["delivery"], "ref": 1}))
            assert json.loads(line.recv(timeout=PATIENCE))["op"] == "done"
    try:
        with connect(url, additional_headers={"Authorization": f"Bearer {ann_token}"}) as line:
            raise AssertionError("sara listens as stan")
    except InvalidStatus as refused:
        assert refused.response.status_code == 403
    with connect(url) as line:
        line.send(json.dumps({"op": "auth", "token": "nonsense"}))
        try:
            assert json.loads(line.recv(timeout=PATIENCE))["code"] == "no_token"
            line.recv(timeout=PATIENCE)
            raise AssertionError("the socket stays open")
        except ConnectionClosed as closed:
            assert closed.rcvd.code == 1008


def read_events(stream, count):
    """Reads so many events that have an id."""
    events, event = [], {}
    for line in stream.iter_lines():
        if line.startswith("id: "):
            event["id"] = line[4:]
        elif line.startswith("event: "):
            event["event"] = line[7:]
        elif line.startswith("data: "):
            event["data"] = json.loads(line[6:])
        elif not line and event:
            if "id" in event:
                events.append(event)
            event = {}
            if len(events) == count:
                return events
    raise AssertionError(f"only {len(events)} events came")


def events():
    ann, _ = agent("eva")
    agent("emil")
    start = check(ann.get("/v1/me"), 200)["seq"]
    ids = [check(ann.post("/v1/messages", json=note("eva", "emil", str(number))), 201)["id"] for number in range(3)]
    with ann.stream("GET", "/v1/events", params={"after": start, "agent": "emil"}) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        first = read_events(stream, 2)
    assert [event["data"]["id"] for event in first] == ids[:2]
    assert {event["event"] for event in first} == {"accepted"}
    with ann.stream("GET", "/v1/events", params={"agent": "emil"}, headers={"Last-Event-ID": first[0]["id"]}) as stream:
        rest = read_events(stream, 2)
    assert [event["data"]["id"] for event in rest] == ids[1:], rest


def dead_letters():
    ann, _ = agent("dora")
    bob, _ = agent("dirk")
    sent = check(ann.post("/v1/messages", json=note("dora", "dirk", "x")), 201)
    taken = check(bob.post("/v1/agents/dirk/inbox/take", json={}), 200)["deliveries"]
    check(bob.post(f"/v1/deliveries/{taken[0]['delivery']}/nack", json={"reason": "no", "retryable": False}), 200)
    notice = check(ann.post("/v1/agents/dora/inbox/take", json={"wait": "30s", "dialect": "convoke"}), 200)["deliveries"][0]
    assert notice["kind"] == "error.report" and sent["id"] in json.dumps(notice["document"])
    dead = check(ann.get("/v1/dead"), 200)["dead"]
    assert [(letter["id"], letter["reason"]) for letter in dead] == [(sent["id"], "no")]
    check(ann.post(f"/v1/dead/{sent['id']}/retry"), 200)
    again = check(bob.post("/v1/agents/dirk/inbox/take", json={"wait": "30s"}), 200)["deliveries"]
    assert [delivery["id"] for delivery in again] == [sent["id"]]
    check(ann.delete(f"/v1/dead/{sent['id']}"), 404, "not_dead")


def operator_bus():
    """What the bus says about itself."""
    with client(OPERATOR) as operator:
        return operator.get("/v1/bus")


def topics_tokens_and_history():
    ann, _ = agent("tina")
    bob, _ = agent("theo")
    check(bob.put("/v1/agents/theo/subscriptions/%23deploys"), 200)
    sent = check(ann.post("/v1/messages", json=note("tina", "#deploys", "the quick brown fox")), 201)
    taken = check(bob.post("/v1/agents/theo/inbox/take", json={}), 200)["deliveries"]
    assert [delivery["id"] for delivery in taken] == [sent["id"]]
    check(bob.delete("/v1/agents/theo/subscriptions/%23deploys"), 200)
    # The index of words follows the log; the bus says how far it is.
    durable = check(ann.get("/v1/me"), 200)["seq"]
    while check(operator_bus(), 200)["history"]["indexed"] < durable:
        pass
    page = check(ann.get("/v1/messages", params={"q": "quick fox"}), 200)
    found = [message["id"] for message in page["messages"]]
    assert found == [sent["id"]]
    more = check(bob.post("/v1/agents/theo/tokens", json={"expires": "1d"}), 201)
    assert check(client(more["token"]).get("/v1/me"), 200)["agent"] == "theo"
    check(bob.delete(f"/v1/agents/theo/tokens/{more['label']}"), 200)
    check(client(more["token"]).get("/v1/me"), 401, "no_token")
    with client(OPERATOR) as operator:
        check(operator.delete("/v1/agents/theo"), 200)
        check(operator.get("/v1/agents/theo"), 404, "unknown_agent")


PARTS = [sending_and_taking, refusals, batch, waiting, socket, events, dead_letters, topics_tokens_and_history]

if __name__ == "__main__":
    for part in PARTS:
        part()
        print(f"{part.__name__}: as documented")
