-- galatea for Neovim 0.7 or newer: ~/.config/nvim/plugin/galatea.lua
vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, {
  pattern = "*.dali-dsl",
  callback = function(event)
    vim.bo[event.buf].filetype = "galatea"
    vim.bo[event.buf].syntax = "python"
    vim.bo[event.buf].commentstring = "# %s"
  end,
})

vim.api.nvim_create_autocmd("FileType", {
  pattern = "galatea",
  callback = function(event)
    local folder = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(event.buf), ":p:h")
    local config = { name = "galatea", cmd = { vim.g.galatea_program or "galatea", "lsp" }, root_dir = folder }
    if vim.lsp.start then
      vim.lsp.start(config)
    else
      -- One client serves all buffers.
      local client = vim.g.galatea_client
      if not client or not vim.lsp.get_client_by_id(client) then
        client = vim.lsp.start_client(config)
        vim.g.galatea_client = client
      end
      vim.lsp.buf_attach_client(event.buf, client)
    end
    vim.bo[event.buf].omnifunc = "v:lua.vim.lsp.omnifunc"
  end,
})
