#!/bin/sh
# Starts the suspended merge Job when the ingest Job is complete, and ends as the merge ends.
#
#   merge-when-ingested.sh [INGEST-JOB [MERGE-JOB]]       default: dreamdb-ingest dreamdb-merge
#
# Needs kubectl with the right to get, list, watch and patch Jobs and to read pods and their logs.
# Exit status: 0 merged; 1 the merge failed (its log is printed); 2 the ingest failed, nothing merged.
set -eu
ingest=${1:-dreamdb-ingest}
merge=${2:-dreamdb-merge}

# ended JOB: waits until the Job is complete (0) or failed (1). `kubectl wait` takes one condition only
# and would wait for ever for a Job that failed, so the two take turns.
ended() {
  kubectl get job "$1" -o name >/dev/null
  while :; do
    if kubectl wait --for=condition=complete "job/$1" --timeout=5s >/dev/null 2>&1; then return 0; fi
    if kubectl wait --for=condition=failed "job/$1" --timeout=1s >/dev/null 2>&1; then return 1; fi
  done
}

if ! ended "$ingest"; then
  echo "job $ingest failed; nothing was merged" >&2
  kubectl get job "$ingest" -o jsonpath='{.status.conditions[*].message}{"\n"}' >&2
  exit 2
fi
kubectl patch job "$merge" --patch '{"spec":{"suspend":false}}' >/dev/null
if ended "$merge"; then
  kubectl logs "job/$merge" --tail=50 || true
  exit 0
fi
echo "job $merge failed" >&2
kubectl get job "$merge" -o jsonpath='{.status.conditions[*].message}{"\n"}' >&2
kubectl logs --selector "batch.kubernetes.io/job-name=$merge" --tail=50 >&2 || true
exit 1
