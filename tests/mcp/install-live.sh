#!/usr/bin/env bash
# Installs the pinned public MCP servers that the live tests use, into the directory given as the only argument:
#   tests/mcp/install-live.sh /tmp/live && MCPANE_LIVE=1 MCPANE_LIVE_DIR=/tmp/live cargo test --test mcp live
# Needs npm, python3 with venv, and the two registries; the Node that the servers run on is installed too. What is there already is left alone.
# Prints the directory's full path, and nothing else on standard output.
set -euo pipefail
dir=${1:?usage: install-live.sh DIRECTORY}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)

node_packages=(
  node@22.23.3
  @modelcontextprotocol/server-everything@2026.8.31
  @modelcontextprotocol/server-filesystem@2026.8.31
)
if [ ! -e "$dir/node/done" ]; then
  mkdir -p "$dir/node"
  npm install --prefix "$dir/node" --no-audit --no-fund --loglevel=error "${node_packages[@]}" >&2
  touch "$dir/node/done"
fi

# One environment for each: the one that is known to break must not depend on what the other one needs.
for package in mcp-server-time==2026.10.19 mcp-server-sqlite==2025.4.25; do
  env="$dir/python/${package%%==*}"
  if [ ! -e "$env/done" ]; then
    python3 -m venv "$env"
    "$env/bin/pip" install --quiet --disable-pip-version-check "$package" >&2
    touch "$env/done"
  fi
done
echo "$dir"
