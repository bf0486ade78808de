"""The editor as a test uses it: what a person would do and see."""

from __future__ import annotations

import re

from playwright.sync_api import expect
from served import PATIENCE

CODE = "[aria-label='Template'].cm-content"


def accept_completion(page):
    """Accept the first completion. The list takes no key while it waits for options, nor in its first moment."""
    expect(page.get_by_role("listbox", name="Completions")).to_be_visible()
    expect(page.locator(".cm-tooltip-autocomplete-disabled")).to_have_count(0)
    page.wait_for_timeout(100)
    page.keyboard.press("Enter")


class Editor:
    def __init__(self, page):
        self.page = page
        self.dialog = page.get_by_role("dialog", name="Template editor")
        self.code = page.locator(CODE)
        self.preview = page.get_by_role("region", name="Preview")
        self.prompt = page.get_by_role("group", name="Prompt with origins")
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

    def type_without_pause(self, text):
        """Type a text so that no timer of the page can run between two characters, however slow the machine is."""
        self.code.evaluate(
            """async (element, text) => {
                element.focus();
                for (const character of text) {
                    document.execCommand("insertText", false, character);
                    await Promise.resolve();
                }
            }""",
            text,
        )

    def eventually(self, read, wanted):
        """Wait until something that is read from the page is what is wanted."""
        for _ in range(PATIENCE // 50):
            if read() == wanted:
                return
            self.page.wait_for_timeout(50)
        assert read() == wanted

    def button(self, name):
        return self.dialog.get_by_role("button", name=re.compile(name))

    def lit_text(self):
        """What is lit in the preview."""
        return self.page.evaluate("() => [...(CSS.highlights.get('lines') ?? [])].map((range) => range.toString())")

    def lit_lines(self):
        """The lines that are lit in the template."""
        return self.code.locator(".cm-line.cm-highlighted").all_inner_texts()
