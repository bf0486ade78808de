// The JSON types of the service, which clients/generate.py writes from its table of routes. The page gives them shorter names, and
// narrower types for a few fields than the service's schemas do.
import type * as api from "../../clients/typescript/index";

/** The name of a template language. The service lists the languages with the layouts. */
export type Syntax = string;

export const DEFAULT_SYNTAX: Syntax = "brackets";

export type Change = "added" | "removed" | "changed" | "moved";
export type Finding = api.FindingForm & { severity: "error" | "warning" | "info" };
/** Where a part of a prompt came from. */
export type Origin = api.SourceForm & { lines: [number, number] | null };
type Span = Omit<api.OriginForm, "lines"> & Origin;
/** A section of a prompt. Only a prompt that was built for this request has the number of `tokens`, and that of each source if it was asked for. */
export type Passage = Omit<api.PassageForm, "tokens" | "origins"> & { tokens?: number; sources?: api.CountedSource[]; origins: Span[] };
type Sections = { passages: Passage[]; findings: Finding[] };
type Changes = { details: { section: string; changes: Change[]; sources: string[] }[] };

export type AgentsTable = api.AgentsForm;
export type AuthorSum = api.AuthorSumForm;
export type AuthorSums = api.AuthorSumsForm;
export type AuthoredLine = api.AuthoredLineForm;
export type Authorship = api.AuthorshipForm;
export type CacheLoss = api.CacheReusesForm;
export type Candidate = api.CandidateForm;
export type ConversationPage = api.ConversationsForm;
export type ListedConversation = api.ConversationForm;
export type Counted = api.CountedForm;
export type CountedSource = api.CountedSource;
export type Difference = Omit<api.DifferenceForm, "details"> & Changes;
export type Drift = Omit<api.DriftForm, "details"> & Changes;
export type Edition = Omit<api.EditionForm, keyof Sections> & Sections;
export type EditionRow = api.MeasuredEditionForm;
export type EditionTarget = api.EditionTargetForm;
export type Entry = api.EntryForm;
export type Layout = api.LayoutChoiceForm;
export type LayoutKey = api.LayoutKeyForm;
export type Explained = api.ExplainedForm;
export type LintReport = Omit<api.LintForm, "findings"> & { findings: Finding[] };
export type LabelMove = api.MoveForm;
export type Message = api.MessageForm;
export type Names = api.NamesForm;
export type Previewed = Omit<api.CompactPreviewForm, "findings"> & { findings: Finding[] };
export type Prompt = Omit<api.ShowForm, "tools" | keyof Sections> & Sections;
export type Skill = api.SkillForm;
export type TemplateHistory = api.NamedVersionsForm;
export type TemplateName = api.TemplateNameForm;
export type Token = api.TokenForm;
export type Tokens = api.TokensForm;
export type Touched = Omit<api.TouchedForm, "findings"> & { findings: Finding[] };
export type UsageCounts = api.UsageForm;
export type UsageTotal = api.UsageTotalForm;
export type Variable = api.VariableForm;
export type VariableValue = api.ValueForm;
export type Verdict = api.VerdictForm;
export type Version = api.VersionForm;
