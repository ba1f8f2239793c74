import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EvaluatedNode, Finding } from '../../src/rules/model/finding.ts'
import { evaluationOf } from '../fleet/fleet-of.ts'
import { DEV_URL, FLEET_URL, miniFleet, OPS_URL, withResource } from '../fleet/mini-fleet.ts'

/** Mostly what an ordinary tenant writes, or else one of the rest; all odd at once would only break the parsing. */
const mostly = <T>(usual: readonly [T, ...T[]], odd: readonly [T, ...T[]]) =>
  fc.oneof({ weight: 20, arbitrary: fc.constantFrom(...usual) }, { weight: 1, arbitrary: fc.constantFrom(...odd) })

const namespace = mostly(
  ['apps', 'apps', 'apps', 'apps', 'ops', 'flux-system'],
  ['kube-system', 'apps ', 'Apps', '', '[apps]', '{a: b}', '7', 'null', '~'],
)
const name = mostly(
  ['x', 'y', 'z', 'dev-team', 'ops-team', 'tenants'],
  ['flux-system', '"a/b"', '__proto__', 'constructor', '"x\\ny"', '5'],
)
const account = mostly<string | undefined>(
  ['dev-team', 'kustomize-controller', undefined],
  ['""', 'null', '" "', '[a]', '"a:b"', '"system:admin"'],
)
const url = mostly([DEV_URL, OPS_URL, FLEET_URL], ['https://github.com/evil/x', 'http://[', '""', '[]'])
const path = mostly(['./deploy', './tenants', './clusters/staging', './other'], ['./', '../../..', '[x]', './nowhere'])

/** One object that a tenant may write, as YAML. */
const object = fc
  .record({
    kind: fc.constantFrom(
      'Kustomization',
      'Kustomization',
      'Kustomization',
      'Kustomization',
      'GitRepository',
      'Namespace',
      'ConfigMap',
      'ClusterRoleBinding',
      'Thing',
      'Tenant',
      'ServiceAccount',
    ),
    namespace,
    name,
    account,
    url,
    path,
    source: mostly(['dev-team', 'dev-team', 'x', 'y'], ['ops-team', 'flux-system', '[]']),
    from: mostly(['', '', '', 'apps'], ['ops', 'flux-system', '[x]']),
  })
  .map(one => ({ ...one, text: textOf(one) }))

function textOf(one: {
  kind: string
  namespace: string
  name: string
  account: string | undefined
  url: string
  path: string
  source: string
  from: string
}) {
  const versions: Record<string, string> = {
    Kustomization: 'kustomize.toolkit.fluxcd.io/v1',
    GitRepository: 'source.toolkit.fluxcd.io/v1',
    ClusterRoleBinding: 'rbac.authorization.k8s.io/v1',
    Thing: 'evil.io/v1',
    Tenant: 'capsule.clastix.io/v1beta2',
  }
  const head = `apiVersion: ${versions[one.kind] ?? 'v1'}\nkind: ${one.kind}\nmetadata:\n  name: ${one.name}\n  namespace: ${one.namespace}\n  labels: {toolkit.fluxcd.io/tenant: dev-team}\n`
  if (one.kind === 'GitRepository') return `${head}spec: {url: ${one.url}, ref: {branch: main}}\n`
  if (one.kind === 'Tenant')
    return `${head}spec: {owners: [{kind: ServiceAccount, name: "system:serviceaccount:apps:dev-team"}]}\n`
  if (one.kind !== 'Kustomization') return head
  const sourceRef = `{kind: GitRepository, name: ${one.source}${one.from ? `, namespace: ${one.from}` : ''}}`
  return `${head}spec:\n  path: ${one.path}\n  sourceRef: ${sourceRef}\n${one.account === undefined ? '' : `  serviceAccountName: ${one.account}\n`}`
}

/** Written without the rules: an object that a tenant of namespace apps may have. */
function isAllowed(text: string): boolean {
  const { kind, metadata } = JSON.parse(text) as { kind: string; metadata: { namespace?: unknown } }
  return (
    ['ConfigMap', 'Kustomization', 'GitRepository', 'ServiceAccount', 'Deployment'].includes(kind) &&
    metadata.namespace === 'apps'
  )
}

const clean = evaluationOf(miniFleet()).nodes.filter(node => node.tenant !== 'dev-team')
const isThing = (text: string) => (JSON.parse(text) as { kind: string }).kind === 'Thing'
const isUnknownKind = ({ rule, object }: Finding) => rule === 'unknown-scope' && object.kind === 'Thing'
const isRed = (node: EvaluatedNode) => node.findings.length + node.failures.length > 0

test('whatever a tenant writes, nobody else is touched, and what leaves its namespace is red', () => {
  let followed = 0
  fc.assert(
    fc.property(fc.array(object, { minLength: 1, maxLength: 5, size: 'max' }), objects => {
      const other = { 'other/kustomization.yaml': 'resources: [../deploy/web.yaml]\n' }
      const dev = { ...other, ...withResource(objects.map(one => one.text).join('---\n')) }
      const { nodes, verdict } = evaluationOf(miniFleet({ dev }))
      expect(nodes.filter(node => node.tenant !== 'dev-team')).toEqual(clean)
      const own = nodes.filter(node => node.tenant === 'dev-team')
      followed += own.length - 1
      for (const node of own) {
        if (node.impersonated) expect(node.user).toMatch(/^system:serviceaccount:apps:[a-z0-9.-]+$/)
        else expect(isRed(node)).toBe(true)
        const leaving = node.objects.filter(one => !isAllowed(one))
        if (leaving.some(one => !isThing(one))) expect(isRed(node)).toBe(true)
        // the account may create it in no namespace, so the API server refuses it, wherever it would lie
        if (leaving.some(isThing)) expect(isRed(node) || verdict.warnings.some(isUnknownKind)).toBe(true)
      }
      expect(verdict.errors.every(one => one.tenant === 'dev-team')).toBe(true)
      expect(verdict.violations.every(one => one.tenant === 'dev-team')).toBe(true)
    }),
    { numRuns: 150, seed: 7 },
  )
  expect(followed).toBeGreaterThan(40)
}, 120_000)
