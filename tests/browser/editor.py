"""The editor, operated as a person would."""

from __future__ import annotations

import re

from playwright.sync_api import expect
from served import TIMEOUT

CODE = "[aria-label='Template'].cm-content"


def wait_for_answer(request):
    """Wait until the page has received the answer to a request, or has cancelled it, and has drawn what follows from it."""
    response = request.response()
    if response:
        response.finished()
    request.frame.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")


def accept_completion(page, key="Enter"):
    """Accept the first completion. The list ignores keys while it loads, and for 75 milliseconds after it opens."""
    expect(page.get_by_role("listbox", name="Completions")).to_be_visible()
    expect(page.locator(".cm-tooltip-autocomplete-disabled")).to_have_count(0)
    page.wait_for_timeout(100)
    page.keyboard.press(key)


DRAFT = """() => {
    const key = Object.keys(localStorage).find((name) => name.startsWith("foreword.draft."));
    return key ? JSON.parse(localStorage.getItem(key)).template : null;
}"""


class Editor:
    def __init__(self, page):
        self.page = page
        self.dialog = page.get_by_role("dialog", name="Template editor")
        self.code = page.locator(CODE)
        self.preview = page.get_by_role("region", name="Preview")
        self.prompt = page.get_by_role("group", name="Prompt with origins")
        expect(self.code).to_be_visible()
        self.wait_for_preview()

    def wait_for_preview(self):
        """Wait until the preview shows the current text."""
        expect(self.preview).to_have_attribute("aria-busy", "false")

    def text(self):
        """Return the drawn part of the text: all of it if it fits the screen."""
        return "\n".join(self.code.locator(".cm-line").all_text_contents())

    def draft(self):
        """Return the unsaved text that the browser stores, or None."""
        return self.page.evaluate(DRAFT)

    def wait_for_draft(self, text):
        """Wait until the browser has stored this text, which it does a moment after a change."""
        self.page.wait_for_function(f"(text) => ({DRAFT})() === text", arg=text)

    def clear(self):
        """Delete the text, leave the pointer outside of it, and wait until nothing is previewed. The language is the default again."""
        self.dialog.get_by_label("Syntax").select_option("brackets")
        self.code.focus()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.press("Backspace")
        self.page.mouse.move(0, 0)
        expect(self.prompt).to_have_text("")
        self.wait_for_preview()

    def write(self, text):
        """Replace the text, using the keyboard."""
        self.code.focus()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(text)

    def paste(self, text):
        """Replace the text from the clipboard, for long text."""
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
        """Put the caret before a column (from 0) of a line (from 1)."""
        self.code.focus()
        self.page.keyboard.press("ControlOrMeta+Home")
        for _ in range(line - 1):
            self.page.keyboard.press("ArrowDown")
        self.page.keyboard.press("Home")
        for _ in range(column):
            self.page.keyboard.press("ArrowRight")

    def select(self, characters):
        """Select this many characters after the caret."""
        for _ in range(characters):
            self.page.keyboard.press("Shift+ArrowRight")

    def type_without_pause(self, text):
        """Type text without letting a timer of the page run between two characters."""
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
        """Wait until reading from the page returns the wanted value."""
        for _ in range(TIMEOUT // 50):
            if read() == wanted:
                return
            self.page.wait_for_timeout(50)
        assert read() == wanted

    def button(self, name):
        return self.dialog.get_by_role("button", name=re.compile(name))

    def highlighted_text(self):
        """Return the highlighted text of the preview."""
        return self.page.evaluate("() => [...(CSS.highlights.get('lines') ?? [])].map((range) => range.toString())")

    def highlighted_lines(self):
        """Return the highlighted lines of the template."""
        return self.code.locator(".cm-line.cm-highlighted").all_inner_texts()
