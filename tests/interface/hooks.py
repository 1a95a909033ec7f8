"""What schemathesis is told of the interface: ids that are there, and that a stream does not end."""

import schemathesis

IDS = {
    "agents": "claude",
    "checkpoints": "c_1",
    "projects": "p_1",
    "requests": "q_1",
    "runs": "r_1",
    "sessions": "s_1",
}


@schemathesis.hook
def map_query(context, query):
    if isinstance(query, dict):
        query.pop("follow", None)
    return query


@schemathesis.hook
def map_headers(context, headers):
    # Under a key that was used for something else nothing more would happen.
    if headers is not None and len(str(headers.get("Idempotency-Key", ""))) < 3:
        headers.pop("Idempotency-Key", None)
    return headers


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    if isinstance(path_parameters, dict):
        kind = context.operation.path.strip("/").split("/")[0]
        for name, value in path_parameters.items():
            # Every other time; the same for the same seed.
            if kind in IDS and len(str(value)) % 2:
                path_parameters[name] = IDS[kind]
    return path_parameters


@schemathesis.hook
def before_call(context, case, kwargs):
    # The coverage phase makes its queries without the hook above.
    if isinstance(case.query, dict):
        case.query.pop("follow", None)
