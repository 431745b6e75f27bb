"""What somebody who types waits for: the language server over its pipes, in a session as an editor has it, and the page of `galatea serve` over loopback.

A key is a change of one letter in the last line but one, after which the whole file has to be evaluated anew; diagnostics and completion are waited for.
A save writes the file with another number; all pictures that the page then shows, as PNG, are waited for.
Bounds are on the median, for files of 1,000 lines: 50 ms for a key, 300 ms for a save.
"""

import http.client
import json
import os
import signal
import statistics
import subprocess
import time
import urllib.parse

import harness
import report

DESCRIPTION = "key to diagnostics, key to completion, save to pictures, for 100, 1,000 and 10,000 lines"
HAS_PEERS = False
LINES = (100, 1_000, 10_000)
KEYS = 100
BOUNDS = {"diagnostics": 0.050, "completion": 0.050, "pictures": 0.300}
CALLS = 4  # of functions of the text, in a pipeline that is looked at: each makes a column of pictures
SIDE = 160  # pixels of a picture's longer side, as the page shows it until somebody moves its slider
URI = "file:///bench/typed.dali-dsl"


def text_of(lines, calls=None):
    """Functions as a generated policy has them, and a pipeline that calls each of them, or the first `calls`."""
    text = ["from nvidia.dali import fn, pipeline_def, types", ""]
    names = []
    while len(text) < (lines * 3 // 4 if calls is None else lines - calls - 12):
        name = f"step_{len(names)}"
        names.append(name)
        text += [f"def {name}(image, strength=0.{len(names) % 90 + 10}):",
                 "    values = [strength * i for i in range(4)]",
                 "    if strength > 0.5:",
                 "        return fn.brightness(image, brightness=1 + values[1] / 10)",
                 "    return image * (1 - values[2] / 10)",
                 ""]
    text += ["@pipeline_def(batch_size=8)", "def train(data: str = 'photos'):", "    encoded, label = fn.readers.file(file_root=data)",
             "    image = fn.decoders.image(encoded)"]
    text += [f"    image = {names[k % len(names)]}(image)" for k in range(lines - len(text) - 2 if calls is None else calls)]
    return text + ["    size = 1", "    return fn.resize(image, size=size), label"]


class Server:
    def __init__(self, program):
        self.process = subprocess.Popen([str(program), "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def send(self, method, params, number=None):
        message = {"jsonrpc": "2.0", "method": method, "params": params} | ({} if number is None else {"id": number})
        content = json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(content) + content)
        self.process.stdin.flush()

    def wait_for(self, wanted):
        """The message; `passed` has the methods of those that came before it."""
        self.passed = set()
        while True:
            length = 0
            while line := self.process.stdout.readline().strip():
                length = int(line.split(b":")[1]) if line.lower().startswith(b"content-length") else length
            if not length:
                raise harness.Failure("the language server ended")
            message = json.loads(self.process.stdout.read(length))
            if message.get("method") == wanted or message.get("id") == wanted:
                return message
            self.passed.add(message.get("method"))

    def end(self):
        self.send("shutdown", {}, "last")
        self.wait_for("last")
        self.send("exit", {})
        self.process.wait(timeout=60)


def typed(program, lines):
    """Seconds of every key: to its diagnostics, and to a completion behind `fn.`."""
    text = text_of(lines)
    line = len(text) - 2
    document = {"uri": URI}
    server = Server(program)
    server.send("initialize", {"capabilities": {"general": {"positionEncodings": ["utf-8"]}}}, 0)
    server.wait_for(0)
    server.send("textDocument/didOpen", {"textDocument": document | {"version": 0, "languageId": "galatea", "text": "\n".join(text) + "\n"}})
    server.wait_for("textDocument/publishDiagnostics")
    seconds = {"diagnostics": [], "completion": []}
    for key in range(KEYS):
        at = {"start": {"line": line, "character": 11}, "end": {"line": line, "character": 12}}
        change = {"textDocument": document | {"version": key + 1}, "contentChanges": [{"range": at, "text": str(key % 9 + 1)}]}
        begin = time.perf_counter()
        server.send("textDocument/didChange", change)
        server.wait_for("textDocument/publishDiagnostics")
        seconds["diagnostics"].append(time.perf_counter() - begin)
        begin = time.perf_counter()
        server.send("textDocument/didChange", change)
        server.send("textDocument/completion", {"textDocument": document, "position": {"line": line + 1, "character": 14}}, key + 1)
        server.wait_for(key + 1)
        seconds["completion"].append(time.perf_counter() - begin)
        # They may have come first, where this process was held up between the two messages.
        if "textDocument/publishDiagnostics" not in server.passed:
            server.wait_for("textDocument/publishDiagnostics")
    server.end()
    return seconds


class Page:
    """What the page asks of `galatea serve`, on one connection."""

    def __init__(self, program, file, data):
        command = [str(program), "serve", file.name, "--set", f"data={data}"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=file.parent)
        address = urllib.parse.urlsplit(self.process.stdout.readline().strip())
        self.token = urllib.parse.parse_qs(address.query)["token"][0]
        self.connection = http.client.HTTPConnection("127.0.0.1", address.port)

    def ask(self, path, **query):
        self.connection.request("GET", f"{path}?{urllib.parse.urlencode(query)}", headers={"X-Galatea-Token": self.token})
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise harness.Failure(f"{path} of the page: {answer.status} {body[:200]!r}")
        return body

    def show(self):
        """Waits for all pictures; gives the revision of the text that they are of."""
        shown = json.loads(self.ask("/api/pipeline", view="bench"))
        if not shown["ok"]:
            raise harness.Failure(shown["text"])
        for sample, row in enumerate(shown["samples"]):
            for node, cell in enumerate(row["cells"]):
                if "width" in cell:
                    self.ask("/api/frame", run=shown["run"], sample=sample, node=node, size=SIDE)
        return shown["revision"]

    def wait_for_change(self, revision):
        while json.loads(self.ask("/api/events", revision=revision))["revision"] == revision:
            pass

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=60)


def write_at_once(file, text):
    """As editors save: nobody sees half of it."""
    beside = file.with_suffix(".new")
    beside.write_text(text)
    os.replace(beside, file)


def saved(context, lines):
    """Seconds of every save, to the last picture."""
    file = context.scratch / "saved.dali-dsl"
    text = text_of(lines, CALLS)
    write_at_once(file, "\n".join(text) + "\n")
    page = Page(context.program("galatea"), file, context.photos)
    revision = page.show()
    seconds = []
    for save in range(KEYS):
        text[-2] = f"    size = {96 + save}"
        begin = time.perf_counter()
        write_at_once(file, "\n".join(text) + "\n")
        page.wait_for_change(revision)
        revision = page.show()
        seconds.append(time.perf_counter() - begin)
    page.end()
    return {"pictures": seconds}


def run(context):
    rows, found = [("lines", "to", "median", "95th of 100", "bound")], {}
    for lines in LINES:
        for what, seconds in (typed(context.program("galatea"), lines) | saved(context, lines)).items():
            ordered = sorted(seconds)
            median, late = statistics.median(ordered), ordered[int(0.95 * len(ordered))]
            bound = f"{BOUNDS[what] * 1e3:.0f} ms" if lines == 1_000 else ""
            rows.append((f"{lines:,}", what, f"{median * 1e3:.1f} ms", f"{late * 1e3:.1f} ms", bound))
            found[f"{what}, {lines} lines"] = {"median": median, "95th": late}
    print(report.table(rows))
    report.write("editor", {"machine": report.machine(), "seconds": found})
    slow = [what for what, bound in BOUNDS.items() if found[f"{what}, 1000 lines"]["median"] > bound]
    if slow:
        raise harness.Failure(f"over their bounds at 1,000 lines: {', '.join(slow)}")
