import { expect, test } from 'vitest'
import type { EvaluatedNode, Evaluation } from '../../../src/rules/model/finding.ts'
import { affectedRepositories } from '../../../src/verdict/affected-repositories.ts'
import { finding, verdict } from '../../report/samples.ts'
import { node } from '../../report/situations.ts'

const [FLEET, DEV, OPS] = ['fleet', 'dev-team', 'ops-team'].map(name => `https://github.com/acme/${name}`) as [
  string,
  string,
  string,
]

const object = (kind: string, name: string, namespace?: string) =>
  JSON.stringify({ apiVersion: 'v1', kind, metadata: { name, ...(namespace ? { namespace } : {}) } })

/** The platform on both clusters, dev-team on both, ops-team on staging. */
function fleet(
  over: Readonly<Record<string, Partial<EvaluatedNode>>> = {},
  more: readonly EvaluatedNode[] = [],
): Evaluation {
  const of = (key: string, url: string, base: Partial<EvaluatedNode> = {}) => node(key, url, { ...base, ...over[key] })
  const platform = { tenant: null }
  const nodes = [
    of('staging/flux-system/root', FLEET, platform),
    of('production/flux-system/root', FLEET, platform),
    of('staging/apps/dev-team', DEV),
    of('production/apps/dev-team', DEV),
    of('staging/ops/ops-team', OPS),
  ]
  return { verdict: verdict(), nodes: [...nodes, ...more] }
}

const affected = (after: Evaluation, before = fleet()) => [...affectedRepositories(before, after)].sort()
const platformGets = (cluster: string, text: string) =>
  fleet({ [`${cluster}/flux-system/root`]: { tenant: null, digest: 'd2', objects: [text] } })

test('nothing changed: nobody, not even with another commit of the same content', () => {
  expect(affected(fleet())).toEqual([])
  const source = { id: 'GitRepository/apps/dev-team', url: DEV, commit: 'c2', opaque: null }
  expect(affected(fleet({ 'staging/apps/dev-team': { source } }))).toEqual([])
})

test('who renders something else, applies as somebody else, came or went', () => {
  expect(affected(fleet({ 'staging/ops/ops-team': { digest: 'd2' } }))).toEqual([OPS])
  expect(affected(fleet({ 'production/apps/dev-team': { user: 'system:serviceaccount:apps:other' } }))).toEqual([DEV])
  expect(affected(fleet({ 'production/apps/dev-team': { suspend: true } }))).toEqual([DEV])
  const added = node('staging/new/new-team', 'https://github.com/acme/new-team')
  expect(affected(fleet({}, [added]))).toEqual(['https://github.com/acme/new-team'])
  expect(affected(fleet(), fleet({}, [added]))).toEqual(['https://github.com/acme/new-team'])
})

test('whose findings are others', () => {
  expect(affected(fleet({ 'staging/ops/ops-team': { findings: [finding()] } }))).toEqual([OPS])
})

test('an object of the platform concerns whose namespace it is in, or that Namespace', () => {
  expect(affected(platformGets('staging', object('RoleBinding', 'x', 'ops')))).toEqual([FLEET, OPS])
  expect(affected(platformGets('staging', object('Namespace', 'apps')))).toEqual([DEV, FLEET])
  expect(affected(platformGets('staging', object('ConfigMap', 'x', 'kube-system')))).toEqual([FLEET])
})

test('an object of the whole cluster concerns everybody there, and nobody elsewhere', () => {
  expect(affected(platformGets('staging', object('ClusterRole', 'x')))).toEqual([DEV, FLEET, OPS])
  expect(affected(platformGets('production', object('ClusterRole', 'x')))).toEqual([DEV, FLEET])
})

test('an object that a tenant takes away from where others are concerns them', () => {
  const before = fleet({ 'staging/ops/ops-team': { digest: 'd0', objects: [object('ConfigMap', 'x', 'apps')] } })
  expect(affected(fleet(), before)).toEqual([DEV, OPS])
})

test('a tenant with other namespaces or identities', () => {
  const after = fleet()
  const tenants = after.verdict.tenants.map(one =>
    one.name === 'ops-team' ? { ...one, namespaces: ['ops', 'more'] } : one,
  )
  expect(affected({ ...after, verdict: { ...after.verdict, tenants } })).toEqual([OPS])
})

test('what a source includes is the matter of that repository, too', () => {
  const source = {
    id: 'GitRepository/ops/ops-team',
    url: OPS,
    commit: 'c',
    opaque: null,
    includes: [{ url: DEV, commit: 'c' }],
  }
  expect(affected(fleet({ 'staging/ops/ops-team': { source, digest: 'd2' } }))).toEqual([DEV, OPS])
})
