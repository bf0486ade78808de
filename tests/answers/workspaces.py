"""The workspaces of the transcripts: for each, its files below the folder in which commands run. The working directory is `w`.

A string or bytes are a file, None is a folder, a Path is a link to that path, and a function creates what is at the path.
"""

from tests.answers import histories, layouts, phrases, projects, texts

WORKSPACES = {
    "shop": projects.SHOP,
    "everything": projects.EVERYTHING,
    "imports": projects.IMPORTS,
    "damage": projects.DAMAGE,
    "skills": projects.SKILLS,
    "scoped": projects.SCOPED,
    "checks": projects.CHECKS_OF_LINT,
    "random": projects.RANDOM,
    "empty": {"w": None},
    "alignment": projects.ALIGNMENT,
    "worktree": projects.WORKTREE,
    "programs": projects.PROGRAMS,
    "layouts": layouts.LAYOUTS,
    "settings": layouts.SETTINGS,
    "budgets": layouts.BUDGETS,
    "templates": layouts.TEMPLATES,
    "repository": histories.REPOSITORY,
    "sessions": histories.SESSIONS,
    "agents-logs": histories.AGENTS_LOGS,
    "damaged-logs": histories.DAMAGED_LOGS,
    "other-logs": histories.OTHER_LOGS,
    "effect": histories.EFFECT,
    "wording": texts.WORDING,
    "phrases": phrases.PHRASES_OF_LINT,
    "foreign": texts.FOREIGN,
    "requests": texts.REQUESTS,
}
