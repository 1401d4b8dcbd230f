"""The server that agents ask by MCP: it reads runs, starts them, and takes proposals and answers."""
