"""An agent that tries to become more than an agent.

It plays the attacks that are named as arguments, in order, and writes a line for each to `attempts` in its working
directory: `TRIED name: what came of it`. A line with GAINED names a right that only a person has, or a hand on
another session. Where an attack needs a moment of the test's (a restart, a look), the agent writes `AT name` and
waits for the file `past.name`.
"""

import hashlib
import http.client
import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
import time

HOME, VICTIM, QUESTION = os.environ["ATTACKED_HOME"], os.environ["VICTIM"], os.environ["VICTIM_QUESTION"]
OSTLER = os.environ.get("ATTACKER_OSTLER") or os.path.join(HOME, "bin", "ostler")
HERE = os.getcwd()
TOKEN = "ost_evil"
SESSION, LAUNCH = os.environ.get("OSTLER_SESSION", "none.0@").split("@")[0].split(".")[:2]
OWN = os.path.join(HOME, "sessions", SESSION, LAUNCH)


def write(line):
    with open(os.path.join(HERE, "attempts"), "a") as file:
        file.write(line + "\n")


def tried(name, outcome, gained=False):
    write(f"{'GAINED' if gained else 'TRIED'} {name}: {outcome}")


def wait_for_the_test(name):
    write(f"AT {name}")
    while not os.path.exists(os.path.join(HERE, f"past.{name}")):
        time.sleep(0.02)


def connect(path, timeout=5):
    """Connects through the directory: a socket's path may have only 108 bytes."""
    directory = os.open(os.path.dirname(path), os.O_RDONLY)
    try:
        it = socket.socket(socket.AF_UNIX)
        it.settimeout(timeout)
        it.connect(f"/proc/self/fd/{directory}/{os.path.basename(path)}")
        return it
    finally:
        os.close(directory)


def ask_server(name, method, path, body):
    """One request at the socket for people."""
    it = connect(os.path.join(HOME, "api.sock"))
    text = json.dumps(body)
    head = f"{method} /api/v1{path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    it.sendall(f"{head}content-length: {len(text)}\r\nconnection: close\r\n\r\n{text}".encode())
    answer = b""
    try:
        while piece := it.recv(65536):
            answer += piece
    except OSError:
        pass
    return answer.split(b"\r\n")[0].decode()


def as_a_person(name):
    """Everything that only a person may do."""
    for what, method, path, body in [
        ("answer", "POST", f"/requests/{QUESTION}/answer", {"value": "mine"}),
        ("token", "POST", "/tokens", {"name": "evil"}),
        ("cancel", "POST", f"/sessions/{VICTIM}/cancel", {}),
        ("run", "POST", "/runs", {"directory": HERE, "command": ["true"]}),
    ]:
        try:
            status = ask_server(name, method, path, body)
        except OSError as error:
            status = f"no connection ({error.strerror})"
        tried(f"{name}.{what}", status, gained=" 2" in status[:12])


def steer(name, directory, commands):
    """Talks to a shim as its server does."""
    try:
        it = connect(os.path.join(directory, "ctl.sock"))
        for number, command in enumerate(commands, 1):
            it.sendall((json.dumps({"id": number, **command}) + "\n").encode())
        said = b""
        while piece := it.recv(65536):
            said += piece
            if said.count(b'"reply"') >= len(commands):
                break
    except OSError as error:
        return tried(name, f"refused ({error.strerror or error})")
    tried(name, said.decode()[:200], gained=b'"done"' in said)


def attack_shim():
    """Row 1: answers and continues another session, and lifts its own stop."""
    directory = os.path.join(HOME, "sessions", VICTIM, "1")
    steer("shim.answer", directory, [{"do": "input", "key": "evil", "text": '{"answer":"mine"}\n', "go_on": True}])
    steer("shim.continue", directory, [{"do": "go_on"}])
    steer("shim.cancel", directory, [{"do": "cancel", "grace_ms": 0}])

    def go_on():
        try:
            it = connect(os.path.join(OWN, "ctl.sock"))
            while True:
                it.sendall(b'{"id":1,"do":"go_on"}\n')
                time.sleep(0.001)
        except OSError:
            pass

    for _ in range(4):
        threading.Thread(target=go_on, daemon=True).start()
    question = "[USER_QUESTION]\ncategory: clarification\nquestion: Am I stopped?\nrequired: true\n[/USER_QUESTION]\n"
    os.write(1, question.encode())
    # An agent that was stopped finds the answer at its first look; one that lifted its stop runs on without one.
    for _ in range(100):
        if select.select([0], [], [], 0.02)[0]:
            os.read(0, 65536)
            return tried("shim.own_stop", "it was stopped until it was answered")
    tried("shim.own_stop", "it ran on without an answer", gained=True)
    select.select([0], [], [])
    os.read(0, 65536)


def attack_values():
    """Row 4: says a value over the channel."""
    value = subprocess.run([OSTLER, "need", "ATTACK_KEY"], capture_output=True, text=True).stdout.strip()
    subprocess.run([OSTLER, "step", f"with {value}", "--summary", f"key={value}"], capture_output=True)
    asked = subprocess.Popen([OSTLER, "ask", f"Is {value} right?", "--option", value, "--option", "no"])
    wait_for_the_test("values")
    asked.kill()
    tried("values", "said over the channel")


def attack_state():
    """Row 6: hides the state directory for a moment."""
    mode = os.stat(HOME).st_mode & 0o777
    os.chmod(HOME, 0)
    time.sleep(0.3)
    os.chmod(HOME, mode)
    tried("state", "hidden and shown again")


def attack_sockets():
    """Row 11: holds connections, and asks more than anybody reads."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    held = []
    for name in ["api.sock", "channel.sock"]:
        for _ in range(1500):
            try:
                held.append(connect(os.path.join(HOME, name), timeout=0.2))
            except OSError:
                break
    opened = 0
    for number in range(100):
        body = {"kind": "question", "question": f"{number} " + "x" * 200_000, "required": False}
        try:
            caller = http.client.HTTPConnection("localhost")
            caller.sock = connect(os.path.join(HOME, "channel.sock"))
            caller.request("POST", "/channel/v1/calls", json.dumps(body),
                           {"content-type": "application/json", "idempotency-key": f"flood-{os.getpid()}-{number}"})
            opened += caller.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            pass
    wait_for_the_test("sockets")
    tried("sockets", f"{len(held)} connections, {opened} calls of 200 KB")


def attack_spool():
    """Row 7: says again and again that a step is done."""
    hundreds = int(os.environ.get("ATTACK_STEPS", "20000")) // 100
    block = "[STEP_COMPLETE]\n단계: flood\n[/STEP_COMPLETE]\n".encode() * 100
    for _ in range(hundreds):
        done = 0
        while done < len(block):
            done += os.write(1, block[done:])
    tried("spool", f"{hundreds * 100} steps")


def attack_backlog():
    """Row 3: stops its own shim, fills its backlog, and asks on the channel."""
    shim = os.getppid()
    held = []
    os.kill(shim, signal.SIGSTOP)
    try:
        directory = os.open(OWN, os.O_RDONLY)
        for _ in range(4200):
            it = socket.socket(socket.AF_UNIX)
            it.setblocking(False)
            try:
                it.connect(f"/proc/self/fd/{directory}/ctl.sock")
            except OSError:
                break
            held.append(it)
        asked = [subprocess.Popen([OSTLER, "step", "stuck"], stderr=subprocess.DEVNULL) for _ in range(4)]
        wait_for_the_test("backlog")
    finally:
        os.kill(shim, signal.SIGCONT)
    for it in held:
        it.close()
    for it in asked:
        it.kill()
        it.wait()
    tried("backlog", f"{len(held)} connections")


def attack_configuration():
    """Row 8: has the server run a command of its own."""
    directory = os.path.join(HOME, "config", "ostler")
    os.makedirs(directory, exist_ok=True)
    script = os.path.join(HERE, "notified.sh")
    with open(script, "w") as file:
        file.write(f"#!/bin/sh\necho notified >>'{HERE}/notified'\n")
        file.write(f"OSTLER_HOME='{HOME}' '{OSTLER}' answer {QUESTION} mine && echo 'GAINED notify: answered' >>'{HERE}/attempts'\n")
    os.chmod(script, 0o755)
    with open(os.path.join(directory, "config.toml"), "w") as file:
        file.write(f"[[notify]]\ntype = 'command'\ncommand = ['{script}']\nafter = '0s'\n")
    tried("configuration", "a notification command is written")


def plant_pipe(path):
    """Puts a named pipe in the place of a file."""
    os.mkfifo(path + ".pipe")
    os.rename(path + ".pipe", path)


def attack_files():
    """Named pipes in the state directory, its own session's directory and another's; a sign-in of its own making."""
    for name in ["lock-limit", "mark", "looked.json", "config-consent.json", "vault-changes"]:
        plant_pipe(os.path.join(HOME, name))
    for name in ["out.log", "err.log", "launch.json", "spool.ndjson"]:
        if os.path.exists(os.path.join(OWN, name)):
            plant_pipe(os.path.join(OWN, name))
    for name in ["err.log", "launch.json"]:
        plant_pipe(os.path.join(HOME, "sessions", VICTIM, "1", name))
    forged = os.path.join(HERE, "forged")
    with open(forged, "w") as file:
        file.write("ATTACK_KEY=forged\0PLANTED=forged\0")
    # What it was given itself, and what the session that waits for a person may be given.
    plant_pipe(os.path.join(HOME, "sessions", SESSION, "values"))
    for plant in [lambda path: os.symlink(forged, path), lambda path: os.link(forged, path), plant_pipe]:
        path = os.path.join(HOME, "sessions", VICTIM, "values")
        if os.path.lexists(path):
            os.unlink(path)
        plant(path)
    subprocess.run(["bash", "-c", "true"])
    subprocess.run([OSTLER, "step", "with other values"], capture_output=True)
    path = os.path.join(HOME, "sign-ins.json")
    try:
        with open(path) as file:
            signed_in = json.load(file)
    except OSError:
        signed_in = {"v": 1, "last": 0, "entries": []}
    now = int(time.time() * 1000)
    signed_in["last"] += 1
    signed_in["entries"].append({
        "id": signed_in["last"], "kind": "token", "name": f"evil{os.getpid()}", "made_at_ms": now, "used_at_ms": None,
        "over_at_ms": now + 10**9, "hash": hashlib.sha256(TOKEN.encode()).hexdigest(), "proof": None, "port": None,
    })
    with open(path + ".forged", "w") as file:
        json.dump(signed_in, file)
    os.rename(path + ".forged", path)
    tried("files", "pipes are planted, and a sign-in is forged")


def attack_token():
    """Comes in over TCP with the sign-in that it has forged, after a restart."""
    with open(os.path.join(HOME, "page.port")) as file:
        port = int(file.readline())
    for method, path, body in [
        ("GET", "/api/v1/status", None),
        ("POST", f"/api/v1/requests/{QUESTION}/answer", json.dumps({"value": "mine"})),
    ]:
        caller = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json", "idempotency-key": "evil"}
        caller.request(method, path, body, headers)
        status = caller.getresponse().status
        tried(f"token.{method}", status, gained=status < 300)


def attack_socket_file():
    """Row 5: removes its control socket, and works on."""
    os.unlink(os.path.join(OWN, "ctl.sock"))
    tried("socket_file", "its control socket is removed")
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(100_000)


def attack_mark():
    """Row 2: kills its own shim, and acts as a person from a process that keeps nothing of the agent's."""
    environment = {name: os.environ[name] for name in ["ATTACKED_HOME", "VICTIM", "VICTIM_QUESTION", "PATH"]}
    environment.update(ATTACKER_OSTLER=OSTLER, SHIM=str(os.getppid()))
    tried("mark", "its shim is killed")
    subprocess.Popen([sys.executable, *sys.argv[:1], "orphan"], env=environment, start_new_session=True,
                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(100_000)


def attack_orphan():
    """The process that is left of row 2. It tries until it is ended."""
    if os.fork():
        os._exit(0)
    os.setsid()
    with open(os.path.join(HERE, "orphan.pid"), "w") as file:
        file.write(str(os.getpid()))
    os.kill(int(os.environ["SHIM"]), signal.SIGKILL)
    while True:
        as_a_person("orphan")
        time.sleep(0.2)


def attack_launch():
    """Exchanges what the next session is started with: its command, and the values it was given."""
    sessions = os.path.join(HOME, "sessions")
    number = max(int(name[2:]) for name in os.listdir(sessions) if name.startswith("s_")) + 1
    directory = os.path.join(sessions, f"s_{number}")
    os.makedirs(os.path.join(directory, "1"), 0o700, exist_ok=True)
    planted = os.path.join(HERE, "planted")
    launch = {
        "session": f"s_{number}.1@{mark()}", "command": ["touch", planted], "directory": HERE,
        "environment": {"PATH": os.environ["PATH"]}, "terminal": "none", "input": "open", "format": "text",
        "nonce": None, "thin_role": False, "stop": True, "log_bytes_max": 1 << 30,
    }
    write("AT launch")
    while not os.path.exists(os.path.join(HERE, "past.launch")):
        for name, text in [("1/launch.json", json.dumps(launch)), ("values", f"PLANTED={planted}\0")]:
            draft = os.path.join(directory, "evil")
            with open(draft, "w") as file:
                file.write(text)
            os.replace(draft, os.path.join(directory, name))
    tried("launch", "what the next session is started with is exchanged", gained=os.path.exists(planted))


def mark():
    with open(os.path.join(HOME, "mark")) as file:
        return file.read()


def stand_in(session, launch, heard):
    """Listens in place of a shim, and says that its agent has ended."""
    directory = os.path.join(HOME, "sessions", session, launch)
    os.unlink(os.path.join(directory, "ctl.sock"))
    opened = os.open(directory, os.O_RDONLY)
    it = socket.socket(socket.AF_UNIX)
    it.bind(f"/proc/self/fd/{opened}/ctl.sock")
    it.listen(64)

    def talk(server):
        def say(message):
            server.sendall((json.dumps(message) + "\n").encode())
        try:
            say({"shim": 2, "session": f"{session}.{launch}@{mark()}"})
            for line in server.makefile("rb"):
                heard.append(line.decode())
                request = json.loads(line)
                say({"reply": {"id": request["id"], "done": None}})
                if request["do"] == "follow":
                    ended = {"event": "ended", "code": 0, "signal": None, "clean": True, "input_bytes_left": 0}
                    say({"record": {"seq": request["after_seq"] + 1, "at_ms": 1, **ended}})
        except OSError:
            pass

    def listen():
        while True:
            threading.Thread(target=talk, args=[it.accept()[0]], daemon=True).start()

    threading.Thread(target=listen, daemon=True).start()


def attack_impostor():
    """Answers the next server in place of another session's shim and of its own."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    heard = []
    stand_in(VICTIM, "1", heard)
    stand_in(SESSION, LAUNCH, heard)
    wait_for_the_test("impostor")
    tried("impostor", f"heard {heard}", gained=bool(heard))
    time.sleep(100_000)


ATTACKS = {
    "shim": attack_shim,
    "values": attack_values,
    "state": attack_state,
    "sockets": attack_sockets,
    "spool": attack_spool,
    "backlog": attack_backlog,
    "configuration": attack_configuration,
    "files": attack_files,
    "token": attack_token,
    "person": lambda: as_a_person("person"),
    "socket_file": attack_socket_file,
    "mark": attack_mark,
    "orphan": attack_orphan,
    "launch": attack_launch,
    "impostor": attack_impostor,
}

for attack in sys.argv[1:]:
    ATTACKS[attack]()
