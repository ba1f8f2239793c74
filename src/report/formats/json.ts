import type { Finding, NodeFailure, Verdict } from '../../rules/model/finding.ts'

/** The object that `check -o json` prints: exactly the keys of the command line's contract, in its order. */
export function verdictJson(verdict: Verdict): Record<string, unknown> {
  return {
    result: verdict.result,
    summary: verdict.summary,
    clusters: verdict.clusters.map(({ name, path, how }) => ({ name, path, how })),
    tenants: verdict.tenants.map(({ name, clusters, namespaces, identities }) => ({
      name,
      clusters,
      namespaces,
      identities,
    })),
    violations: verdict.violations.map(findingJson),
    warnings: verdict.warnings.map(findingJson),
    errors: verdict.errors.map(failureJson),
    notSeen: verdict.notSeen.map(({ source, url, reason }) => ({ source, url, reason })),
    notReached: verdict.notReached.map(({ id, origin, reason }) => ({ id, origin: originJson(origin), reason })),
    requiredApprovals: verdict.requiredApprovals.map(({ rule, message, path }) => ({ rule, message, path })),
    evaluated: verdict.evaluated,
    ...(verdict.filter ? { filter: verdict.filter } : {}),
    ...(verdict.notEvaluated.length > 0 ? { notEvaluated: verdict.notEvaluated.map(findingJson) } : {}),
  }
}

function findingJson(finding: Finding): Record<string, unknown> {
  const {
    rule,
    severity,
    state,
    cluster,
    tenant,
    identity,
    object,
    field,
    origin,
    via,
    message,
    fix,
    fingerprint,
    cause,
  } = finding
  const { apiVersion, kind, namespace, name } = object
  return {
    rule,
    severity,
    state,
    cluster,
    tenant,
    identity,
    object: { apiVersion, kind, namespace, name },
    field,
    origin: originJson(origin),
    via: via.map(({ step, file, line }) => ({ step, file, line })),
    message,
    fix,
    fingerprint,
    ...(cause === undefined ? {} : { cause }),
  }
}

function failureJson(failure: NodeFailure): Record<string, unknown> {
  const { code, state, cluster, tenant, node, message, fix, origin, fingerprint, hides } = failure
  return { code, state, cluster, tenant, node, message, fix, origin: originJson(origin), fingerprint, hides }
}

function originJson({ repository, file, line, column }: Finding['origin']) {
  return { repository, file, line, column }
}
