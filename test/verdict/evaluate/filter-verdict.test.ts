import { describe, expect, test } from 'vitest'
import { filterVerdict, type VerdictFilter } from '../../../src/verdict/verdict-views.ts'
import { evaluationOf } from '../../fleet/fleet-of.ts'
import { fleetFiles, miniFleet } from '../../fleet/mini-fleet.ts'

const FOREIGN = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: apps}\n'
const BROKEN = 'resources: [gone.yaml]\n'
const PLAIN = { clusters: [], tenants: [] }

const kustomization = (name: string, path: string, more = '') =>
  `apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: ${name}, namespace: flux-system}\nspec: {interval: 5m, prune: true, path: ${path}, ${more}sourceRef: {kind: GitRepository, name: flux-system}}\n`

/** One Kustomization of the cluster applies to another one; another of its Kustomizations may do so too. */
const hub = (other: string) => ({
  fleet: {
    'clusters/staging/kustomization.yaml': 'resources: [flux-system, tenants.yaml, edge.yaml, more.yaml]\n',
    'clusters/staging/edge.yaml': kustomization('edge', './edge', 'kubeConfig: {secretRef: {name: edge}}, '),
    'clusters/staging/more.yaml': kustomization('more', './more'),
    'edge/a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n',
    'more/kustomization.yaml': other,
    'more/a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: default}\n',
  },
})

function filtered(change: Parameters<typeof miniFleet>[0], filter: Partial<VerdictFilter>) {
  return filterVerdict(evaluationOf(miniFleet(change)), { ...PLAIN, ...filter })
}

test('a tenant of which no source is visible is an error, not a pass about nothing', () => {
  const fleet = miniFleet({})
  const evaluation = evaluationOf(fleet)
  const nodes = evaluation.nodes.map(node =>
    node.tenant === 'dev-team' ? { ...node, source: { ...node.source, opaque: 'not given' } } : node,
  )
  const verdict = filterVerdict({ ...evaluation, nodes }, { ...PLAIN, tenants: ['dev-team'] })
  expect(verdict.result).toBe('error')
  expect(verdict.errors).toMatchObject([
    {
      code: 'nothing-evaluated',
      message: 'no source of dev-team is visible, so nothing of it was evaluated',
      fix: expect.stringMatching(/^Add --repo https:\/\/\S+=DIR, or --repos-dir DIR\.$/),
    },
  ])
})

describe('what is outside of the filter', () => {
  test('is counted in the first line, and does not decide', () => {
    const verdict = filtered({ ops: { 'deploy/config.yaml': FOREIGN } }, { tenants: ['dev-team'] })
    expect([verdict.result, verdict.filter?.outside]).toEqual(['pass', { violations: 1, errors: 0 }])
    expect(verdict.summary).toContain('Only tenant dev-team (outside of it: 1 violation).')
    const broken = filtered({ ops: { 'deploy/kustomization.yaml': BROKEN } }, { tenants: ['dev-team'] })
    expect([broken.result, broken.filter?.outside]).toEqual(['pass', { violations: 0, errors: 1 }])
    expect(broken.summary).toContain('(outside of it: 1 evaluation error)')
  })

  test('is nothing where all is well', () => {
    const verdict = filtered({}, { tenants: ['dev-team'] })
    expect([verdict.result, verdict.filter?.outside]).toEqual(['pass', { violations: 0, errors: 0 }])
    expect(verdict.summary).not.toContain('outside')
  })

  test('decides where it is an error of the platform that may hide a part of it', () => {
    const change = {
      fleet: { 'tenants/kustomization.yaml': `${fleetFiles['tenants/kustomization.yaml'] ?? ''}bogus: 1\n` },
    }
    const verdict = filtered(change, { tenants: ['dev-team'] })
    expect(verdict.result).toBe('error')
  })

  test('decides where it is an error of the cluster that applies to the one asked for', () => {
    const name = evaluationOf(miniFleet(hub('resources: [a.yaml]\n'))).nodes.find(node => node.hub)!.cluster
    expect(filtered(hub('resources: [a.yaml]\n'), { clusters: [name] }).result).toBe('pass')
    const verdict = filtered(hub(BROKEN), { clusters: [name] })
    expect([verdict.result, verdict.errors.map(({ node }) => node)]).toEqual(['error', ['staging/flux-system/more']])
  })
})

describe('what nothing is left of', () => {
  const messages = (filter: Partial<VerdictFilter>) => filtered({}, filter).errors.map(({ message }) => message)

  test('is named, with what was asked for only', () => {
    expect(messages({ tenants: ['nobody'] })).toEqual([
      'no Kustomization of nobody was found, so nothing was evaluated',
    ])
    expect(messages({ clusters: ['nowhere'] })).toEqual([
      'no Kustomization on nowhere was found, so nothing was evaluated',
    ])
    expect(messages({ clusters: ['staging'], tenants: ['nobody'] })[0]).toBe(
      'no Kustomization of nobody on staging was found, so nothing was evaluated',
    )
  })

  test('is an error beside a name of which there is something', () => {
    expect(messages({ tenants: ['dev-team', 'nobody'] })).toEqual([
      'no Kustomization of nobody was found, so nothing was evaluated',
    ])
    expect(messages({ tenants: ['dev-team'], clusters: ['staging'] })).toEqual([])
  })
})
