"""The table of commands: each command's module, description and an example of its use."""

from __future__ import annotations

COMMANDS = {
    "agents": (
        "agents",
        "show which instruction files each released agent reads",
        "foreword agents . --all",
    ),
    "show": (
        "prompt",
        "print the prompt; findings go to standard error",
        "foreword show . --tool read_file --tool shell",
    ),
    "why": (
        "prompt",
        "list every file that was considered, and why it is or is not in the prompt",
        "foreword why . packages/web/CLAUDE.md",
    ),
    "blame": ("prompt", "print the prompt with the origin of each line", "foreword blame . --git"),
    "tokens": ("prompt", "list what each section costs in tokens", "foreword tokens . --model claude-opus-5.5"),
    "cache": (
        "inspect",
        "show how well a prompt can be cached, or what a change costs",
        "foreword cache . --layout pi",
    ),
    "diff": (
        "inspect",
        "show how two prompts differ, by section and word, and what caused it",
        "foreword diff . --layout ion --layout opal",
    ),
    "watch": (
        "watch",
        "show sections, tokens and findings live, and what each save changes",
        "foreword watch . src/app.py",
    ),
    "touch": (
        "touch",
        "print the instructions that an agent receives when it touches a file",
        "foreword touch . packages/web/index.ts --layout claude",
    ),
    "review": (
        "review",
        "show what a change in git does to each agent's prompt, and what it costs",
        "foreword review origin/main",
    ),
    "sessions": (
        "sessions",
        "show what released agents did, what it cost, and why the cache broke",
        "foreword sessions . --since 7d",
    ),
    "effect": (
        "effect",
        "measure whether an instruction changes what your agent achieves",
        "foreword effect . --arms sections -- ./check.sh",
    ),
    "lint": ("lint", "report likely mistakes in the prompt and its files", "foreword lint . --recursive"),
    "align": (
        "align",
        "find the fewest changes after which every agent reads every instruction once",
        "foreword align . --agent claude",
    ),
    "lock": (
        "lock",
        "record what a repository's prompts consist of, or check the record",
        "foreword lock . --check",
    ),
    "trust": (
        "trust",
        "show what a workspace contributes to prompts, and accept it",
        "foreword trust . --ref origin/main",
    ),
    "layouts": ("catalog", "list the layouts, or show one", "foreword layouts opal"),
    "skills": (
        "catalog",
        "list the skills that were found, or print the message that activates one",
        "foreword skills release-notes",
    ),
    "template show": ("template", "print the global template", "foreword template show --name support"),
    "template set": (
        "template",
        "store a file as the global template",
        "foreword template set prompt.md --note 'Shorter'",
    ),
    "template check": ("template", "report mistakes in a template", "foreword template check prompt.md"),
    "template render": ("template", "render a template in a directory", "foreword template render prompt.md ."),
    "template history": ("template", "list the versions of the global template", "foreword template history"),
    "template restore": ("template", "restore a version of the global template", "foreword template restore 3"),
    "template list": ("template", "list the stored templates and their labels", "foreword template list"),
    "template label": (
        "template",
        "move a template's label to a version, or remove it",
        "foreword template label production 4",
    ),
    "template delete": (
        "template",
        "delete a template with all its versions and labels",
        "foreword template delete support",
    ),
    "template variables": ("template", "list the variables that templates can use", "foreword template variables"),
    "conversation turn": (
        "conversation",
        "print what the model sees now; the first turn builds the prompt",
        "foreword conversation turn 42 . --message 'Fix the failing test'",
    ),
    "conversation compact": (
        "conversation",
        "print the request that summarises a conversation",
        "foreword conversation compact 42 .",
    ),
    "conversation reload": ("conversation", "reread all files for a conversation", "foreword conversation reload 42 ."),
    "conversation touch": (
        "touch",
        "print the instructions that are new to a conversation when its agent touches a file",
        "foreword conversation touch 42 . src/app.py",
    ),
    "conversation show": (
        "conversation",
        "print the prompt that a conversation is using",
        "foreword conversation show 42 --edition 1",
    ),
    "conversation list": ("conversation", "list the conversations in the store", "foreword conversation list"),
    "conversation drift": (
        "conversation",
        "show what would change if the prompt were rebuilt now",
        "foreword conversation drift 42 .",
    ),
    "serve": ("serve", "run the HTTP service and its web page", "foreword serve --port 8371 --root ~/projects"),
    "mcp": ("mcp", "offer the prompt, skills and tools to other agents over MCP", "foreword mcp ."),
    "proxy": (
        "proxy",
        "forward requests to a provider, and report what happens to its cache",
        "foreword proxy --upstream https://api.anthropic.com",
    ),
    "store verify": ("store", "check the store by recomputing every hash", "foreword store verify"),
    "store stats": ("store", "show how much the store contains", "foreword store stats"),
    "store migrate": ("store", "migrate the store's tables to this version", "foreword store migrate"),
    "store forget": ("store", "remove a conversation, and any text that only it used", "foreword store forget 42"),
    "store prune": (
        "store",
        "remove old editions, and any text that only they used",
        "foreword store prune --older-than 30d",
    ),
    "schema": ("schema", "print the JSON schema of a command's --json output", "foreword schema show"),
    "completion": ("completion", "print a completion script for bash, zsh or fish", "foreword completion bash"),
}
# Commands of two words, described in one line.
FAMILIES = {
    "template": "the global template and named ones",
    "conversation": "conversations, whose prompt is built once and kept",
    "store": "the database of templates, prompts and conversations",
}
GROUPS = {
    "What your agents read": ("agents", "why", "touch", "lint", "align", "trust"),
    "What it costs": ("sessions", "tokens", "cache", "effect"),
    "What a change does": ("review", "diff", "lock", "watch"),
    "Prompts of your own": ("show", "blame", "layouts", "skills", "template", "conversation"),
    "Serve and connect": ("serve", "mcp", "proxy", "store", "schema", "completion"),
}
