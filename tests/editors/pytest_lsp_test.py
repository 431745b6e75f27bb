"""pytest-lsp's client against the language server: typed messages of the protocol, both ways.

The program is GALATEA_PROGRAM.
"""

import os

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient

TEXT = """from nvidia.dali import fn, pipeline_def


@pipeline_def(batch_size=2)
def train(data: str):
    encoded, label = fn.readers.file(file_root=data)
    image = fn.decoders.image(encoded)
    image = fn.resize(image, size=[64, 64])
    return fn.rotate(image, angel=3), label
"""
URI = "file:///p/a.dali-dsl"


@pytest_lsp.fixture(config=ClientServerConfig(server_command=[os.environ["GALATEA_PROGRAM"], "lsp"]))
async def client(lsp_client: LanguageClient):
    capabilities = types.ClientCapabilities(general=types.GeneralClientCapabilities(position_encodings=["utf-16"]))
    await lsp_client.initialize_session(types.InitializeParams(capabilities=capabilities))
    lsp_client.text_document_did_open(
        types.DidOpenTextDocumentParams(types.TextDocumentItem(URI, "galatea", 1, TEXT))
    )
    yield
    await lsp_client.shutdown_session()


def document():
    return types.TextDocumentIdentifier(URI)


def whole():
    return types.Range(types.Position(0, 0), types.Position(20, 0))


@pytest.mark.asyncio
async def test_every_answer_is_of_the_protocols_types(client: LanguageClient):
    await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    [error] = [one for one in client.diagnostics[URI] if one.severity == types.DiagnosticSeverity.Error]
    assert "angel" in error.message
    at = types.Position(6, 6)
    hover = await client.text_document_hover_async(types.HoverParams(document(), at))
    assert "image: u8" in hover.contents.value
    completion = await client.text_document_completion_async(types.CompletionParams(document(), types.Position(8, 17)))
    assert "rotate" in [item.label for item in completion.items]
    place = await client.text_document_definition_async(types.DefinitionParams(document(), types.Position(8, 23)))
    assert place.range.start.line == 6, "the name is bound there first"
    renamed = await client.text_document_rename_async(types.RenameParams(document(), at, "picture"))
    assert len(renamed.changes[URI]) >= 2
    actions = await client.text_document_code_action_async(
        types.CodeActionParams(document(), error.range, types.CodeActionContext([error]))
    )
    assert actions[0].edit.changes[URI][0].new_text == "angle"
    symbols = await client.text_document_document_symbol_async(types.DocumentSymbolParams(document()))
    assert [symbol.name for symbol in symbols] == ["train"]
    lenses = await client.text_document_code_lens_async(types.CodeLensParams(document()))
    assert [lens.command.title for lens in lenses] == ["preview", "explain"]
    hints = await client.text_document_inlay_hint_async(types.InlayHintParams(document(), whole()))
    assert any("u8[64,64,3]" in hint.label for hint in hints)
    tokens = await client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(document()))
    assert len(tokens.data) % 5 == 0
    options = types.FormattingOptions(4, True)
    whole_form = types.DocumentFormattingParams(document(), options)
    assert not await client.text_document_formatting_async(whole_form), "the text has its form already"
    lines_form = types.DocumentRangeFormattingParams(document(), whole(), options)
    assert not await client.text_document_range_formatting_async(lines_form)
    assert await client.text_document_folding_range_async(types.FoldingRangeParams(document()))
