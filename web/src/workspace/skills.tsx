// The skills that an agent finds, and the message that activating one sends.
import { useState } from "preact/hooks";
import { activationOf, listSkills } from "../questions";
import type { Skill } from "../forms";
import { Loading } from "../loading";
import type { Subject } from "../route";
import { useLatest } from "../use-latest";
import { counted } from "../words";
import type { TabProps } from "./tab";

export function SkillsTab({ subject }: TabProps) {
  const skills = useLatest((signal) => listSkills(subject, signal), [subject], 200);
  return (
    <Loading loaded={skills} doing="Looking for skills">
      {(found) => (
        <section class="card" aria-labelledby="skills-heading">
          <h3 id="skills-heading">Skills</h3>
          <p class="quiet">{found.length ? counted(found.length, "skill") : "This layout finds no skills here. Put one into .agents/skills/NAME/SKILL.md."}</p>
          <Unlisted skills={found} />
          <ul class="rows">{found.map((skill) => <SkillRow key={skill.location} skill={skill} subject={subject} />)}</ul>
        </section>
      )}
    </Loading>
  );
}

/** Says which skills the prompt does not list although they are not hidden, and why. */
function Unlisted({ skills }: { skills: Skill[] }) {
  const unlisted = skills.filter((skill) => !skill.listed && !skill.hidden);
  const reasons = [...new Set(unlisted.map((skill) => skill.reason))].join("; ");
  if (unlisted.length === 0) return null;
  const which = unlisted.length === skills.length ? (skills.length === 1 ? "it" : "them") : `${unlisted.length} of them`;
  return <p class="note" role="note">The prompt does not list {which}: {reasons}.</p>;
}

function SkillRow({ skill, subject }: { skill: Skill; subject: Subject }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary><b>{skill.name}</b> {skill.hidden ? <span class="badge">hidden</span> : !skill.listed && <span class="badge">not listed</span>} <span class="quiet">{skill.description}</span></summary>
        <p class="quiet path">{skill.location}</p>
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
