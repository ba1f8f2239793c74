import { expect, test } from 'vitest'
import type { ApprovedNode } from '../../src/approval/approve.ts'
import { DEFAULT_SETTINGS } from '../../src/flux/apply-settings/apply-settings.ts'
import { applySequence } from '../../workers/apply/apply-sequence.ts'

function node(name: string, more: Partial<ApprovedNode> = {}): ApprovedNode {
  return {
    key: `staging/flux-system/${name}`,
    cluster: 'staging',
    namespace: 'flux-system',
    name,
    parent: null,
    user: 'system:serviceaccount:flux-system:kustomize-controller',
    impersonated: true,
    tenant: null,
    source: { id: 'GitRepository/flux-system/flux-system', url: '', commit: 'c', opaque: null },
    dependsOn: [],
    suspend: false,
    prune: true,
    settings: DEFAULT_SETTINGS,
    digest: 'd',
    applyDigest: 'a',
    objects: [],
    combination: 'x',
    ...more,
  }
}

function walk(nodes: readonly ApprovedNode[], failing: readonly string[] = []): string[] {
  const done = new Set<string>()
  const steps: string[] = []
  for (const step of applySequence(nodes, key => done.has(key))) {
    steps.push('held' in step ? `${step.node.name}: ${step.held}` : step.node.name)
    if (!('held' in step) && !failing.includes(step.node.name)) done.add(step.node.key)
  }
  return steps
}

test('a node waits for its parent and for what it depends on', () => {
  const nodes = [
    node('flux-system'),
    node('tenants', { parent: 'staging/flux-system/flux-system', dependsOn: ['staging/flux-system/infrastructure'] }),
    node('infrastructure', { parent: 'staging/flux-system/flux-system' }),
  ]
  expect(walk(nodes)).toEqual(['flux-system', 'infrastructure', 'tenants'])
})

test('what depends on a node that was not applied completely is held, its neighbours are not', () => {
  const nodes = [node('a'), node('b', { dependsOn: ['staging/flux-system/a'] }), node('c')]
  expect(walk(nodes, ['a'])).toEqual(['a', 'c', 'b: its dependency staging/flux-system/a is not ready'])
})

test('a circle of dependencies ends, and says so', () => {
  const nodes = [
    node('a', { dependsOn: ['staging/flux-system/b'] }),
    node('b', { dependsOn: ['staging/flux-system/a'] }),
  ]
  expect(walk(nodes)).toEqual([
    'a: its dependency staging/flux-system/b is not ready',
    'b: its dependency staging/flux-system/a is not ready',
  ])
})

test('a suspended node is skipped, and what depends on it waits', () => {
  const nodes = [node('a', { suspend: true }), node('b', { dependsOn: ['staging/flux-system/a'] })]
  expect(walk(nodes)).toEqual(['a: it is suspended', 'b: its dependency staging/flux-system/a is not ready'])
})

test('what a suspended node renders is not to be applied now: its children are held with it', () => {
  const key = (name: string) => `staging/flux-system/${name}`
  const nodes = [
    node('a', { suspend: true }),
    node('b', { parent: key('a') }),
    node('c', { parent: key('b'), dependsOn: [key('missing')] }),
  ]
  expect(walk(nodes)).toEqual(['a: it is suspended', `b: ${key('a')} is suspended`, `c: ${key('a')} is suspended`])
})
