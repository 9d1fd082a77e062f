"""What schemathesis must be told: how JSON Lines are written."""

import json

import schemathesis


@schemathesis.serializer("application/jsonl")
def write_json_lines(ctx, value):
    """Writes a list as lines, and anything else as one line."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    items = value if isinstance(value, list) else [value]
    return "\n".join(json.dumps(item) for item in items).encode()
