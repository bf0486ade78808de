#!/bin/sh
# A chat from a shell that sends the prompts of the layout opal: `foreword serve` builds each request. Needs curl and jq.
# It contains no prompt code, but it is not an agent: it shows the first tool call and stops. See sidecar.mjs for a loop that runs tools.
#
#     foreword serve --root . &
#     sh opal.sh "What is this project?" "And how is it tested?"
#
# Run both in a folder with an AGENTS.md. With PRINT=1, requests are printed instead of sent.
set -eu
url=${FOREWORD_URL:-http://127.0.0.1:8371}
provider=${OPENAI_BASE_URL:-https://api.openai.com/v1}
model=gpt-5.6
tools=$(jq -nc 'def tool($name; $about; $key): {name: $name, description: $about,
        schema: {type: "object", properties: {($key): {type: "string"}}, required: [$key]}};
    [tool("read_file"; "Reads a file."; "path"), tool("shell"; "Runs a command."; "command"), tool("use_skill"; "Loads a skill."; "name")]')

# Send a request to the provider, or print it, and write the model's message.
send() {
    if [ "${PRINT:-}" ]; then
        printf '%s\n' "$1" >&3
        printf '{"role": "assistant", "content": "Printed."}'
    else
        printf '%s' "$1" | jq -c --arg model "$model" '. + {model: $model}' |
            curl -sS --fail-with-body "$provider/chat/completions" -H "Authorization: Bearer ${OPENAI_API_KEY:-}" \
                -H 'Content-Type: application/json' --data-binary @- | jq -c '.choices[0].message' | tee /dev/fd/3
    fi
}

exec 3>&1
messages='[]'
for message in "$@"; do
    turn=$(jq -nc --arg cwd "$PWD" --arg model "$model" --arg message "$message" --argjson tools "$tools" --argjson messages "$messages" \
        '{cwd: $cwd, layout: "opal", model: $model, tools: $tools, messages: $messages, message: $message, form: "openai-chat"}' |
        curl -sS --fail-with-body "$url/conversations/opal/turn" -H "Authorization: Bearer ${FOREWORD_TOKEN:-none}" --data-binary @-)
    reply=$(send "$(printf '%s' "$turn" | jq -c .request)")
    [ "$(printf '%s' "$reply" | jq '.tool_calls | length')" = 0 ] || break
    messages=$(printf '%s' "$turn" | jq -c --argjson reply "$reply" '.history + [$reply]')
done
