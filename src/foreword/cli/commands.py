"""The table of commands: each with its module and a description."""

from __future__ import annotations

COMMANDS = {
    "show": ("prompt", "print the prompt; findings go to standard error"),
    "why": ("prompt", "list every file that was considered, and why it is in the prompt or not"),
    "blame": ("prompt", "print the prompt with the origin of each line"),
    "tokens": ("prompt", "list what each section costs in tokens"),
    "diff": ("inspect", "show how two prompts differ, by section and word, and what caused it"),
    "cache": ("inspect", "show how well a prompt can be cached, or what a change costs"),
    "watch": ("watch", "show sections, tokens and findings live, and what each save changes"),
    "lint": ("lint", "report likely mistakes in the prompt and its files"),
    "layouts": ("catalog", "list the layouts, or show one"),
    "skills": ("catalog", "list the skills that were found"),
    "skill": ("catalog", "print the message that activates a skill"),
    "talk turn": ("talk", "print what the model sees now; the first turn builds the prompt"),
    "talk compact": ("talk", "print the request that summarises a conversation"),
    "talk reload": ("talk", "read all files again for a conversation"),
    "talk show": ("talk", "print the prompt that a conversation is using"),
    "talk list": ("talk", "list the conversations in the store"),
    "talk drift": ("talk", "show what would change if the prompt were rebuilt now"),
    "serve": ("serve", "run the HTTP service and its web page"),
    "store verify": ("store", "check the store by recomputing every hash"),
    "store stats": ("store", "show how much the store contains"),
    "template show": ("template", "print the global template"),
    "template set": ("template", "store a file as the global template"),
    "template check": ("template", "report mistakes in a template"),
    "template render": ("template", "render a template in a directory"),
    "template history": ("template", "list the versions of the global template"),
    "template restore": ("template", "restore a version of the global template"),
    "template variables": ("template", "list the variables that templates can use"),
    "completion": ("completion", "print a completion script for bash, zsh or fish"),
}
