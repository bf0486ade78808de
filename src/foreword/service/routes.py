"""The table of routes, from which the router, the OpenAPI document and the documentation are built."""

from __future__ import annotations

from ..encoding.forms import ExplainedForm
from ..wire.align_forms import AlignForm
from ..wire.conversation_forms import RecordedForm
from ..wire.forms import (
    AgentsForm,
    CacheForm,
    CacheReusesForm,
    CountedForm,
    DifferenceForm,
    DriftForm,
    EditionForm,
    LineForm,
    LintForm,
    MessageForm,
    ShowForm,
    TemplateForm,
    TouchedForm,
    TurnForm,
    VariablesForm,
    WatchForm,
)
from ..wire.git_forms import AuthorshipForm, AuthorSumsForm, LockForm, ReviewForm
from ..wire.session_forms import InForceForm, SessionDetailForm, SessionRowsForm, SessionsForm
from ..wire.skills import SkillForm
from ..wire.store_forms import DeletedTemplateForm, ForgottenForm, MoveForm
from . import (
    about,
    conversation_events,
    conversation_lists,
    conversations,
    events,
    forms,
    named_templates,
    questions,
    sessions,
    templates,
)
from .bodies import (
    AgentBody,
    AuthorQuery,
    CallBody,
    CheckBody,
    CompactBody,
    ConversationsQuery,
    DriftQuery,
    LabelBody,
    LabelQuery,
    ListQuery,
    MessageBody,
    NamesQuery,
    PreviewBody,
    RegistryBody,
    ResourcesBody,
    RestoreQuery,
    SaveQuery,
    SaveVersionQuery,
    SubAgentBody,
    TemplateBody,
    TouchBody,
    TurnBody,
    ValuesBody,
    VersionsQuery,
)
from .inspection_bodies import (
    AgentsBody,
    AlignBody,
    BlameBody,
    CacheBody,
    DiffBody,
    EventsQuery,
    FilesQuery,
    InForceQuery,
    LayoutsQuery,
    LintBody,
    PathsBody,
    QuestionBody,
    RepositoryBody,
    ReviewBody,
    SessionsQuery,
    ShowBody,
    SkillsQuery,
    TokensBody,
    WhyBody,
)
from .page import page_or_placeholder
from .request import Request
from .responses import Response
from .route import Route
from .service import Service
from .usage_bodies import UsageBody


def openapi(service: Service, request: Request) -> Response:
    """Return this OpenAPI 3.1 document."""
    from .openapi import document

    return Response(document(ROUTES))


def page(service: Service, request: Request) -> Response:
    """Return the web page."""
    return page_or_placeholder(request, ROUTES)


_TEMPLATE = ("outside-roots", "not-found", "invalid-template", "template-not-rendered", "invalid-layout")
_CONVERSATION = (
    "outside-roots",
    "not-found",
    "invalid-template",
    "template-not-rendered",
    "invalid-layout",
    "unsupported-tool",
    "hook-failed",
    "store-down",
)
_STORED = ("not-found", "store-down")
_STORE = ("store-down",)
_FOLDER = ("outside-roots", "not-found")
_RESTORED = ("not-found", "invalid-template", "store-down")
_SAVED = ("template-changed", "invalid-template", "store-down")
_LABEL = ("not-found", "template-changed", "store-down")
_DELETED = ("not-found", "in-use", "store-down")
_QUESTION = ("outside-roots", "not-found", "invalid-template", "template-not-rendered", "invalid-layout", "store-down")
# Method, path, lane, right, whether it is audited; function; the types of response, body and query; problems.
ROUTES = (
    Route("GET", "/conversations/{id}", "known", "read", False, conversations.read_conversation, EditionForm, None, None, _STORED),
    Route("POST", "/conversations/{id}/turn", "turn", "turn", False, conversations.turn, TurnForm, TurnBody, None, _CONVERSATION),
    Route("POST", "/conversations/{id}/construct", "reading", "turn", False, conversations.construct, TurnForm, AgentBody, None, _CONVERSATION),
    Route("POST", "/conversations/{id}/compact", "reading", "turn", False, conversations.compact, TurnForm, CompactBody, None, _CONVERSATION),
    Route("POST", "/conversations/{id}/reload", "reading", "turn", False, conversations.reload, TurnForm, AgentBody, None, _CONVERSATION),
    Route("POST", "/conversations/{id}/skills/{name}", "reading", "turn", False, conversations.use_skill, MessageForm, AgentBody, None, _CONVERSATION),
    Route("POST", "/conversations/{id}/tools/{name}", "reading", "turn", False, conversations.call_tool, forms.ToolResultForm, CallBody, None, _CONVERSATION),
    Route("POST", "/conversations/{id}/touch", "reading", "turn", False, conversations.touch, TouchedForm, TouchBody, None, _CONVERSATION),
    Route("POST", "/conversations/{id}/sub-agents", "reading", "turn", False, conversation_events.start_sub_agent, TurnForm, SubAgentBody, None, _CONVERSATION),
    Route("POST", "/conversations/{id}/messages", "reading", "turn", False,
          conversation_events.add_message, forms.WaitingForm, MessageBody, None, _CONVERSATION),
    Route("POST", "/conversations/{id}/resources", "reading", "turn", False, conversation_events.add_resources, TurnForm, ResourcesBody, None, _CONVERSATION),
    Route("POST", "/conversations/{id}/registry", "reading", "turn", False, conversation_events.replace_tools, TurnForm, RegistryBody, None, _CONVERSATION),
    Route("POST", "/conversations/{id}/usage", "reading", "turn", False, conversations.record_usage, RecordedForm, UsageBody, None, _STORED),
    Route("GET", "/conversations/{id}/editions", "reading", "read", False, conversations.list_editions, forms.EditionsForm, None, None, _STORED),
    Route("GET", "/conversations/{id}/editions/{number}", "reading", "read", False, conversations.read_edition, EditionForm, None, None, _STORED),
    Route("GET", "/conversations/{id}/drift", "questions", "read", False, conversations.read_drift, DriftForm, None, DriftQuery, _CONVERSATION),
    Route("DELETE", "/conversations/{id}", "reading", "admin", True, conversations.forget, ForgottenForm, None, None, _STORED),
    Route("GET", "/conversations", "reading", "read", False, conversation_lists.list_conversations, forms.ConversationsForm, None, ListQuery, _STORED),
    Route("GET", "/usage", "reading", "read", False, conversation_lists.read_usage, forms.UsageTotalForm, None, ConversationsQuery, _STORED),
    Route("GET", "/prompts/{id}", "reading", "read", False, conversations.read_prompt, forms.StoredPromptForm, None, None, _STORED),
    Route("POST", "/show", "questions", "read", False, questions.show, ShowForm, ShowBody, None, _QUESTION),
    Route("POST", "/why", "questions", "read", False, questions.why, list[ExplainedForm], WhyBody, None, _QUESTION),
    Route("POST", "/blame", "questions", "read", False, questions.blame, (list[LineForm], AuthorshipForm, AuthorSumsForm), BlameBody, None, _QUESTION),
    Route("POST", "/tokens", "questions", "read", False, questions.tokens, CountedForm, TokensBody, None, _QUESTION),
    Route("POST", "/touch", "questions", "read", False, questions.instructions_for_files, TouchedForm, PathsBody, None, _QUESTION),
    Route("POST", "/diff", "questions", "read", False, questions.diff, DifferenceForm, DiffBody, None, _QUESTION),
    Route("POST", "/cache", "inspections", "read", False, questions.cache, (CacheForm, CacheReusesForm), CacheBody, None, _QUESTION),
    Route("POST", "/agents", "inspections", "read", False, questions.agents, AgentsForm, AgentsBody, None, _QUESTION),
    Route("POST", "/align", "inspections", "read", False, questions.align, AlignForm, AlignBody, None, _QUESTION),
    Route("POST", "/lint", "inspections", "read", False, questions.lint, LintForm, LintBody, None, _QUESTION),
    Route("POST", "/review", "inspections", "read", False, questions.review, ReviewForm, ReviewBody, None, _QUESTION),
    Route("POST", "/lock", "inspections", "read", False, questions.lock, LockForm, RepositoryBody, None, _QUESTION),
    Route("GET", "/events", "stream", "read", False, events.watch, WatchForm, None, EventsQuery, _QUESTION),
    Route("GET", "/skills", "questions", "read", False, questions.list_skills, list[SkillForm], None, SkillsQuery, _QUESTION),
    Route("POST", "/skills/{name}", "questions", "read", False, questions.read_skill, MessageForm, QuestionBody, None, _QUESTION),
    Route("GET", "/sessions", "inspections", "sessions", False, sessions.list_sessions, (SessionsForm, SessionRowsForm), None, SessionsQuery, _FOLDER),
    Route("GET", "/sessions/{id}", "inspections", "sessions", False, sessions.read_session, (SessionDetailForm, InForceForm), None, InForceQuery, _FOLDER),
    Route("GET", "/system-prompt", "reading", "read", False, templates.read_template, TemplateForm),
    Route("PUT", "/system-prompt", "templates", "template", True, templates.set_template, TemplateForm, TemplateBody, SaveQuery, _SAVED),
    Route("GET", "/system-prompt/variables", "reading", "read", False, templates.list_variables, VariablesForm),
    Route("GET", "/system-prompt/versions", "reading", "read", False, templates.list_versions, forms.VersionsForm, None, VersionsQuery, _STORE),
    Route("POST", "/system-prompt/versions/{version}/restore", "templates", "template", True,
          templates.restore_template, TemplateForm, None, RestoreQuery, _RESTORED),
    Route("GET", "/system-prompt/usage", "reading", "read", False, templates.count_uses, forms.UsesForm, None, None, _STORE),
    Route("POST", "/system-prompt/preview", "templates", "read", False,
          templates.preview, (forms.PreviewForm, forms.CompactPreviewForm), PreviewBody, None, _TEMPLATE),
    Route("POST", "/system-prompt/check", "templates", "read", False, templates.check, forms.FindingsForm, CheckBody, None, _FOLDER),
    Route("POST", "/system-prompt/values", "templates", "read", False, templates.list_values, forms.ValuesForm, ValuesBody, None, _FOLDER),
    Route("GET", "/templates", "reading", "read", False, named_templates.list_templates, forms.TemplatesForm, None, NamesQuery, _STORE),
    Route("GET", "/templates/{name}", "reading", "read", False, named_templates.read_named_template, TemplateForm, None, LabelQuery, _STORED),
    Route("PUT", "/templates/{name}", "templates", "template", True,
          named_templates.save_named_template, forms.SavedVersionForm, TemplateBody, SaveQuery, _SAVED),
    Route("DELETE", "/templates/{name}", "reading", "admin", True, named_templates.delete_template, DeletedTemplateForm, None, None, _DELETED),
    Route("GET", "/templates/{name}/versions", "reading", "read", False,
          named_templates.list_named_versions, forms.NamedVersionsForm, None, VersionsQuery, _STORED),
    Route("POST", "/templates/{name}/versions", "templates", "template", True,
          named_templates.add_named_version, forms.SavedVersionForm, TemplateBody, SaveVersionQuery, _SAVED),
    Route("GET", "/templates/{name}/versions/{version}", "reading", "read", False, named_templates.read_named_version, TemplateForm, None, None, _STORED),
    Route("GET", "/templates/{name}/labels/{label}", "reading", "read", False, named_templates.read_label, MoveForm, None, None, _STORED),
    Route("PUT", "/templates/{name}/labels/{label}", "templates", "template", True,
          named_templates.move_label, MoveForm, LabelBody, None, (*_LABEL, "invalid-template")),
    Route("DELETE", "/templates/{name}/labels/{label}", "reading", "template", True, named_templates.remove_label, MoveForm, None, AuthorQuery, _DELETED),
    Route("GET", "/files", "questions", "read", False, templates.list_files, forms.EntriesForm, None, FilesQuery, _FOLDER),
    Route("GET", "/layouts", "questions", "read", False, templates.list_layouts, forms.LayoutsForm, None, LayoutsQuery, _FOLDER),
    Route("GET", "/layouts/keys", "reading", "read", False, about.list_layout_keys, forms.LayoutKeysForm),
    Route("GET", "/tools", "inline", "read", False, about.list_tools, forms.ToolsForm),
    Route("GET", "/roots", "inline", "read", False, templates.list_roots, forms.RootsForm),
    Route("GET", "/token", "inline", "read", False, about.read_token, forms.TokenForm),
    Route("GET", "/healthz", "inline", "none", False, about.healthz, forms.StatusForm),
    Route("GET", "/readyz", "reading", "none", False, about.readyz, forms.StatusForm, None, None, _STORE),
    Route("GET", "/metrics", "inline", "read", False, about.metrics, str),
    Route("GET", "/openapi.json", "reading", "read", False, openapi, dict),
    Route("GET", "/", "reading", "none", False, page, None),
    Route("GET", "/static/{name}", "reading", "none", False, about.static, None),
)  # fmt: skip
