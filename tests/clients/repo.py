"""A session by `atproto`, which takes the bus for a PDS."""

import warnings

from atproto import Client, models
from atproto.exceptions import BadRequestError

from bus import URL, agent, check

COLLECTION = "agent.comms.message"
CREATED = "2026-11-16T10:00:00.000Z"


class Repo(Client):
    """A client that is logged in as an agent, with the agent's token as its password."""

    def __init__(self, name):
        super().__init__(base_url=URL)
        self.native, self.token = agent(name, dialect="comms", did=f"did:web:{name}.example.com")
        self.login(name, self.token, fetch_bsky_profile=False)
        self.did = self.com.atproto.server.get_session().did
        assert self.did == f"did:web:{name}.example.com", self.did


def message(sender, recipient, text):
    return {
        "$type": COLLECTION,
        "sender": sender.did,
        "recipient": recipient.did,
        "content": {"kind": "text", "text": text},
        "createdAt": CREATED,
    }


def refused(error, call):
    try:
        call()
    except BadRequestError as problem:
        assert problem.response.content.error == error, problem.response.content
    else:
        raise AssertionError(f"that was not refused: {error}")


def sessions():
    ann = Repo("ann")
    # What this client asks by default must not break its login: nobody here has a profile.
    again = Client(base_url=URL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert again.login("ann", ann.token) is None
    # A session goes on from what was exported.
    resumed = Client(base_url=URL)
    resumed.login(session_string=ann.export_session_string(), fetch_bsky_profile=False)
    assert resumed.com.atproto.server.get_session().did == ann.did
    refreshed = ann.com.atproto.server.refresh_session(headers=ann._get_refresh_auth_headers())
    assert refreshed.did == ann.did and refreshed.access_jwt and refreshed.refresh_jwt
    described = ann.com.atproto.server.describe_server()
    assert described.did.startswith("did:"), described
    return ann


def records(ann):
    bob = Repo("bob")
    repo = ann.com.atproto.repo
    made = repo.create_record({"repo": ann.did, "collection": COLLECTION, "record": message(ann, bob, "hello")})
    assert made.uri.startswith(f"at://{ann.did}/{COLLECTION}/") and made.validation_status == "valid", made
    rkey = made.uri.rsplit("/", 1)[1]
    where = {"repo": ann.did, "collection": COLLECTION, "rkey": rkey}
    got = repo.get_record(where)
    assert got.cid == made.cid and got.value["content"]["text"] == "hello", got
    refused("RecordNotFound", lambda: repo.get_record({**where, "rkey": "3jzfcijpj2z2a"}))
    refused("InvalidRequest", lambda: repo.create_record({"repo": ann.did, "collection": COLLECTION, "record": {}}))

    texts = [f"number {number}" for number in range(7)]
    for text in texts:
        repo.create_record({"repo": ann.did, "collection": COLLECTION, "record": message(ann, bob, text)})
    seen, cursor = [], None
    while True:
        page = repo.list_records({"repo": ann.did, "collection": COLLECTION, "limit": 3, "cursor": cursor})
        seen += [record.value["content"]["text"] for record in page.records]
        cursor = page.cursor
        if not page.records or cursor is None:
            break
    assert seen == texts[::-1] + ["hello"], seen

    put = repo.put_record({**where, "record": message(ann, bob, "hello again"), "swap_record": made.cid})
    assert put.cid != made.cid and repo.get_record(where).cid == put.cid
    repo.delete_record(where)
    refused("RecordNotFound", lambda: repo.get_record(where))
    repo.delete_record(where)

    described = repo.describe_repo({"repo": ann.did})
    assert described.did == ann.did and COLLECTION in described.collections, described
    return bob


def blobs(ann):
    bytes_ = bytes(range(256)) * 100
    blob = ann.upload_blob(bytes_).blob
    assert blob.size == len(bytes_), blob
    record = {"$type": "com.example.file", "file": blob}
    ann.com.atproto.repo.create_record({"repo": ann.did, "collection": "com.example.file", "record": record})
    got = ann.com.atproto.sync.get_blob(models.ComAtprotoSyncGetBlob.Params(did=ann.did, cid=blob.cid.encode()))
    assert got == bytes_


def delivered(bob):
    """What was written into a repo arrives as a message; what was deleted from it does not."""
    inbox = check(bob.native.get("/v1/agents/bob/inbox", params={"dialect": "convoke", "max": 100}), 200)
    texts = [message["document"]["text"] for message in inbox["messages"]]
    assert texts == [f"number {number}" for number in range(7)], texts


def main():
    ann = sessions()
    bob = records(ann)
    blobs(ann)
    delivered(bob)
    print("atproto: sessions, records, pages, swaps, blobs")


main()
