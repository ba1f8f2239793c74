import { expect, test } from 'vitest'
import { type ApplySettings, DEFAULT_SETTINGS } from '../../../src/flux/apply-settings.ts'
import type { EvaluatedNode } from '../../../src/rules/model/finding.ts'
import { type ApprovalState, approve } from '../../../src/verdict/approve.ts'
import { CLUSTER, combinationOf, evaluateFleet, FLEET, headsOf, keyOf, mayApply, type World } from './approval-world.ts'

/** A world in which every node is clean, found by looking. */
const clean = worlds().find(world =>
  ['root', 'tenants', 'own', 'team', 'child'].every(name => mayApply(world, name as 'root')),
)!

function worlds(): World[] {
  return Array.from({ length: 500 }, (_, n) => ({
    fleetCommit: n,
    fleetContent: n,
    teamCommit: n,
    teamContent: n,
    engine: 0,
  }))
}

function ready(nodes: readonly EvaluatedNode[], more: Partial<ApprovalState['binding']> = {}) {
  const binding = { cluster: CLUSTER, fleet: FLEET, branch: 'main', ...more }
  const evaluated = { revisionSet: combinationOf(clean), nodes, baseline: [] }
  return approve({ binding, evaluated, heads: headsOf(clean) })
}

const changed = (name: string, change: Partial<EvaluatedNode>) =>
  evaluateFleet(clean).map(node => (node.name === name ? { ...node, ...change } : node))

test('applies every clean node, parents first', () => {
  expect(ready(evaluateFleet(clean)).apply.map(node => node.name)).toEqual(['root', 'tenants', 'own', 'team', 'child'])
})

test('a red tenant holds its own children and nobody else', () => {
  const { apply, held } = ready(changed('team', { impersonated: false }))
  expect(apply.map(node => node.name)).toEqual(['root', 'tenants', 'own'])
  expect(held).toEqual([
    { node: keyOf('team'), reason: 'it impersonates no account' },
    { node: keyOf('child'), reason: `its parent ${keyOf('team')} is held back`, by: 'parent' },
  ])
})

test.each<[string, Partial<EvaluatedNode>, string]>([
  [
    'objects that are not the judged ones',
    { objects: ['{"evil":true}'] },
    'its objects differ from the evaluated ones',
  ],
  [
    'a commit that its source does not hold',
    { source: { ...evaluateFleet(clean)[3]!.source, commit: 'b'.repeat(40) } },
    'its source is at another commit now',
  ],
  ['a user of blanks', { user: ' ' }, 'it impersonates no account'],
  [
    'a setting that cannot be read',
    {
      problems: [
        {
          message: 'spec.wait is not true or false',
          fix: 'Write true or false at spec.wait.',
          origin: { repository: FLEET, file: 'team.yaml', line: 7, column: 9 },
        },
      ],
    },
    `spec.wait is not true or false (team.yaml:7 of ${FLEET}). Write true or false at spec.wait.`,
  ],
  ['a field that the worker does not honour', { refused: ['spec.wait'] }, 'the worker does not support spec.wait yet'],
  [
    'a parent that nobody judged',
    { parent: 'staging/flux-system/ghost' },
    'its parent staging/flux-system/ghost is not part of the evaluation',
  ],
])('holds a node with %s', (_what, change, reason) => {
  expect(ready(changed('team', change)).held).toContainEqual({ node: keyOf('team'), reason })
})

const EDGE = 'staging -> kubeconfig flux-system/edge'
const kubeConfig = { kind: 'Secret', name: 'edge', key: '' } as const
const remote = (more: Partial<EvaluatedNode> = {}): Partial<EvaluatedNode> => ({
  ...{ cluster: EDGE, hub: 'staging', user: 'kubeconfig flux-system/edge', impersonated: false },
  settings: { ...DEFAULT_SETTINGS, kubeConfig },
  ...more,
})
function listed(change: Partial<EvaluatedNode>, clusters: readonly string[]) {
  const nodes = changed('team', change)
  const { apply, held } = ready(nodes, { kubeConfigs: clusters.map(cluster => ({ cluster })) })
  if (apply.some(({ name }) => name === 'team')) return 'apply'
  return held.find(({ node }) => node === keyOf('team'))?.reason
}

test.each<[string, Partial<EvaluatedNode>, readonly string[], string]>([
  ['its server is listed as what it was evaluated as', remote(), [EDGE], 'apply'],
  [
    'an account is impersonated there',
    remote({ user: 'system:serviceaccount:a:b', impersonated: true }),
    [EDGE],
    'apply',
  ],
  ['a tenant by a proxy of this cluster', { settings: remote().settings! }, ['staging'], 'apply'],
  ['nothing is listed', remote(), [], `lists no API server for what is evaluated as ${EDGE}`],
  ['only this cluster is listed', remote(), ['staging'], `lists no API server for what is evaluated as ${EDGE}`],
  ['a tenant where only another cluster is listed', { settings: remote().settings! }, [EDGE], 'evaluated as staging'],
  ['it names no kubeConfig after all', remote({ settings: DEFAULT_SETTINGS }), [EDGE], 'it impersonates no account'],
  ['it is evaluated elsewhere without one', { cluster: EDGE, hub: 'staging' }, [EDGE], 'to which no kubeConfig leads'],
  ['a tenant that names no account', remote({ tenant: 'team' }), [EDGE], 'it impersonates no account'],
  [
    'the controller itself',
    remote({ user: 'system:serviceaccount:flux-system:kustomize-controller' }),
    [EDGE],
    'it impersonates no account',
  ],
  ['on its own cluster without an account', remote({ cluster: 'staging' }), ['staging'], 'it impersonates no account'],
])('with a kubeConfig: %s', (_what, change, clusters, expected) => {
  expect(listed(change, clusters)).toContain(expected)
})

test('holds both of two nodes with one key', () => {
  const nodes = evaluateFleet(clean)
  const { apply, held } = ready([...nodes, nodes[3]!])
  expect(apply.map(node => node.name)).not.toContain('team')
  expect(held.filter(one => one.node === keyOf('team'))).toHaveLength(2)
})

test('holds a node with a hole, and what hangs below it, whatever else is clean', () => {
  const { apply, held } = ready(changed('tenants', { holes: ['field "x" is not supported'] }))
  expect(apply.map(node => node.name)).toEqual(['root'])
  const reason = 'a part of it was left out of the evaluation: field "x" is not supported'
  expect(held[0]).toEqual({ node: keyOf('tenants'), reason })
  expect(held.map(one => one.node)).toEqual(['tenants', 'own', 'team', 'child'].map(name => keyOf(name as 'own')))
  // an empty list is none
  expect(ready(changed('tenants', { holes: [] })).held).toEqual([])
})

test('leaves nodes of other clusters alone', () => {
  expect(ready(evaluateFleet(clean).map(node => ({ ...node, cluster: 'production' }))).apply).toEqual([])
})

test('what decides how a node is applied is in its digest, and what decides when is not', () => {
  const digestOf = (change: Partial<EvaluatedNode>) =>
    ready(changed('team', change)).apply.find(node => node.name === 'team')?.applyDigest
  const settingsOf = (change: Partial<ApplySettings>) => digestOf({ settings: { ...DEFAULT_SETTINGS, ...change } })
  const plain = digestOf({})
  expect(plain).toMatch(/^[0-9a-f]{64}$/)
  expect(settingsOf({ intervalMs: 1, retryIntervalMs: 2, timeoutMs: 3, requestedAt: 'now' })).toBe(plain)
  const others = [
    digestOf({ user: 'system:serviceaccount:apps:other' }),
    digestOf({ prune: false }),
    settingsOf({ force: true }),
    settingsOf({ wait: true }),
    settingsOf({ deletionPolicy: 'Orphan' }),
    settingsOf({ ignore: [{ paths: ['/data'] }] }),
    settingsOf({ healthChecks: [{ apiVersion: 'v1', kind: 'Pod', namespace: 'a', name: 'b' }] }),
    settingsOf({ healthCheckExprs: [{ apiVersion: 'a/v1', kind: 'A', current: 'true' }] }),
  ]
  expect(new Set([plain, ...others]).size).toBe(others.length + 1)
})

const AWS = { service: 'aws', key: 'arn:aws:kms:eu-west-1:1:key/a' } as const
const VAULT = { service: 'vault', key: 'https://v/v1/sops/keys/a' } as const
const byServices = (...services: NonNullable<NonNullable<EvaluatedNode['decryption']>['services']>) => {
  const namespace = changed('team', {}).find(({ name }) => name === 'team')!.namespace
  const decide = (kmsKeys: readonly { service: 'aws' | 'vault'; key: string; namespaces: readonly string[] }[]) => {
    const nodes = changed('team', { decryption: { seals: [], services } })
    const { apply, held } = ready(nodes, { kmsKeys })
    if (apply.some(({ name }) => name === 'team')) return 'apply'
    return held.find(({ node }) => node === keyOf('team'))?.reason
  }
  return { namespace, decide }
}

test('what only a key of a service opens waits until the operator lists one for its namespace', () => {
  const { namespace, decide } = byServices([AWS, VAULT])
  const here = [namespace]
  expect(decide([])).toBe(
    `a file is encrypted for AWS KMS key ${AWS.key} or HashiCorp Vault key ${VAULT.key}, and clusters.yaml does not list it for the namespace ${namespace}. List it under kmsKeys of ${CLUSTER}, or add an age or PGP recipient with \`sops updatekeys\``,
  )
  expect(decide([{ ...AWS, namespaces: ['other'] }])).toContain('does not list it')
  expect(decide([{ service: 'vault', key: AWS.key, namespaces: here }])).toContain('does not list it')
  expect(decide([{ ...AWS, key: `${AWS.key}b`, namespaces: here }])).toContain('does not list it')
  expect(decide([{ ...VAULT, namespaces: ['other', namespace] }])).toBe('apply')
  const each = byServices([AWS], [VAULT])
  expect(each.decide([{ ...AWS, namespaces: here }])).toContain(`HashiCorp Vault key ${VAULT.key}`)
  expect(each.decide([AWS, VAULT].map(one => ({ ...one, namespaces: here })))).toBe('apply')
})
