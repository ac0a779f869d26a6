#!/bin/sh
# Audits the policies of the current folder in a plain container: any machine with Docker or Podman, and nothing else.
# The folder tcdp-audit is a copy of its repository: no package index has it yet.
# Usage: container.sh [ARGUMENT OF tcdp-audit check]...; the exit code is the verdict (3 also where
# tcdp-audit cannot be installed), and each policy gets a report of its name.
set -eu
exec "${CONTAINER:-docker}" run --rm \
    --user "$(id -u):$(id -g)" --env HOME=/tmp \
    --volume "$PWD:/audit" --workdir /audit \
    "${IMAGE:-python:3.12}" \
    sh -c 'python -m venv /tmp/venv && . /tmp/venv/bin/activate &&
        pip install --quiet ./tcdp-audit || exit 3; exec tcdp-audit check "$@"' tcdp-audit --report '{policy}.html' "$@"
