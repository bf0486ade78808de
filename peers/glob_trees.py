"""Trees with the globs that people write in rules: one tree for each program, touched file and working directory.

The globs are those that programs interpret differently: of gitignore, minimatch and picomatch, with brackets, braces and odd slashes.
"""

from __future__ import annotations

from .tree import Tree

_GLOBS = (
    *(
        "src/**",
        "src/**/*",
        "**/src/**",
        "src/",
        "src",
        "/src/**",
        "/src",
        "./src/**",
        "src/*",
        "**/src/*",
        "src/**/",
        "**/",
    ),
    *(
        "*.ts",
        "**/*.ts",
        "/*.ts",
        "*.{ts,tsx}",
        "**/*.{ts,tsx}",
        "**/*.*",
        "**.ts",
        "**/**.ts",
        "*.TS",
        "SRC/**",
        "[S]rc/**",
    ),
    *(
        "{src,lib}/**",
        "{src/**,lib/**}",
        "**/{src,lib}/**/*.ts",
        "src/**/api/**",
        "**/api",
        "api/**",
        "api/*.ts",
        "**/api/v1.ts",
    ),
    *(
        "v1.ts",
        "v?.ts",
        "v[0-9].ts",
        "v[!a].ts",
        "v[^a].ts",
        "v[!1].ts",
        "[^v]1.ts",
        "[a-z]1.ts",
        "src**",
        "*/",
        "*/*",
        "*/**",
    ),
    *(
        "**/*",
        "?*",
        "!src/**",
        "!lib/**",
        "../src/**",
        "src/api/v1.ts",
        "src//api/v1.ts",
        "src/./api/v1.ts",
        "src/api/v1.ts/**",
    ),
    *(
        "src/{api,b}/v{1..3}.ts",
        "src/api/v1.@(ts|js)",
        "src/(api)/**",
        "{src}/**",
        "src/{}/**",
        "src/{api/**",
        "(src)/**",
    ),
    *(
        "src/*i/**",
        "s*c/**/*.ts",
        "src/**/**/v1.ts",
        "src/api/**/v1.ts",
        "**/v1.ts/",
        "src/api/v1",
        "src/api/v1*",
        "**/.*/**",
    ),
    *(
        ".github/**",
        "**/*.yml",
        ".*",
        ".*/**",
        "Makefile",
        "**/Makefile",
        "makefile",
        "*file",
        "packages/*/src/**",
        "app/**",
    ),
    *(
        "packages/**/*.test.tsx",
        "**/*.test.*",
        "**/[id]/**",
        "packages/app/src/[id]/*",
        "**/\\[id\\]/**",
        "**/[[]id]/**",
    ),
    *(
        "packages/app/src/**",
        "{packages/app,src}/**",
        "packages/{app,b}/**/*.tsx",
        "packages/{app/src,b}/**",
        "**/{*.tsx,*.yml}",
    ),
    *(
        "[src/**",
        "**/x y.ts",
        "x y.ts",
        "a b/**",
        "x/src/**",
        "x/src/**/",
        "x/src/api/",
        "*/api/**",
        "*/*/api/**",
        "?/src/**",
    ),
    *("x//src/**", "//src/**", "x/src/a*/**", "***", "+(v1).ts", "{x..y}/src/**", "{w..y}/**", "x/**/v1.ts"),
)
# Where each program looks for rules: those of the working directory or the root, and those of the user.
_RULES = {
    "claude": (".claude/rules", "home/.claude/rules", ".md", "paths: ['{}']"),
    "copilot": (".github/instructions", "home/.copilot/instructions", ".instructions.md", "applyTo: '{}'"),
    "qwen": (".qwen/rules", "home/.qwen/rules", ".md", "paths: ['{}']"),
}
_TOUCHED = (
    "src/api/v1.ts",
    "packages/app/src/[id]/Page.test.tsx",
    ".github/workflows/ci.yml",
    "Makefile",
    "lib/src/x y.ts",
    "x/src/api/v1.ts",
)


def _rules(program: str, folder: str) -> dict[str, str]:
    own, users, suffix, field = _RULES[program]
    folder = users if folder == "home" else f"{folder}/{own}"
    rows = {glob: field.replace("{}", glob) for glob in _GLOBS}
    return {
        f"{folder}/g{number}{suffix}": f"---\n{row}\n---\nqx-g{number}\n" for number, row in enumerate(rows.values())
    }


def _tree(program: str, rules: str, cwd: str, touched: str) -> Tree:
    files = {**_rules(program, rules), touched: "x\n"}
    return Tree(files, (cwd,), (program,), touch=touched, any_order=True, is_compact=True, is_sorted=True)


GLOB_TREES = {
    f"globs-{program}-{number}": _tree(program, "repo", "repo", f"repo/{touched}")
    for program in _RULES
    for number, touched in enumerate(_TOUCHED)
}
# The rules of the root, of a subfolder and of the user, in a subfolder.
GLOB_TREES |= {
    f"globs-{program}-{name}": _tree(program, rules, "repo/web", "repo/web/src/api/v1.ts")
    for program in _RULES
    for name, rules in {"above": "repo", "here": "repo/web", "user": "home"}.items()
}
# The rules of a folder below the working directory.
GLOB_TREES |= {
    f"globs-{program}-below": _tree(program, "repo/web", "repo", "repo/web/src/api/v1.ts") for program in _RULES
}
