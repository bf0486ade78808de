"""The table of commands: the module that has each, and what it does."""

from __future__ import annotations

TYPE_CHECKING = False

COMMANDS = {
    "show": ("prompt", "print the prompt; findings go to standard error"),
    "why": ("prompt", "every file that was considered, and why it is in the prompt or not"),
    "blame": ("prompt", "the prompt, each line with its origin"),
    "tokens": ("prompt", "what each section costs"),
    "diff": ("inspect", "how two prompts differ, section by section and word by word, and what caused it"),
    "cache": ("inspect", "what prompt caches make of a prompt, or of a change"),
    "watch": ("watch", "sections, tokens and findings live, and what each save does to the prompt and its prefix"),
    "lint": ("lint", "what is doubtful in the prompt, and in which file"),
    "layouts": ("catalog", "the layouts, or one of them"),
    "skills": ("catalog", "the skills that were found"),
    "skill": ("catalog", "the message that activates a skill"),
    "talk turn": ("talk", "what the model sees now; the first turn constructs the prompt"),
    "talk compact": ("talk", "the request for a summary of a conversation"),
    "talk reload": ("talk", "read everything again for a conversation"),
    "talk show": ("talk", "the prompt a conversation is using"),
    "talk list": ("talk", "the conversations of the store"),
    "talk drift": ("talk", "what a prompt built now would change"),
    "serve": ("serve", "answer over HTTP, with a page"),
    "store verify": ("store", "derive every hash in the store again"),
    "store stats": ("store", "how much the store keeps"),
    "template show": ("template", "print the global template"),
    "template set": ("template", "keep a file as the global template"),
    "template check": ("template", "say what is wrong or doubtful in a template"),
    "template render": ("template", "render a template in a directory"),
    "template history": ("template", "the versions of the global template"),
    "template restore": ("template", "go back to a version of the global template"),
    "template variables": ("template", "the variables that templates may use"),
    "completion": ("completion", "the script that completes commands in bash, zsh or fish"),
}
