import { expect, test } from 'vitest'
import { buildFleet } from '../../../src/fleet/graph/build-fleet.ts'
import type { Fleet } from '../../../src/fleet/model/fleet.ts'
import { DEFAULT_CONFIG } from '../../../src/fleet/model/fleet-config.ts'
import { NOT_READABLE, type ReadAccess, type RepositoryFact } from '../../../src/fleet/model/source-access.ts'
import { askRead } from '../../../src/fleet/sources/ask-read.ts'
import { canonical } from '../../../src/kube/node.ts'
import { evaluateFleet } from '../../../src/verdict/evaluate-fleet.ts'
import { type Given, inputOf } from '../fleet-of.ts'
import { DEV_URL, FLEET_URL, miniFleet, withResource } from '../mini-fleet.ts'

const HIDDEN = 'https://github.com/acme/hidden'
const FACTS: readonly RepositoryFact[] = [{ url: HIDDEN, public: false, people: false }]

const source = (name: string, url: string, namespace = 'apps') => `---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: ${name}, namespace: ${namespace}}
spec: {interval: 1m, url: "${url}", ref: {branch: main}}
`
const follower = (name: string, ref: string, path = './') => `---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: ${name}, namespace: apps}
spec:
  interval: 1m
  path: "${path}"
  prune: true
  serviceAccountName: dev-team
  sourceRef: ${ref}
`
const SECRET = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: canary, namespace: apps}\n'

/** The mini fleet whose dev-team renders one more manifest; the hidden repository is at hand, as for another tenant. */
function given(manifest: string): Given {
  const base = miniFleet(manifest === '' ? {} : { dev: withResource(manifest) })
  return { ...base, sources: [...(base.sources ?? []), { url: HIDDEN, files: { 'a.yaml': SECRET } }] }
}

/** Who brought a declaration administers nothing, where a test does not say so. */
function evaluated(manifest: string, known = FACTS, adopted = false): ReturnType<typeof evaluatedBy> {
  const asked = evaluatedBy(manifest, known).head.asked?.filter(({ declaredIn }) => declaredIn) ?? []
  const answers = asked.map(({ url, declaredIn }) => ({ url, declaredIn: declaredIn!, public: false, adopted }))
  return answers.length === 0 ? evaluatedBy(manifest, known) : evaluated(manifest, [...known, ...answers], adopted)
}

function evaluatedBy(manifest: string, facts: readonly RepositoryFact[]) {
  const access: ReadAccess = { facts }
  const before = { ...inputOf(given('')), access }
  const base = buildFleet(before)
  const head = buildFleet({
    ...inputOf(given(manifest)),
    access: { facts, base: base.access! },
    config: before.fleet.tree,
  })
  return { head, evaluation: evaluateFleet(head, { base, revisionSet: '' }) }
}

const textOf = ({ nodes }: Fleet) => nodes.flatMap(node => node.objects.map(one => canonical(one.root))).join('\n')
const names = ({ head }: ReturnType<typeof evaluated>) => textOf(head)
const errors = ({ evaluation }: ReturnType<typeof evaluated>) =>
  evaluation.verdict.errors.filter(one => one.state === 'new').map(one => one.code)

test('what a tenant newly declares is asked about first, then refused, though the content is at hand for others', () => {
  const manifest = source('second', HIDDEN) + follower('second', '{kind: GitRepository, name: second}')
  const asked = evaluated(manifest, [])
  expect(asked.head.asked).toEqual([{ url: HIDDEN, people: true }])
  const refused = evaluated(manifest)
  expect(refused.head.nodes.find(node => node.name === 'second')?.source).toMatchObject({
    opaque: NOT_READABLE,
    lent: true,
  })
  expect(names(refused)).not.toContain('canary')
  expect(errors(refused)).toEqual([])
  expect(refused.evaluation.verdict.requiredApprovals.map(one => one.rule)).toEqual(['source-ungated-ref'])
})

test('and read where it is public, which gates nobody', () => {
  const manifest = source('second', HIDDEN) + follower('second', '{kind: GitRepository, name: second}')
  const open = evaluated(manifest, [{ url: HIDDEN, public: true }])
  expect(names(open)).toContain('canary')
  expect(open.head.nodes.find(node => node.name === 'second')?.source).toMatchObject({ lent: true })
  expect(errors(open)).toEqual([])
})

test("a tenant's Kustomization may not read what only the platform follows, but the platform's own may", () => {
  const view = {
    ...{ cluster: 'staging', given: { facts: [] }, config: DEFAULT_CONFIG, declarerOf: () => undefined },
    ...{ contentOf: () => undefined, owners: new Map([['apps', 'dev-team']]), asked: new Map() },
  }
  const ask = (writer: string | undefined, stands: string) =>
    askRead(view, { tenant: 'dev-team', writer, stands }, undefined, FLEET_URL).state
  expect(ask('dev-team', DEV_URL)).toBe('ask')
  expect(ask('dev-team', FLEET_URL)).toBe('read')
  expect(ask(undefined, DEV_URL)).toBe('read')
})

test('a tenant that declares many repositories is asked about few, and the rest is refused without a question', () => {
  const many = Array.from({ length: 80 }, (_, index) => source(`s${index}`, `https://github.com/acme/r${index}`)).join(
    '',
  )
  const { head } = evaluated(many, [])
  expect(head.asked?.length).toBe(50)
  const known = evaluated(
    many,
    (head.asked ?? []).map(({ url }) => ({ url, public: true })),
  )
  expect(known.head.asked).toEqual([])
  const declared = [...(known.head.access?.declarations.values() ?? [])]
  expect(declared.filter(({ refused }) => refused)).toHaveLength(30)
})

test('on the command line, which reads what it is given, nothing is asked and nothing refused', () => {
  const manifest = source('second', HIDDEN) + follower('second', '{kind: GitRepository, name: second}')
  const head = buildFleet(inputOf(given(manifest)))
  expect(head.asked).toBeUndefined()
  expect(textOf(head)).toContain('canary')
})
