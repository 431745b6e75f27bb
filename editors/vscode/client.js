// A client of the language server: messages of JSON-RPC over the pipes of a process.
"use strict";

const { spawn } = require("child_process");

class Client {
  /// `onNotification(method, params)` is called for what the server says unasked, `onEnd(reason)` once.
  constructor(program, onNotification, onEnd) {
    this.onNotification = onNotification;
    this.waiting = new Map();
    this.lastId = 0;
    this.buffer = Buffer.alloc(0);
    this.process = spawn(program, ["lsp"], { stdio: ["pipe", "pipe", "pipe"] });
    this.words = "";
    this.ended = false;
    const end = (reason) => {
      if (this.ended) return;
      this.ended = true;
      for (const { reject } of this.waiting.values()) reject(new Error(reason));
      this.waiting.clear();
      onEnd(reason);
    };
    this.process.on("error", (error) => end(`${program} could not be started: ${error.message}`));
    this.process.on("exit", (status) => end(this.words.trim() || `${program} lsp ended with status ${status}`));
    this.process.stdin.on("error", () => {});
    this.process.stderr.on("data", (data) => (this.words = (this.words + data).slice(-4000)));
    this.process.stdout.on("data", (data) => this.take(data));
  }

  request(method, params) {
    if (this.ended) return Promise.reject(new Error("the language server has ended"));
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.send({ jsonrpc: "2.0", id, method, params });
    });
  }

  notify(method, params) {
    if (!this.ended) this.send({ jsonrpc: "2.0", method, params });
  }

  send(message) {
    const content = Buffer.from(JSON.stringify(message), "utf8");
    this.process.stdin.write(`Content-Length: ${content.length}\r\n\r\n`);
    this.process.stdin.write(content);
  }

  take(data) {
    this.buffer = Buffer.concat([this.buffer, data]);
    for (;;) {
      const end = this.buffer.indexOf("\r\n\r\n");
      if (end < 0) return;
      const header = /content-length:\s*(\d+)/i.exec(this.buffer.toString("latin1", 0, end));
      const length = header ? Number(header[1]) : 0;
      if (this.buffer.length < end + 4 + length) return;
      const content = this.buffer.toString("utf8", end + 4, end + 4 + length);
      this.buffer = this.buffer.subarray(end + 4 + length);
      this.dispatch(JSON.parse(content));
    }
  }

  dispatch(message) {
    if (message.method !== undefined) return this.onNotification(message.method, message.params);
    const asked = this.waiting.get(message.id);
    if (!asked) return;
    this.waiting.delete(message.id);
    if (message.error) asked.reject(new Error(message.error.message));
    else asked.resolve(message.result);
  }

  async stop() {
    await this.request("shutdown", {}).catch(() => {});
    this.notify("exit", {});
  }
}

module.exports = { Client };
