"""`foreword mcp`: offers a workspace's prompt, skills and tools to other agents over the Model Context Protocol."""
