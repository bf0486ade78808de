"""The editor as a test uses it: what a person would do and see."""

from __future__ import annotations

import re

from playwright.sync_api import expect

CODE = "[aria-label='Template'].cm-content"


class Editor:
    def __init__(self, page):
        self.page = page
        self.dialog = page.get_by_role("dialog", name="Template editor")
        self.code = page.locator(CODE)
        self.preview = page.get_by_role("region", name="Preview")
        self.prompt = page.get_by_role("group", name="The prompt, by origin")
        expect(self.code).to_be_visible()
        self.settle()

    def settle(self):
        """Wait until the preview shows what is written."""
        expect(self.preview).to_have_attribute("aria-busy", "false")

    def text(self):
        """What is written, as far as it is drawn: all of a text that fits the screen."""
        return "\n".join(self.code.locator(".cm-line").all_text_contents())

    def draft(self):
        """What the browser keeps of the unsaved text; None if it keeps nothing."""
        return self.page.evaluate(
            """() => {
                const key = Object.keys(localStorage).find((name) => name.startsWith("foreword.draft."));
                return key ? JSON.parse(localStorage.getItem(key)).template : null;
            }"""
        )

    def write(self, text):
        """Replace all that is written, by the keyboard."""
        self.code.focus()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(text)

    def paste(self, text):
        """Replace all that is written from the clipboard, as one does with a long text."""
        self.code.focus()
        self.page.keyboard.press("ControlOrMeta+a")
        self.code.evaluate(
            """(element, text) => {
                const clipboardData = new DataTransfer();
                clipboardData.setData("text/plain", text);
                element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
            }""",
            text,
        )

    def put_caret(self, line, column=0):
        """Put the caret before a column of a line, both counted as people do and as programmers do."""
        self.code.focus()
        self.page.keyboard.press("ControlOrMeta+Home")
        for _ in range(line - 1):
            self.page.keyboard.press("ArrowDown")
        self.page.keyboard.press("Home")
        for _ in range(column):
            self.page.keyboard.press("ArrowRight")

    def select(self, characters):
        """Select so many characters from the caret on."""
        for _ in range(characters):
            self.page.keyboard.press("Shift+ArrowRight")

    def button(self, name):
        return self.dialog.get_by_role("button", name=re.compile(name))

    def lit_text(self):
        """What is lit in the preview."""
        return self.page.evaluate("() => [...(CSS.highlights.get('lit') ?? [])].map((range) => range.toString())")

    def lit_lines(self):
        """The lines that are lit in the template."""
        return self.code.locator(".cm-line.cm-lit").all_inner_texts()
