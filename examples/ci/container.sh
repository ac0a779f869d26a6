#!/bin/sh
# Audits the policies of the current folder in a plain container: any machine with Docker or Podman, and nothing else.
# Usage: container.sh [ARGUMENT OF tcdp-audit check]...; the exit code is the verdict.
set -eu
exec "${CONTAINER:-docker}" run --rm \
    --volume "$PWD:/audit" --workdir /audit \
    --env "PIP_ROOT_USER_ACTION=ignore" --env "PIP_DISABLE_PIP_VERSION_CHECK=1" \
    "${IMAGE:-python:3.12}" \
    sh -c 'python -m pip install --quiet tcdp-audit && exec tcdp-audit check "$@"' tcdp-audit \
    --report report.html "$@"
