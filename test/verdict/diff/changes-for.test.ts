import { describe, expect, test } from 'vitest'
import { changesText } from '../../../src/report/changes-text.ts'
import { commentOf } from '../../../src/report/comment.ts'
import { changesFor } from '../../../src/report/outcome.ts'
import { NO_COUNTS, type NodeChange } from '../../../src/verdict/diff/changes.ts'
import { changesOf } from '../../../src/verdict/diff/changes-of.ts'
import { leanEvaluation } from '../../../src/verdict/verdict-views.ts'
import { evaluationOf, fleetOf } from '../../fleet/fleet-of.ts'
import { DEV_URL, fleetFiles, miniFleet } from '../../fleet/mini-fleet.ts'

/** A change of the fleet that reaches both tenants: what dev-team's repository would be shown of it. */
const grant = (who: string, namespace: string) =>
  `---\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: more, namespace: ${namespace}}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}\nsubjects: [{kind: ServiceAccount, name: ${who}, namespace: ${namespace}}]\n`
const base = miniFleet()
const head = miniFleet({
  fleet: {
    'tenants/dev-team.yaml': `${fleetFiles['tenants/dev-team.yaml']}${grant('dev-bot', 'apps')}`,
    'tenants/ops-team.yaml': `${fleetFiles['tenants/ops-team.yaml']}${grant('ops-bot', 'ops')}`,
  },
  dev: {
    'deploy/web.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: apps}\ndata: {peer: vault.example}\n',
  },
  ops: { 'deploy/config.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: vault-of-ops, namespace: ops}\n' },
})
const changes = changesOf(fleetOf(base), fleetOf(head))
const { verdict, nodes } = leanEvaluation(evaluationOf(head, { base, changed: DEV_URL }), fleetOf(head), DEV_URL)
const own = changesFor(changes, ['dev-team'], verdict, nodes)

describe('what the repository of a tenant is shown of a change', () => {
  test('is what its own Kustomizations and accounts get', () => {
    expect(own.nodes.map(({ node }) => node)).toEqual(['staging/apps/dev-team'])
    expect(own.rights.map(({ subject }) => subject)).toEqual(['ServiceAccount apps/dev-bot'])
    expect(own.totals).toEqual({ ...NO_COUNTS, added: 1, removed: 1, deleted: 1 })
  })

  test('names nobody else, and says only that others change too', () => {
    expect(changes.nodes).toHaveLength(3)
    expect(own.hidden).toBe(2)
    const context = {
      kind: 'pull-request',
      repository: DEV_URL,
      headSha: 'a',
      audience: ['dev-team'],
      nodes,
      changes: own,
    } as const
    const text = commentOf(verdict, context)!
    expect(text).toContain('2 Kustomizations elsewhere in the fleet change too.')
    expect(text).toContain('data.peer: vault.example')
    expect(`${text}${JSON.stringify(own)}`).not.toMatch(/ops/)
  })

  test('an object that comes from another tenant does not say from whom', () => {
    const moved: NodeChange = {
      ...changes.nodes.find(({ tenant }) => tenant === 'dev-team')!,
      objects: [
        {
          id: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'apps', name: 'web' },
          change: 'moved',
          node: 'staging/ops/ops-team',
          fields: [{ path: 'data.x', change: 'changed', was: 'ops-team', now: 'mine', lines: ['- ops-team'] }],
          fieldCount: 1,
        },
      ],
    }
    const shown = changesFor({ ...changes, nodes: [moved] }, ['dev-team'], verdict, nodes)
    expect(JSON.stringify(shown.nodes)).not.toMatch(/ops/)
    expect(JSON.stringify(shown.nodes)).toContain("another tenant's")
  })

  test('the fleet itself is shown everything', () => {
    expect(changesFor(changes, undefined, verdict, nodes)).toBe(changes)
  })
})

test('an answer that nobody applies has objects by name only, and those of the tenant that asks', () => {
  const full = evaluationOf(head, { base })
  const lean = leanEvaluation(full, fleetOf(head), undefined)
  for (const node of lean.nodes) {
    const before = full.nodes.find(one => one.key === node.key)!
    expect(node.objects).toHaveLength(before.objects.length)
    for (const [index, text] of node.objects.entries()) {
      const { kind, metadata } = JSON.parse(before.objects[index]!)
      const { name, namespace = '' } = metadata
      expect(JSON.parse(text)).toEqual({ kind, metadata: { name, namespace } })
    }
  }
  const dev = nodes.find(({ tenant }) => tenant === 'dev-team')!
  expect(dev.objects[0]).toContain('vault.example')
})

describe('the answer to `diff`', () => {
  test('is what every cluster gets, or one of them', () => {
    const all = changesText(changes)
    expect(all).toContain('Rendered changes: 4 added, 2 removed (2 DELETED)')
    expect(all).toContain('@@ Deployment apps/web: will be DELETED @@')
    expect(changesText(changes, { cluster: 'staging' })).toContain(
      'Rendered changes on `staging`: 4 added, 2 removed (2 DELETED)',
    )
    expect(changesText(changes, { cluster: '`lab`' })).toBe('No rendered changes on `` `lab` ``.')
  })
})
