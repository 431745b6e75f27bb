"""What somebody who types waits for: the language server over its pipes, in a session as an editor has it.

A key is a change of one letter in the last line but one, after which the whole file has to be evaluated anew; diagnostics and completion are waited for.
Bounds are on the median, for files of 1,000 lines: 50 ms.
"""

import json
import statistics
import subprocess
import time

import harness
import report

DESCRIPTION = "the language server: key to diagnostics, key to completion, for 100, 1,000 and 10,000 lines"
HAS_PEERS = False
LINES = (100, 1_000, 10_000)
KEYS = 100
BOUND = 0.050
URI = "file:///bench/typed.dali-dsl"


def text_of(lines):
    """Functions as a generated policy has them, and a pipeline that calls each of them."""
    text = ["from nvidia.dali import fn, pipeline_def, types", ""]
    names = []
    while len(text) < lines * 3 // 4:
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
    text += [f"    image = {names[k % len(names)]}(image)" for k in range(lines - len(text) - 2)]
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
        while True:
            length = 0
            while line := self.process.stdout.readline().strip():
                length = int(line.split(b":")[1]) if line.lower().startswith(b"content-length") else length
            if not length:
                raise harness.Failure("the language server ended")
            message = json.loads(self.process.stdout.read(length))
            if message.get("method") == wanted or message.get("id") == wanted:
                return message

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
        server.wait_for("textDocument/publishDiagnostics")
    server.end()
    return seconds


def run(context):
    rows, found = [("lines", "key to", "median", "95th of 100", "bound")], {}
    for lines in LINES:
        for what, seconds in typed(context.program("galatea"), lines).items():
            ordered = sorted(seconds)
            median, late = statistics.median(ordered), ordered[int(0.95 * len(ordered))]
            bound = f"{BOUND * 1e3:.0f} ms" if lines == 1_000 else ""
            rows.append((f"{lines:,}", what, f"{median * 1e3:.1f} ms", f"{late * 1e3:.1f} ms", bound))
            found[f"{what}, {lines} lines"] = {"median": median, "95th": late}
    print(report.table(rows))
    report.write("editor", {"machine": report.machine(), "seconds": found})
    slow = [name for name, value in found.items() if ", 1000 " in name and value["median"] > BOUND]
    if slow:
        raise harness.Failure(f"over {BOUND * 1e3:.0f} ms: {', '.join(slow)}")
