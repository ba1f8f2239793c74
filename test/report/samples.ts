import { forbidden } from '../../src/kube/rbac/policy-rule.ts'
import type { Finding, NodeFailure, Verdict } from '../../src/rules/model/finding.ts'

export const FLEET = 'https://github.com/acme/fleet'
export const OPS = 'https://github.com/acme/ops-team'

const DASHBOARD = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'apps', name: 'dashboard' }

/** A Deployment that an overlay patch of ops-team moves into another tenant's namespace. */
export function finding(over: Partial<Finding> = {}): Finding {
  const { identity = 'system:serviceaccount:ops:ops-team', object = DASHBOARD } = over
  return {
    ...(over.rule === undefined
      ? {
          clusterAnswer: `\`${forbidden({ name: identity, groups: [] }, { verb: 'patch', apiGroup: 'apps', resource: 'deployments', namespace: object.namespace, name: object.name })}\``,
        }
      : {}),
    rule: 'namespace-confinement',
    level: 'violation',
    severity: 'critical',
    state: 'new',
    cluster: 'staging',
    tenant: 'ops-team',
    identity,
    object,
    field: '/metadata/namespace',
    origin: { repository: OPS, file: 'steal.yaml', line: 5, column: 14 },
    via: [
      { step: 'patch', file: 'kustomization.yaml', line: 6 },
      { step: 'kustomization', file: 'tenants/base/ops-team/sync.yaml', line: 13 },
    ],
    message:
      'Deployment apps/dashboard lies in namespace "apps", which belongs to tenant dev-team; tenant ops-team may write to ops.',
    fix: 'Set `metadata.namespace` to ops.',
    node: 'staging/ops/ops-team',
    fingerprint: 'f1',
    ...over,
  }
}

export function failure(over: Partial<NodeFailure> = {}): NodeFailure {
  return {
    code: 'kustomize-unsupported',
    state: 'new',
    message: 'field "replacements" of a kustomization is not supported yet',
    fix: 'Write the value where it is needed.',
    origin: { repository: OPS, file: 'kustomization.yaml', line: 4, column: 1 },
    cluster: 'staging',
    tenant: 'ops-team',
    node: 'staging/ops/ops-team',
    fingerprint: 'e1',
    hides: 'h1',
    ...over,
  }
}

export function verdict(over: Partial<Verdict> = {}): Verdict {
  return {
    result: 'pass',
    summary: 'Passed.',
    clusters: [
      { name: 'production', path: 'clusters/production', how: 'layout' },
      { name: 'staging', path: 'clusters/staging', how: 'layout' },
    ],
    tenants: [
      {
        name: 'dev-team',
        clusters: ['production', 'staging'],
        namespaces: ['apps'],
        identities: ['system:serviceaccount:apps:dev-team'],
      },
      {
        name: 'ops-team',
        clusters: ['staging'],
        namespaces: ['ops'],
        identities: ['system:serviceaccount:ops:ops-team'],
      },
    ],
    violations: [],
    warnings: [],
    errors: [],
    notSeen: [],
    notReached: [],
    notEvaluated: [],
    requiredApprovals: [],
    evaluated: {
      clusters: 2,
      tenants: 2,
      kustomizations: { reached: 6, present: 6 },
      objects: 40,
      releases: 0,
      holes: 0,
    },
    revisionSet: '0123456789abcdef0123456789abcdef',
    ...over,
  }
}

/** Two objects that one patch moves, and a Secret in plain text in the fleet's repository. */
export const twoViolations = () =>
  verdict({
    result: 'fail',
    violations: [
      finding({
        rule: 'plaintext-secret',
        severity: 'high',
        object: { apiVersion: 'v1', kind: 'Secret', namespace: 'ops', name: 'token' },
        field: '/stringData/token',
        origin: { repository: OPS, file: 'base/secret.yaml', line: 7, column: 3 },
        via: [],
        message: 'Secret ops/token holds the value of "token" in plain text; allowed is a value encrypted by SOPS.',
        fix: 'Encrypt the file with `sops --encrypt --in-place base/secret.yaml` and change the secret itself: it is in git.',
        clusterAnswer: 'none: the API server accepts it. Everyone who can read the repository can read the value',
      }),
      finding(),
    ],
  })

export const HOSTILE = '`](https://evil.example) @org/everyone <img src=//e> fixes #1 |\u202e\n## approved\n'

export const hostile = () =>
  verdict({
    result: 'fail',
    clusters: [{ name: HOSTILE, path: 'clusters/x', how: 'layout' }],
    tenants: [{ name: HOSTILE, clusters: [HOSTILE], namespaces: [HOSTILE], identities: [HOSTILE] }],
    violations: [
      finding({
        cluster: HOSTILE,
        tenant: HOSTILE,
        identity: HOSTILE,
        object: { apiVersion: HOSTILE, kind: HOSTILE, namespace: HOSTILE, name: HOSTILE },
        field: HOSTILE,
        origin: { repository: OPS, file: HOSTILE, line: 1, column: 1 },
        via: [{ step: 'patch', file: HOSTILE, line: 2 }],
        message: `Object ${HOSTILE} is not allowed`,
        fix: `Remove ${HOSTILE}.`,
        clusterAnswer: 'none: Flux applies it with its own rights (cluster-admin)',
      }),
    ],
    notSeen: [{ source: HOSTILE, url: HOSTILE, reason: HOSTILE }],
  })

export const overLong = () =>
  verdict({
    result: 'fail',
    violations: Array.from({ length: 400 }, (_, index) =>
      finding({
        object: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'apps', name: `web-${index}` },
        origin: { repository: OPS, file: `web-${String(index).padStart(3, '0')}.yaml`, line: 4, column: 3 },
        fingerprint: `f${index}`,
      }),
    ),
  })
