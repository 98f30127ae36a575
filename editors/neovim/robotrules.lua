-- robotrules in Neovim: put this file into ~/.config/nvim/plugin/.
-- Neovim has the filetype `robots` for robots.txt. The server is `robotrules lsp`, installed by
-- pip install '.[lsp]' in a clone; set g:robotrules_command to use another command.
local settings = {
  name = "robotrules",
  cmd = vim.g.robotrules_command or { "robotrules", "lsp" },
  filetypes = { "robots" },
  root_markers = { "robotrules.toml", "pyproject.toml", ".git" },
}

if vim.lsp.config ~= nil then -- Neovim 0.11 and later
  vim.lsp.config("robotrules", settings)
  vim.lsp.enable("robotrules")
  return
end

-- Before 0.11: attach each buffer; all buffers share one server.
local client
vim.api.nvim_create_autocmd("FileType", {
  pattern = settings.filetypes,
  callback = function(event)
    client = client or vim.lsp.start_client({
      name = settings.name,
      cmd = settings.cmd,
      root_dir = vim.fn.fnamemodify(event.file, ":p:h"),
      on_exit = function() client = nil end,
    })
    vim.lsp.buf_attach_client(event.buf, client)
  end,
})
