"""Writes small logs of Copilot CLI, pi, Gemini CLI, Qwen Code and OpenCode. Each request is (fresh, read, out)."""

import json
import sqlite3

from session_logs import START, stamp


def write_rows(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))
    return path


def pi_rows(cwd, requests, session="01a1eaa4-375f-71d4-a200-5da0005e4194"):
    """Return a session in which each message follows the one before it."""
    tool = {"name": "read", "description": "Read a file."}
    head = [("system", {"sections": {"preamble": "You are pi. " * 200}, "toolsAdded": [tool]})]
    rows = [{"type": "session", "version": 3, "id": session, "timestamp": stamp(0), "cwd": str(cwd)}]
    for index, (fresh, read, out) in enumerate(requests):
        usage = {"input": fresh, "output": out, "cacheRead": read, "cacheWrite": 0}
        answer = {
            "content": [{"type": "text", "text": f"Answer {index}. " * 50}],
            "model": "gpt-5.6-terra",
            "usage": usage,
        }
        head += [("user", {"content": f"Message {index}. " * 50}), ("assistant", answer)]
    for number, (role, fields) in enumerate(head):
        parent = f"{number - 1:08x}" if number else None
        row = {"type": "message", "id": f"{number:08x}", "parentId": parent, "timestamp": stamp(number)}
        rows.append({**row, "message": {"role": role, **fields}})
    return rows


def write_pi(home, rows):
    return write_rows(home / ".pi" / "agent" / "sessions" / "--repo--" / f"2026_{rows[0]['id']}.jsonl", rows)


def gemini_rows(requests, session="d21076a0-fa20-4df0-ac34-1b78c83fcd3e"):
    rows = [{"sessionId": session, "projectHash": "6439", "startTime": stamp(0), "kind": "main"}]
    for index, (fresh, read, out) in enumerate(requests):
        tokens = {"input": fresh + read, "output": out, "cached": read, "thoughts": 0, "tool": 0}
        rows.append(
            {"id": f"u{index}", "timestamp": stamp(index), "type": "user", "content": [{"text": f"Go {index}"}]}
        )
        row = {"id": f"g{index}", "timestamp": stamp(index), "type": "gemini", "content": "Done."}
        rows.append({**row, "model": "gemini-2.5-pro", "tokens": tokens})
    return rows


def write_gemini(home, rows, name="session-2026-11-17T17-45-d21076a0"):
    return write_rows(home / ".gemini" / "tmp" / "repo" / "chats" / f"{name}.jsonl", rows)


def copilot_rows(cwd, requests):
    start = {"copilotVersion": "1.0.102", "context": {"cwd": str(cwd), "gitRoot": str(cwd), "branch": "main"}}
    rows = [{"type": "session.start", "data": start, "id": "s", "timestamp": stamp(0)}]
    for index, (fresh, read, out) in enumerate(requests):
        usage = {"model": "gpt-5.6-terra", "inputTokens": fresh + read, "outputTokens": out, "cacheReadTokens": read}
        usage |= {"apiCallId": f"call-{index}", "availableToolCount": 19, "toolTokenCount": 900}
        rows.append(
            {"type": "user.message", "data": {"content": f"Go {index}"}, "id": f"u{index}", "timestamp": stamp(index)}
        )
        rows.append(
            {"type": "session.usage_record", "data": {"usage": usage}, "id": f"r{index}", "timestamp": stamp(index)}
        )
    return rows


def copilot_compaction(fresh, read, out):
    usage = {"model": "gpt-5.6-terra", "inputTokens": fresh + read, "outputTokens": out, "cacheReadTokens": read}
    data = {"success": True, "compactionTokensUsed": usage, "summaryContent": "Short."}
    return {"type": "session.compaction_complete", "data": data, "id": "c0", "timestamp": stamp(9)}


def write_copilot(home, rows, session="7585fddb-8ba8-4230-8180-4d6a6dcfcd60"):
    return write_rows(home / ".copilot" / "session-state" / session / "events.jsonl", rows)


def qwen_rows(cwd, requests, session="5a0c2f68-1111-4c7e-9d3b-000000000001"):
    common = {"sessionId": session, "cwd": str(cwd), "gitBranch": "main", "version": "0.24.4"}
    rows = []
    for index, (fresh, read, out) in enumerate(requests):
        event = {"event.name": "qwen-code.api_response", "model": "qwen3-coder-plus", "response_id": f"resp-{index}"}
        event |= {"input_token_count": fresh + read, "cached_content_token_count": read, "output_token_count": out}
        row = {"uuid": f"q{index}", "timestamp": stamp(index), **common}
        rows.append({**row, "type": "user", "message": {"parts": [{"text": f"Go {index}"}]}})
        rows.append({**row, "type": "system", "subtype": "ui_telemetry", "systemPayload": {"uiEvent": event}})
    return rows


def write_qwen(home, rows):
    return write_rows(home / ".qwen" / "projects" / "-repo" / "chats" / f"{rows[0]['sessionId']}.jsonl", rows)


def write_opencode(home, cwd, sessions):
    """Write a database with these sessions: {id: (parent, requests)}."""
    path = home / ".local" / "share" / "opencode" / "opencode.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    connection.executescript(
        "CREATE TABLE session (id, directory, version, parent_id, time_updated);"
        "CREATE TABLE message (id, session_id, data, time_created, time_updated);"
        "CREATE TABLE part (id, message_id, session_id, data, time_created);"
    )
    for name, (parent, requests) in sessions.items():
        connection.execute("INSERT INTO session VALUES (?, ?, '1.18.34', ?, 1)", (name, str(cwd), parent))
        for index, (fresh, read, out) in enumerate(requests):
            time = (START + index) * 1000
            tokens = {"input": fresh, "output": out, "reasoning": 0, "cache": {"read": read, "write": 0}}
            data = {
                "role": "assistant",
                "modelID": "gpt-5.6-terra",
                "time": {"created": time, "completed": time + 9},
                "tokens": tokens,
            }
            row = (f"{name}-{index}", name, json.dumps(data), time, time)
            connection.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", row)
    connection.commit()
    connection.close()
    return path
