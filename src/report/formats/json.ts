import type { Finding, FindingPolicy, NodeFailure, Verdict } from '../../rules/model/finding.ts'
import { blastRadius } from '../policies/blast-radius.ts'

/** The object that `check -o json` prints: exactly the keys of the command line's contract, in its order. */
export function verdictJson(verdict: Verdict): Record<string, unknown> {
  const impact = blastRadius(verdict)
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
    ...(verdict.changedFiles ? { changedFiles: verdict.changedFiles } : {}),
    evaluated: verdict.evaluated,
    ...(verdict.filter ? { filter: verdict.filter } : {}),
    ...(impact.length > 0 ? { policyImpact: impact } : {}),
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
    policy,
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
    ...(policy ? { policy: policyJson(policy) } : {}),
  }
}

function policyJson({ kind, namespace, name, rule, action, origin, isUnchanged }: FindingPolicy) {
  const { repository, file, line } = origin
  return {
    ...{ kind, namespace, name, rule, action },
    origin: { repository, file, line },
    objectUnchanged: isUnchanged === true,
  }
}

function failureJson(failure: NodeFailure): Record<string, unknown> {
  const { code, state, cluster, tenant, node, message, fix, origin, fingerprint, hides, since } = failure
  return { code, state, cluster, tenant, node, message, fix, origin: originJson(origin), fingerprint, hides, since }
}

function originJson({ repository, file, line, column }: Finding['origin']) {
  return { repository, file, line, column }
}
