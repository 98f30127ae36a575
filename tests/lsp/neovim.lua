-- Writes what Neovim shows for the open robots.txt, as one line of JSON, to the file
-- $ROBOTRULES_SHOWN.
local function has_diagnostics()
  return #vim.diagnostic.get(0) > 0
end
vim.wait(30000, has_diagnostics, 20)

local function request(method, more)
  local params = { textDocument = { uri = vim.uri_from_bufnr(0) } }
  local answers = vim.lsp.buf_request_sync(0, method, vim.tbl_extend("force", params, more), 30000)
  for _, answer in pairs(answers or {}) do
    return answer.result
  end
end

local shown = { diagnostics = {}, labels = {} }
for _, diagnostic in ipairs(vim.diagnostic.get(0)) do
  table.insert(shown.diagnostics, {
    line = diagnostic.lnum,
    column = diagnostic.col,
    code = diagnostic.code,
  })
end
local hover = request("textDocument/hover", { position = { line = 2, character = 9 } })
shown.hover = vim.lsp.util.convert_input_to_markdown_lines(hover.contents)
local items = request("textDocument/completion", { position = { line = 4, character = 12 } })
for _, item in ipairs(vim.lsp.util.extract_completion_items(items)) do
  table.insert(shown.labels, item.label)
end
local options = { tabSize = 2, insertSpaces = true }
local edits = request("textDocument/formatting", { options = options })
vim.lsp.util.apply_text_edits(edits, 0, "utf-16")
shown.formatted = vim.api.nvim_buf_get_lines(0, 0, -1, true)

local file = io.open(os.getenv("ROBOTRULES_SHOWN"), "w")
file:write(vim.fn.json_encode(shown))
file:close()
