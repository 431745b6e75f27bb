// galatea in VS Code: what the language server says, as VS Code wants it. No dependencies.
"use strict";

const vscode = require("vscode");
const { Client } = require("./client");

const LANGUAGE = "galatea";
/// Policy documents are JSON of any name; the server is told of those that say so.
const isPolicy = (document) => document.languageId === "json" && document.getText().includes('"augment-policy"');
const isOurs = (document) => document.languageId === LANGUAGE || isPolicy(document);
/// What the server knows of both.
const BOTH = [{ language: LANGUAGE }, { language: "json" }];

const toPosition = (at) => new vscode.Position(at.line, at.character);
const toRange = (range) => new vscode.Range(toPosition(range.start), toPosition(range.end));
const fromPosition = (at) => ({ line: at.line, character: at.character });
const fromRange = (range) => ({ start: fromPosition(range.start), end: fromPosition(range.end) });
const toLocation = (place) => new vscode.Location(vscode.Uri.parse(place.uri), toRange(place.range));
const idOf = (document) => ({ uri: document.uri.toString() });
const at = (document, position) => ({ textDocument: idOf(document), position: fromPosition(position) });

/// The protocol counts kinds of completion items and symbols from 1, VS Code from 0.
const kindOf = (kind) => kind - 1;

function toEdit(changes) {
  const edit = new vscode.WorkspaceEdit();
  for (const [uri, edits] of Object.entries(changes))
    for (const one of edits) edit.replace(vscode.Uri.parse(uri), toRange(one.range), one.newText);
  return edit;
}

function toDiagnostic(item) {
  const diagnostic = new vscode.Diagnostic(toRange(item.range), item.message, item.severity - 1);
  diagnostic.source = item.source;
  const page = item.codeDescription && vscode.Uri.parse(item.codeDescription.href);
  diagnostic.code = page ? { value: item.code, target: page } : item.code;
  diagnostic.relatedInformation = (item.relatedInformation || []).map(
    (one) => new vscode.DiagnosticRelatedInformation(toLocation(one.location), one.message)
  );
  return diagnostic;
}

function toSymbol(item) {
  const symbol = new vscode.DocumentSymbol(
    item.name, "", kindOf(item.kind), toRange(item.range), toRange(item.selectionRange)
  );
  symbol.children = (item.children || []).map(toSymbol);
  return symbol;
}

/// Tells the server of open documents and their changes.
function follow(client, context) {
  const known = new Set();
  const open = (document) => {
    if (!isOurs(document) || known.has(document.uri.toString())) return;
    known.add(document.uri.toString());
    client.notify("textDocument/didOpen", {
      textDocument: { ...idOf(document), languageId: document.languageId, version: document.version, text: document.getText() },
    });
  };
  vscode.workspace.textDocuments.forEach(open);
  context.subscriptions.push(
    vscode.workspace.onDidOpenTextDocument(open),
    vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      if (contentChanges.length === 0) return;
      if (!known.has(document.uri.toString())) { open(document); return; }
      client.notify("textDocument/didChange", {
        textDocument: { ...idOf(document), version: document.version },
        contentChanges: contentChanges.map((one) => ({ range: fromRange(one.range), text: one.text })),
      });
    }),
    vscode.workspace.onDidSaveTextDocument(() => client.notify("workspace/didChangeWatchedFiles", { changes: [] })),
    vscode.workspace.onDidCloseTextDocument((document) => {
      if (known.delete(document.uri.toString())) client.notify("textDocument/didClose", { textDocument: idOf(document) });
    })
  );
}

function registerWords(client, add) {
  add(vscode.languages.registerHoverProvider(BOTH, {
    async provideHover(document, position) {
      if (!isOurs(document)) return null;
      const hover = await client.request("textDocument/hover", at(document, position));
      return hover && new vscode.Hover(new vscode.MarkdownString(hover.contents.value), toRange(hover.range));
    },
  }));
  add(vscode.languages.registerCompletionItemProvider(BOTH, {
    async provideCompletionItems(document, position) {
      if (!isOurs(document)) return [];
      const list = await client.request("textDocument/completion", at(document, position));
      return ((list && list.items) || []).map((one) => {
        const item = new vscode.CompletionItem(one.label, kindOf(one.kind));
        item.detail = one.detail;
        item.sortText = one.sortText;
        item.range = toRange(one.textEdit.range);
        item.insertText = one.textEdit.newText;
        return item;
      });
    },
  }, ".", "(", ",", "=", " ", '"', "'", "/"));
  add(vscode.languages.registerSignatureHelpProvider(LANGUAGE, {
    async provideSignatureHelp(document, position) {
      const found = await client.request("textDocument/signatureHelp", at(document, position));
      if (!found) return null;
      const help = new vscode.SignatureHelp();
      help.signatures = found.signatures.map((one) => {
        const signature = new vscode.SignatureInformation(one.label, one.documentation);
        signature.parameters = one.parameters.map((p) => new vscode.ParameterInformation(p.label));
        return signature;
      });
      help.activeSignature = found.activeSignature;
      help.activeParameter = found.activeParameter;
      return help;
    },
  }, "(", ","));
}

function registerPlaces(client, add) {
  add(vscode.languages.registerDefinitionProvider(LANGUAGE, {
    async provideDefinition(document, position) {
      const place = await client.request("textDocument/definition", at(document, position));
      return place && toLocation(place);
    },
  }));
  add(vscode.languages.registerReferenceProvider(LANGUAGE, {
    async provideReferences(document, position, context) {
      const params = { ...at(document, position), context: { includeDeclaration: context.includeDeclaration } };
      return (await client.request("textDocument/references", params)).map(toLocation);
    },
  }));
  add(vscode.languages.registerDocumentHighlightProvider(LANGUAGE, {
    async provideDocumentHighlights(document, position) {
      const found = await client.request("textDocument/documentHighlight", at(document, position));
      return (found || []).map((one) => new vscode.DocumentHighlight(toRange(one.range)));
    },
  }));
  add(vscode.languages.registerRenameProvider(LANGUAGE, {
    async prepareRename(document, position) {
      const place = await client.request("textDocument/prepareRename", at(document, position));
      if (!place) throw new Error("there is no name of yours here");
      return { range: toRange(place.range), placeholder: place.placeholder };
    },
    async provideRenameEdits(document, position, newName) {
      const edit = await client.request("textDocument/rename", { ...at(document, position), newName });
      return toEdit(edit.changes);
    },
  }));
  add(vscode.languages.registerDocumentSymbolProvider(LANGUAGE, {
    async provideDocumentSymbols(document) {
      return (await client.request("textDocument/documentSymbol", { textDocument: idOf(document) })).map(toSymbol);
    },
  }));
  add(vscode.languages.registerWorkspaceSymbolProvider({
    async provideWorkspaceSymbols(query) {
      return (await client.request("workspace/symbol", { query })).map(
        (one) => new vscode.SymbolInformation(one.name, kindOf(one.kind), one.containerName || "", toLocation(one.location))
      );
    },
  }));
  add(vscode.languages.registerFoldingRangeProvider(LANGUAGE, {
    async provideFoldingRanges(document) {
      const folds = await client.request("textDocument/foldingRange", { textDocument: idOf(document) });
      return folds.map((one) => new vscode.FoldingRange(one.startLine, one.endLine));
    },
  }));
}

function registerText(client, legend, add) {
  add(vscode.languages.registerInlayHintsProvider(LANGUAGE, {
    async provideInlayHints(document, range) {
      const params = { textDocument: idOf(document), range: fromRange(range) };
      const hints = await client.request("textDocument/inlayHint", params);
      return hints.map((one) => new vscode.InlayHint(toPosition(one.position), one.label, one.kind));
    },
  }));
  add(vscode.languages.registerCodeActionsProvider(LANGUAGE, {
    async provideCodeActions(document, range) {
      const params = { textDocument: idOf(document), range: fromRange(range), context: { diagnostics: [] } };
      return (await client.request("textDocument/codeAction", params)).map((one) => {
        const action = new vscode.CodeAction(one.title, vscode.CodeActionKind.QuickFix);
        action.isPreferred = one.isPreferred;
        action.edit = toEdit(one.edit.changes);
        return action;
      });
    },
  }));
  const format = async (document, extra) => {
    const method = extra.range ? "textDocument/rangeFormatting" : "textDocument/formatting";
    const edits = await client.request(method, { textDocument: idOf(document), ...extra });
    return edits.map((one) => vscode.TextEdit.replace(toRange(one.range), one.newText));
  };
  add(vscode.languages.registerDocumentFormattingEditProvider(LANGUAGE, {
    provideDocumentFormattingEdits: (document) => format(document, {}),
  }));
  add(vscode.languages.registerDocumentRangeFormattingEditProvider(LANGUAGE, {
    provideDocumentRangeFormattingEdits: (document, range) => format(document, { range: fromRange(range) }),
  }));
  const known = new vscode.SemanticTokensLegend(legend.tokenTypes, legend.tokenModifiers);
  add(vscode.languages.registerDocumentSemanticTokensProvider(LANGUAGE, {
    async provideDocumentSemanticTokens(document) {
      const tokens = await client.request("textDocument/semanticTokens/full", { textDocument: idOf(document) });
      return new vscode.SemanticTokens(Uint32Array.from(tokens.data));
    },
  }, known));
}

/// "preview" and "explain" above a pipeline. What they need is asked of the server, so that both know the file.
function registerLenses(client, add) {
  add(vscode.languages.registerCodeLensProvider(LANGUAGE, {
    async provideCodeLenses(document) {
      const lenses = await client.request("textDocument/codeLens", { textDocument: idOf(document) });
      return lenses.map((one) => new vscode.CodeLens(toRange(one.range), one.command));
    },
  }));
  const run = (command, show) =>
    add(vscode.commands.registerCommand(command, async (...args) => {
      try {
        await show(await client.request("workspace/executeCommand", { command, arguments: args }));
      } catch (error) {
        vscode.window.showErrorMessage(`galatea: ${error.message}`);
      }
    }));
  // The server asks for the page itself (window/showDocument).
  run("galatea.preview", () => {});
  run("galatea.explain", async (text) =>
    vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: text })));
}

let client;

async function activate(context) {
  const add = (one) => context.subscriptions.push(one);
  const collection = vscode.languages.createDiagnosticCollection(LANGUAGE);
  add(collection);
  const program = vscode.workspace.getConfiguration("galatea").get("program");
  const onNotification = (method, params) => {
    if (method === "textDocument/publishDiagnostics")
      collection.set(vscode.Uri.parse(params.uri), params.diagnostics.map(toDiagnostic));
    if (method === "window/showDocument") vscode.env.openExternal(vscode.Uri.parse(params.uri));
  };
  client = new Client(program, onNotification, (reason) => {
    if (client.isStopping) return;
    vscode.window.showErrorMessage(`galatea: ${reason}. The setting galatea.program names the program.`);
  });
  const folders = (vscode.workspace.workspaceFolders || []).map((one) => ({
    uri: one.uri.toString(), name: one.name,
  }));
  const { capabilities } = await client.request("initialize", {
    processId: process.pid,
    capabilities: { general: { positionEncodings: ["utf-16"] } },
    workspaceFolders: folders,
  });
  client.notify("initialized", {});
  registerWords(client, add);
  registerPlaces(client, add);
  registerLenses(client, add);
  registerText(client, capabilities.semanticTokensProvider.legend, add);
  follow(client, context);
}

async function deactivate() {
  if (!client) return;
  client.isStopping = true;
  await client.stop();
}

module.exports = { activate, deactivate };
