// The extension for VS Code against the real language server: node vscode_test.js PROGRAM FOLDER. VS Code itself
// is a stand-in that keeps what the extension registers.
"use strict";

const assert = require("assert");
const fs = require("fs");
const Module = require("module");
const path = require("path");

const [program, folder] = process.argv.slice(2);
const registered = {};
const shown = [];
const opened = [];
let published = new Map();

class Position { constructor(line, character) { Object.assign(this, { line, character }); } }
class Range {
  constructor(start, end) { Object.assign(this, { start, end }); }
}
class Record { constructor(...parts) { this.parts = parts; } }
const keep = (name) => (language, provider) => { registered[name] = provider; return { dispose() {} }; };
const listeners = {};
const listen = (name) => (listener) => { listeners[name] = listener; return { dispose() {} }; };
const documents = [];
const settings = new Set();

const vscode = {
  Position, Range,
  Location: Record, Hover: Record, MarkdownString: Record, ParameterInformation: Record, InlayHint: Record, FoldingRange: Record,
  SignatureInformation: Record, SignatureHelp: class {}, SemanticTokens: Record, SemanticTokensLegend: Record,
  Diagnostic: class { constructor(range, message, severity) { Object.assign(this, { range, message, severity }); } },
  DiagnosticRelatedInformation: Record, DocumentHighlight: Record, SymbolInformation: Record,
  DocumentSymbol: class { constructor(name) { this.name = name; } },
  CompletionItem: class { constructor(label, kind) { Object.assign(this, { label, kind }); } },
  CodeAction: class { constructor(title) { this.title = title; } },
  CodeActionKind: { QuickFix: "quickfix" },
  TextEdit: { replace: (range, text) => ({ range, text }) },
  WorkspaceEdit: class {
    constructor() { this.edits = []; }
    replace(uri, range, text) { this.edits.push({ uri, range, text }); }
  },
  Uri: { parse: (text) => ({ toString: () => text }) },
  CodeLens: class { constructor(range, command) { Object.assign(this, { range, command }); } },
  commands: { registerCommand: (name, run) => { registered[name] = run; return { dispose() {} }; } },
  env: { openExternal: (uri) => opened.push(uri.toString()) },
  languages: {
    registerCodeLensProvider: keep("lenses"),
    createDiagnosticCollection: () => ({ set: (uri, list) => published.set(uri.toString(), list), dispose() {} }),
    registerHoverProvider: keep("hover"),
    registerCompletionItemProvider: keep("completion"),
    registerSignatureHelpProvider: keep("signature"),
    registerDefinitionProvider: keep("definition"),
    registerReferenceProvider: keep("references"),
    registerDocumentHighlightProvider: keep("highlights"),
    registerRenameProvider: keep("rename"),
    registerWorkspaceSymbolProvider: (provider) => keep("everywhere")(null, provider),
    registerDocumentSymbolProvider: keep("symbols"),
    registerFoldingRangeProvider: keep("folding"),
    registerInlayHintsProvider: keep("hints"),
    registerCodeActionsProvider: keep("actions"),
    registerDocumentFormattingEditProvider: keep("format"),
    registerDocumentRangeFormattingEditProvider: keep("formatRange"),
    registerDocumentSemanticTokensProvider: keep("tokens"),
  },
  window: { showErrorMessage: (text) => shown.push(text), showTextDocument: (document) => opened.push(document.content) },
  workspace: {
    openTextDocument: async (document) => document,
    textDocuments: documents,
    workspaceFolders: [],
    getConfiguration: (section) => ({ get: (name) => { settings.add(`${section}.${name}`); return program; } }),
    onDidOpenTextDocument: listen("open"),
    onDidChangeTextDocument: listen("change"),
    onDidSaveTextDocument: listen("save"),
    onDidCloseTextDocument: listen("close"),
  },
};

const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
const extension = require(path.join(folder, "editors/vscode/extension.js"));

const TEXT = `from nvidia.dali import fn, pipeline_def


@pipeline_def(batch_size=2)
def train(data: str):
    encoded, label = fn.readers.file(file_root=data)
    image = fn.decoders.image(encoded)
    return fn.rotate(image, angel=3), label
`;
const uri = "file:///p/a.dali-dsl";
const document = { uri: { toString: () => uri }, languageId: "galatea", version: 1, getText: () => TEXT };
const whole = new Range(new Position(0, 0), new Position(20, 0));

async function until(condition) {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

const home = path.join(folder, "editors/vscode");
const readText = (name) => fs.readFileSync(path.join(home, name), "utf8");

/// What package.json promises is there, and is packed. The extension is active by now.
function checkPackage() {
  const about = JSON.parse(readText("package.json"));
  const { languages, grammars, configuration, commands = [], ...others } = about.contributes;
  assert.deepStrictEqual(others, {}, "contributions that nothing here looks at");

  const names = languages.map((one) => one.id);
  assert.ok(names.includes("galatea"));
  for (const grammar of grammars) {
    assert.ok(names.includes(grammar.language), grammar.language);
    assert.strictEqual(JSON.parse(readText(grammar.path)).scopeName, grammar.scopeName);
  }
  const packed = readText("pack.py");
  const files = [about.main, ...languages.map((one) => one.configuration), ...grammars.map((one) => one.path)];
  for (const file of files) {
    assert.ok(fs.existsSync(path.join(home, file)), file);
    assert.ok(packed.includes(`"${file.replace(/^\.\//, "")}"`), `${file} is not packed`);
  }
  for (const one of languages) JSON.parse(readText(one.configuration));
  for (const [, module] of readText(about.main).matchAll(/require\("\.\/(.*?)"\)/g))
    assert.ok(packed.includes(`"${module.replace(/\.js$/, "")}.js"`), `${module} is not packed`);

  const known = [...names, "json"];  // policy documents are JSON, which is the editor's own
  for (const event of about.activationEvents) {
    const [kind, language] = event.split(":");
    assert.strictEqual(kind, "onLanguage");
    assert.ok(known.includes(language), event);
  }
  assert.deepStrictEqual(Object.keys(configuration.properties).sort(), [...settings].sort());
  for (const one of commands) assert.ok(registered[one.command], one.command);
}

async function main() {
  documents.push(document);
  const context = { subscriptions: [] };
  await extension.activate(context);
  checkPackage();
  await until(() => published.has(uri));
  const errors = published.get(uri).filter((one) => one.severity === 0);
  assert.strictEqual(errors.length, 1);
  assert.match(errors[0].message, /angel/);

  const hover = await registered.hover.provideHover(document, new Position(6, 6));
  assert.match(hover.parts[0].parts[0], /image: u8/);
  const items = await registered.completion.provideCompletionItems(document, new Position(7, 17));
  assert.ok(items.some((one) => one.label === "rotate"));
  const symbols = await registered.symbols.provideDocumentSymbols(document);
  assert.deepStrictEqual(symbols.map((one) => one.name), ["train"]);
  const everywhere = await registered.everywhere.provideWorkspaceSymbols("trai");
  assert.deepStrictEqual(everywhere.map((one) => one.parts[0]), ["train"]);
  const [action] = await registered.actions.provideCodeActions(document, errors[0].range);
  assert.deepStrictEqual(action.edit.edits.map((one) => one.text), ["angle"]);
  const highlights = await registered.highlights.provideDocumentHighlights(document, new Position(6, 6));
  assert.strictEqual(highlights.length, 2);
  const place = await registered.rename.prepareRename(document, new Position(6, 6));
  assert.strictEqual(place.placeholder, "image");
  await assert.rejects(registered.rename.prepareRename(document, new Position(7, 17)), /name/);
  const renamed = await registered.rename.provideRenameEdits(document, new Position(6, 6), "picture");
  assert.strictEqual(renamed.edits.length, 2);
  const hints = await registered.hints.provideInlayHints(document, whole);
  assert.ok(hints.some((one) => /u8\[/.test(one.parts[1])));
  const help = await registered.signature.provideSignatureHelp(document, new Position(7, 30));
  assert.strictEqual(help.signatures.length, 1);
  const tokens = await registered.tokens.provideDocumentSemanticTokens(document);
  assert.strictEqual(tokens.parts[0].length % 5, 0);
  assert.deepStrictEqual(await registered.format.provideDocumentFormattingEdits(document), []);
  for (const name of ["definition", "references", "folding", "formatRange"]) assert.ok(registered[name], name);

  const lenses = await registered.lenses.provideCodeLenses(document);
  assert.deepStrictEqual(lenses.map((one) => one.command.title), ["preview", "explain"]);
  // The document is not on the disk: what the command says of that is shown.
  await registered["galatea.explain"](...lenses[1].command.arguments);
  assert.match(opened.pop(), /a\.dali-dsl/);

  // A policy document is one by what it says, whatever its name; other JSON is left alone.
  const policy = (name, text) => ({ uri: { toString: () => name }, languageId: "json", version: 1, getText: () => text });
  const wrong = policy("file:///p/mine.json", '{"format": "augment-policy", "version": 1, "bins": 11, "policy": {"seq": [["rotat", 1.0, 3]]}}');
  const other = policy("file:///p/package.json", '{"name": "x"}');
  for (const one of [wrong, other]) listeners.open(one);
  await until(() => published.has("file:///p/mine.json"));
  assert.ok(published.get("file:///p/mine.json").length > 0);
  assert.strictEqual(await registered.hover.provideHover(other, new Position(0, 3)), null);
  assert.ok(!published.has("file:///p/package.json"));
  listeners.close(wrong);

  const at = new Position(7, 30);
  published = new Map();
  listeners.change({
    document: { ...document, version: 2 },
    contentChanges: [{ range: new Range(new Position(7, 28), new Position(7, 33)), text: "angle" }],
  });
  await until(() => published.has(uri));
  assert.deepStrictEqual(published.get(uri).filter((one) => one.severity === 0), [], `${at.line}`);
  listeners.close(document);
  await extension.deactivate();
  assert.deepStrictEqual(shown, []);
}

main().then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  }
);
