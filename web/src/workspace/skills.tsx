// Which skills are in the prompt and why the others are not, and what an agent receives when it activates one or touches a path.
import { useState } from "preact/hooks";
import type { Skill, Touched } from "../forms";
import { Loading } from "../loading";
import { activationOf, countTokens, listSkills, touch } from "../questions";
import { type Subject, replace, workspaceAt } from "../route";
import { useLatest } from "../use-latest";
import { count, relative } from "../words";
import type { TabProps } from "./tab";

export function SkillsTab({ subject, root }: TabProps) {
  const skills = useLatest(async (signal) => {
    const [found, { passages }] = await Promise.all([listSkills(subject, signal), countTokens(subject, signal)]);
    const sources = passages.flatMap((passage) => passage.sources);
    const tokensOf = (path: string) => sources.filter((source) => source.path === path).reduce((sum, { tokens }) => sum + tokens, 0);
    return found.map((skill) => ({ ...skill, tokens: tokensOf(skill.location) }));
  }, [subject.cwd, subject.layout, subject.model, subject.tools, subject.revision], 200);
  return (
    <>
      <Loading loaded={skills} doing="Looking for skills">{(found) => <Skills skills={found} subject={subject} root={root} />}</Loading>
      <Touch subject={subject} root={root} />
    </>
  );
}

type CountedSkill = Skill & { tokens: number };

function Skills({ skills, subject, root }: { skills: CountedSkill[]; subject: Subject; root: string }) {
  const listed = skills.filter((skill) => skill.listed);
  const row = (skill: CountedSkill) => <SkillRow key={skill.location} skill={skill} subject={subject} root={root} />;
  return (
    <section class="card" aria-labelledby="skills-heading">
      <header><h3 id="skills-heading">Skills</h3><p class="total"><b>{listed.length}</b> of {skills.length} in the prompt</p></header>
      {skills.length === 0 && <p class="quiet">This layout finds no skills here. Put one into .agents/skills/NAME/SKILL.md.</p>}
      {listed.length > 0 && <ul class="rows" aria-label="In the prompt">{listed.map(row)}</ul>}
      {listed.length < skills.length && (
        <section class="group" aria-labelledby="unlisted-heading">
          <h4 id="unlisted-heading">Not in the prompt</h4>
          <ul class="rows">{skills.filter((skill) => !skill.listed).map(row)}</ul>
        </section>
      )}
    </section>
  );
}

function SkillRow({ skill, subject, root }: { skill: CountedSkill; subject: Subject; root: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <b>{skill.name}</b> <span class="quiet">{skill.listed ? `${count(skill.tokens)} tokens` : skill.reason} · <span class="path">{relative(skill.location, root)}</span></span>
          <span class="description quiet">{skill.description}</span>
        </summary>
        {isOpen && <Activation name={skill.name} subject={subject} />}
      </details>
    </li>
  );
}

function Activation({ name, subject }: { name: string; subject: Subject }) {
  const message = useLatest((signal) => activationOf(name, subject, signal), [name, subject]);
  return (
    <Loading loaded={message} doing="Reading the skill">
      {({ content }) => <pre class="text" tabIndex={0} role="region" aria-label={`What activating ${name} sends`}>{content}</pre>}
    </Loading>
  );
}

function Touch({ subject, root }: TabProps) {
  return (
    <section class="card" aria-labelledby="touch-heading">
      <h3 id="touch-heading">What touching a path sends</h3>
      <label>
        Path, relative to the folder
        <input value={subject.with} placeholder="src/app.py" spellcheck={false} onInput={(event) => replace(workspaceAt("skills", { ...subject, with: event.currentTarget.value }))} />
      </label>
      {subject.with ? <TouchResult subject={subject} root={root} /> : <p class="quiet">Enter the path of a file that the agent reads or edits. Rules and nested instruction files that apply to it appear here.</p>}
    </section>
  );
}

function TouchResult({ subject, root }: TabProps) {
  const touched = useLatest((signal) => touch(subject, [subject.with], signal), [subject], 300);
  return <Loading loaded={touched} doing="Finding the rules that apply">{(value) => <Messages touched={value} root={root} />}</Loading>;
}

function Messages({ touched, root }: { touched: Touched; root: string }) {
  const used = touched.candidates.filter(({ fate }) => fate === "used");
  if (!touched.messages.length) return <p>With this layout, touching this path sends nothing.</p>;
  return (
    <>
      {used.length > 0 && <ul class="plain-list">{used.map(({ path, reason }, index) => <li key={index}><span class="path">{relative(path, root)}</span> <span class="quiet">{reason}</span></li>)}</ul>}
      {touched.messages.map((message, index) => (
        <pre key={index} class="text" tabIndex={0} role="region" aria-label={`Message ${index + 1}`}>{typeof message.content === "string" ? message.content : JSON.stringify(message.content, null, 2)}</pre>
      ))}
    </>
  );
}
