"""What the scripts share: the bus that they talk to, and how they say what went wrong."""

import os

import httpx

URL = os.environ["CONVOKE_TEST_URL"]
OPERATOR = os.environ["CONVOKE_TEST_OPERATOR"]

# Nothing here is meant to take that long.
PATIENCE = 60.0


def client(token=None):
    """A client that speaks by a token."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.Client(base_url=URL, headers=headers, timeout=PATIENCE)


def check(answer, status, code=None):
    """Demands a status and, for a refusal, its code; returns the JSON."""
    said = answer.text[:500]
    assert answer.status_code == status, f"{answer.request.method} {answer.request.url}: {answer.status_code} {said}"
    if status >= 400:
        assert answer.headers["content-type"] == "application/problem+json", said
        problem = answer.json()
        assert problem["status"] == status and problem["detail"] and problem["title"], said
        assert code is None or problem["code"] == code, said
    return answer.json() if answer.content else None


def agent(name, **settings):
    """Makes an agent and returns a client that speaks for it, with its token."""
    with client(OPERATOR) as operator:
        made = check(operator.put(f"/v1/agents/{name}", json=settings), 201)
    return client(made["token"]), made["token"]


def note(sender, to, text, **more):
    """A note in the language of the bus."""
    return {"convoke": 1, "kind": "note", "from": sender, "to": [to], "text": text, **more}
