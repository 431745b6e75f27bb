-- Neovim's own client against the language server: nvim --headless -u NONE -c "luafile neovim_test.lua", with the
-- program in GALATEA_PROGRAM and the project in GALATEA_SOURCE.
vim.g.galatea_program = os.getenv("GALATEA_PROGRAM")
vim.cmd("filetype on")
vim.cmd("luafile " .. os.getenv("GALATEA_SOURCE") .. "/editors/neovim.lua")

local function fail(words)
  io.stderr:write("neovim_test: " .. words .. "\n")
  vim.cmd("cquit 1")
end

local function wait_for(what, condition)
  if not vim.wait(60000, condition, 10) then
    fail("nothing came of " .. what)
  end
end

local file = vim.fn.tempname() .. ".dali-dsl"
vim.fn.writefile({
  "from nvidia.dali import fn, pipeline_def",
  "",
  "",
  "@pipeline_def(batch_size=2)",
  "def train(data: str):",
  "    encoded, label = fn.readers.file(file_root=data)",
  "    image = fn.decoders.image(encoded)",
  "    return fn.rotate(image, angel=3), label",
}, file)
vim.cmd("edit " .. file)

local function errors()
  return vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR })
end

wait_for("diagnostics", function()
  return #errors() == 1
end)
if not errors()[1].message:find("angel") then
  fail("the error is another one: " .. errors()[1].message)
end

local function ask(method, line, character)
  local params = { textDocument = vim.lsp.util.make_text_document_params(), position = { line = line, character = character } }
  local answers = vim.lsp.buf_request_sync(0, method, params, 60000)
  for _, answer in pairs(answers or {}) do
    return answer.result
  end
end

local hover = ask("textDocument/hover", 6, 6)
if not hover or not hover.contents.value:find("image: u8", 1, true) then
  fail("hover: " .. vim.inspect(hover))
end
local completion = ask("textDocument/completion", 7, 17)
local found = false
for _, item in ipairs(completion.items) do
  found = found or item.label == "rotate"
end
if not found then
  fail("completion has no rotate")
end

vim.api.nvim_buf_set_text(0, 7, 28, 7, 33, { "angle" })
wait_for("the correction", function()
  return #errors() == 0
end)
vim.fn.delete(file)
vim.cmd("qall!")
