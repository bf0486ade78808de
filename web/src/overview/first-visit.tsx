// What a visitor sees before the first conversation: what this is, and a command to try it.
import { hasToken } from "../client";
import { CopyButton } from "../copy";
import { workspaceAt } from "../route";
import { turnCode } from "../use-code";

export function FirstVisit() {
  const command = turnCode("curl", { origin: location.origin, hasToken: hasToken(), id: "first", template: "" });
  return (
    <section class="card first" aria-labelledby="first-heading">
      <h3 id="first-heading">Start here</h3>
      <p>
        Foreword builds your agents' system prompts from a template, instruction files and skills. An agent asks this service for each turn, and gets the same prompt, byte for
        byte, until its files or its template change.
      </p>
      <ol class="steps">
        <li><a href={workspaceAt("prompt")}>See the prompt</a> that an agent in your folder would get, and where every character comes from.</li>
        <li>
          Start a conversation. It appears on this page within a few seconds.
          <div class="command"><pre class="text" tabIndex={0} role="region" aria-label="Command">{command}</pre><CopyButton text={command} what="Copy command" /></div>
        </li>
        <li>Change a file, and this page shows which conversations are behind, and what a rebuild would cost.</li>
      </ol>
    </section>
  );
}
