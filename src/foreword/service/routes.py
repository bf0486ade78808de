"""The table of routes, from which the router, the OpenAPI document and the documentation are built."""

from __future__ import annotations

from ..encoding.forms import CandidateForm
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
    SkillForm,
    TemplateForm,
    TouchedForm,
    TurnForm,
    VariablesForm,
    WatchForm,
)
from ..wire.git_forms import AuthorshipForm, AuthorSumsForm, LockForm, ReviewForm
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
    FilesQuery,
    LabelBody,
    LabelQuery,
    LayoutsQuery,
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
    BlameBody,
    CacheBody,
    DiffBody,
    EventsQuery,
    LintBody,
    PathsBody,
    QuestionBody,
    RepositoryBody,
    ReviewBody,
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
_RESTORED = ("not-found", "invalid-template", "store-down")
_SAVED = ("template-changed", "invalid-template", "store-down")
_LABEL = ("not-found", "template-changed", "store-down")
_DELETED = ("not-found", "in-use", "store-down")
_QUESTION = ("outside-roots", "not-found", "invalid-template", "template-not-rendered", "invalid-layout", "store-down")
ROUTES = (
    Route("GET", "/conversations/{id}", conversations.read_conversation, EditionForm, None, None, ("not-found", "store-down"), True),
    Route("POST", "/conversations/{id}/turn", conversations.turn, TurnForm, TurnBody, None, _CONVERSATION, reads_ahead=True),
    Route("POST", "/conversations/{id}/construct", conversations.construct, TurnForm, AgentBody, None, _CONVERSATION),
    Route("POST", "/conversations/{id}/compact", conversations.compact, TurnForm, CompactBody, None, _CONVERSATION),
    Route("POST", "/conversations/{id}/reload", conversations.reload, TurnForm, AgentBody, None, _CONVERSATION),
    Route("POST", "/conversations/{id}/skills/{name}", conversations.use_skill, MessageForm, AgentBody, None, _CONVERSATION),
    Route("POST", "/conversations/{id}/tools/{name}", conversations.call_tool, forms.ToolResultForm, CallBody, None, _CONVERSATION),
    Route("POST", "/conversations/{id}/touch", conversations.touch, TouchedForm, TouchBody, None, _CONVERSATION),
    Route("POST", "/conversations/{id}/sub-agents", conversation_events.start_sub_agent, TurnForm, SubAgentBody, None, _CONVERSATION),
    Route("POST", "/conversations/{id}/messages", conversation_events.add_message, forms.WaitingForm, MessageBody, None, _CONVERSATION),
    Route("POST", "/conversations/{id}/resources", conversation_events.add_resources, TurnForm, ResourcesBody, None, _CONVERSATION),
    Route("POST", "/conversations/{id}/registry", conversation_events.refresh_registry, TurnForm, RegistryBody, None, _CONVERSATION),
    Route("POST", "/conversations/{id}/usage", conversations.record_usage, RecordedForm, UsageBody, None, ("not-found", "store-down")),
    Route("GET", "/conversations/{id}/editions", conversations.list_editions, forms.EditionsForm, None, None, ("not-found", "store-down")),
    Route("GET", "/conversations/{id}/editions/{number}", conversations.read_edition, EditionForm, None, None, ("not-found", "store-down")),
    Route("GET", "/conversations/{id}/drift", conversations.read_drift, DriftForm, None, DriftQuery, _CONVERSATION),
    Route("DELETE", "/conversations/{id}", conversations.forget, ForgottenForm, None, None, ("not-found", "store-down")),
    Route("GET", "/conversations", conversation_lists.list_conversations, forms.ConversationsForm, None, ListQuery, _STORED),
    Route("GET", "/usage", conversation_lists.read_usage, forms.UsageTotalForm, None, ConversationsQuery, _STORED),
    Route("GET", "/prompts/{id}", conversations.read_prompt, forms.StoredPromptForm, None, None, ("not-found", "store-down")),
    Route("POST", "/show", questions.show, ShowForm, ShowBody, None, _QUESTION),
    Route("POST", "/why", questions.why, list[CandidateForm], WhyBody, None, _QUESTION),
    Route("POST", "/blame", questions.blame, (list[LineForm], AuthorshipForm, AuthorSumsForm), BlameBody, None, _QUESTION),
    Route("POST", "/tokens", questions.tokens, CountedForm, TokensBody, None, _QUESTION),
    Route("POST", "/touch", questions.touch_files, TouchedForm, PathsBody, None, _QUESTION),
    Route("POST", "/diff", questions.diff, DifferenceForm, DiffBody, None, _QUESTION),
    Route("POST", "/cache", questions.cache, (CacheForm, CacheReusesForm), CacheBody, None, _QUESTION),
    Route("POST", "/agents", questions.agents, AgentsForm, AgentsBody, None, _QUESTION),
    Route("POST", "/lint", questions.lint, LintForm, LintBody, None, _QUESTION),
    Route("POST", "/review", questions.review, ReviewForm, ReviewBody, None, _QUESTION),
    Route("POST", "/lock", questions.lock, LockForm, RepositoryBody, None, _QUESTION),
    Route("GET", "/events", events.watch, WatchForm, None, EventsQuery, _QUESTION, is_stream=True),
    Route("GET", "/skills", questions.list_skills, list[SkillForm], None, SkillsQuery, _QUESTION),
    Route("POST", "/skills/{name}", questions.read_skill, MessageForm, QuestionBody, None, _QUESTION),
    Route("GET", "/system-prompt", templates.read_template, TemplateForm),
    Route("PUT", "/system-prompt", templates.set_template, TemplateForm, TemplateBody, SaveQuery, _SAVED, is_template=True),
    Route("GET", "/system-prompt/variables", templates.list_variables, VariablesForm),
    Route("GET", "/system-prompt/versions", templates.list_versions, forms.VersionsForm, None, VersionsQuery, ("store-down",)),
    Route("POST", "/system-prompt/versions/{version}/restore", templates.restore_template, TemplateForm, None, RestoreQuery, _RESTORED, is_template=True),
    Route("GET", "/system-prompt/usage", templates.count_uses, forms.UsesForm, None, None, ("store-down",)),
    Route("POST", "/system-prompt/preview", templates.preview, (forms.PreviewForm, forms.CompactPreviewForm), PreviewBody, None, _TEMPLATE, is_template=True),
    Route("POST", "/system-prompt/check", templates.check, forms.FindingsForm, CheckBody, None, ("outside-roots", "not-found"), is_template=True),
    Route("POST", "/system-prompt/values", templates.list_values, forms.ValuesForm, ValuesBody, None, ("outside-roots", "not-found"), is_template=True),
    Route("GET", "/templates", named_templates.list_templates, forms.TemplatesForm, None, NamesQuery, ("store-down",)),
    Route("GET", "/templates/{name}", named_templates.read_named_template, TemplateForm, None, LabelQuery, ("not-found", "store-down")),
    Route("PUT", "/templates/{name}", named_templates.save_named_template, forms.SavedVersionForm, TemplateBody, SaveQuery, _SAVED, is_template=True),
    Route("DELETE", "/templates/{name}", named_templates.delete_template, DeletedTemplateForm, None, None, _DELETED),
    Route("GET", "/templates/{name}/versions", named_templates.list_named_versions, forms.NamedVersionsForm, None, VersionsQuery, ("not-found", "store-down")),
    Route("POST", "/templates/{name}/versions", named_templates.add_named_version, forms.SavedVersionForm, TemplateBody, SaveVersionQuery,
          _SAVED, is_template=True),
    Route("GET", "/templates/{name}/versions/{version}", named_templates.read_named_version, TemplateForm, None, None, ("not-found", "store-down")),
    Route("GET", "/templates/{name}/labels/{label}", named_templates.read_label, MoveForm, None, None, ("not-found", "store-down")),
    Route("PUT", "/templates/{name}/labels/{label}", named_templates.move_label, MoveForm, LabelBody, None, (*_LABEL, "invalid-template"), is_template=True),
    Route("DELETE", "/templates/{name}/labels/{label}", named_templates.remove_label, MoveForm, None, AuthorQuery, _DELETED),
    Route("GET", "/files", templates.list_files, forms.EntriesForm, None, FilesQuery, ("outside-roots", "not-found")),
    Route("GET", "/layouts", templates.list_layouts, forms.LayoutsForm, None, LayoutsQuery, ("outside-roots", "not-found")),
    Route("GET", "/layouts/keys", about.list_layout_keys, forms.LayoutKeysForm),
    Route("GET", "/tools", about.list_tools, forms.ToolsForm, is_inline=True),
    Route("GET", "/roots", templates.list_roots, forms.RootsForm, is_inline=True),
    Route("GET", "/token", about.read_token, forms.TokenForm, is_inline=True),
    Route("GET", "/healthz", about.healthz, forms.StatusForm, is_inline=True, is_open=True),
    Route("GET", "/readyz", about.readyz, forms.StatusForm, None, None, ("store-down",), is_open=True),
    Route("GET", "/metrics", about.metrics, str, is_inline=True),
    Route("GET", "/openapi.json", openapi, dict),
    Route("GET", "/", page, None, is_open=True),
    Route("GET", "/static/{name}", about.static, None, is_open=True),
)  # fmt: skip
