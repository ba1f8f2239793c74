import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Evaluation } from '../../../src/rules/model/finding.ts'
import { evaluationOf, type Files } from '../../fleet/fleet-of.ts'
import { miniFleet } from '../../fleet/mini-fleet.ts'

/** One object that breaks a rule, as the pieces that a person may move around. */
interface Culprit {
  readonly name: string
  readonly text: (version: string, comment: string) => string
  /** The same object with another target. */
  readonly other: (version: string, comment: string) => string
}

const culprits: readonly Culprit[] = [
  culprit('config', 'v1', 'ConfigMap', 'kube-system', () => 'data: {a: b}\n'),
  culprit('hr', 'helm.toolkit.fluxcd.io/VERSION', 'HelmRelease', 'apps', target => {
    const [account, source] = target ? ['ops', 'ops'] : ['dev-team', 'flux-system']
    return `spec:\n  serviceAccountName: ${account === 'ops' ? 'dev-team' : account}\n  interval: 5m\n  chart:\n    spec: {chart: x, sourceRef: {kind: HelmRepository, name: x, namespace: ${source}}}\n`
  }),
  culprit('sync', 'kustomize.toolkit.fluxcd.io/VERSION', 'Kustomization', 'apps', target => {
    return `spec:\n  serviceAccountName: dev-team\n  interval: 5m\n  prune: true\n  path: ./deploy\n  dependsOn:\n    - {name: a}\n    - {name: b, namespace: ${target ? 'kube-system' : 'ops'}}\n  sourceRef: {kind: GitRepository, name: dev-team, namespace: ${target ? 'ops' : 'flux-system'}}\n`
  }),
]

function culprit(
  name: string,
  apiVersion: string,
  kind: string,
  namespace: string,
  spec: (target: boolean) => string,
): Culprit {
  const text = (target: boolean) => (version: string, comment: string) =>
    `${comment}apiVersion: ${apiVersion.replace('VERSION', version)}\nkind: ${kind}\n${comment}metadata:\n  name: ${name}\n  namespace: ${target && name === 'config' ? 'ops' : namespace}\n${spec(target)}`
  return { name, text: text(false), other: text(true) }
}

interface Layout {
  readonly order: readonly number[]
  /** Which file each culprit is in. */
  readonly file: readonly number[]
  readonly names: readonly string[]
  readonly comment: string
  readonly newer: boolean
  readonly reversed: boolean
}

const layout: fc.Arbitrary<Layout> = fc.record({
  order: fc.shuffledSubarray([0, 1, 2], { minLength: 3 }),
  file: fc.array(fc.nat(2), { minLength: 3, maxLength: 3 }),
  names: fc.shuffledSubarray(['a.yaml', 'b.yaml', 'sub/c.yaml', 'z/y/x.yaml'], { minLength: 3 }),
  comment: fc.constantFrom('', '# a\n', '\n\n', '# long\n# er\n'),
  newer: fc.boolean(),
  reversed: fc.boolean(),
})

/** The tenant's files in a layout; `changed` has another target. */
function filesOf({ order, file, names, comment, newer, reversed }: Layout, changed?: number): Files {
  const files = new Map<string, string[]>()
  for (const index of order) {
    const { text, other } = culprits[index]!
    const version = index === 1 ? (newer ? 'v2' : 'v2beta2') : newer ? 'v1' : 'v1beta2'
    const written = (index === changed ? other : text)(version, comment)
    const list = reversed ? written.replace(/( {4}- \{name: a\}\n)( {4}- \{name: b[^\n]*\n)/, '$2$1') : written
    const name = names[file[index]!]!
    files.set(name, [...(files.get(name) ?? []), list])
  }
  return {
    'deploy/kustomization.yaml': `resources: [${[...files.keys(), 'web.yaml'].join(', ')}]\n`,
    ...Object.fromEntries([...files].map(([name, texts]) => [`deploy/${name}`, texts.join('---\n')])),
  }
}

const plain: Layout = {
  order: [0, 1, 2],
  file: [0, 1, 2],
  names: ['a.yaml', 'b.yaml', 'c.yaml'],
  comment: '',
  newer: true,
  reversed: false,
}
const evaluated = (files: Files, base?: Files) =>
  evaluationOf(miniFleet({ dev: files }), base ? { base: miniFleet({ dev: base }) } : {})
/** The rule about versions is about nothing but the version. */
const allOf = ({ verdict }: Evaluation) =>
  [...verdict.violations, ...verdict.warnings].filter(({ rule }) => rule !== 'schema-mismatch')
const printsOf = (evaluation: Evaluation) =>
  allOf(evaluation)
    .map(one => `${one.rule} ${one.fingerprint}`)
    .sort()
const freshIn = (evaluation: Evaluation) =>
  allOf(evaluation)
    .filter(one => one.state === 'new')
    .map(one => one.object.name)

test('the culprits are found at all', () => {
  const names = new Set(freshIn(evaluated(filesOf(plain))))
  expect([...names].sort()).toEqual(['config', 'hr', 'sync'])
})

test('neither files nor lines nor order nor versions are part of a violation', () => {
  const expected = printsOf(evaluated(filesOf(plain)))
  fc.assert(
    fc.property(layout, moved => {
      const files = filesOf(moved)
      expect(printsOf(evaluated(files))).toEqual(expected)
      expect(new Set(allOf(evaluated(files, filesOf(plain))).map(one => one.state))).toEqual(new Set(['standing']))
    }),
    { numRuns: 60, seed: 11 },
  )
})

test('another target is another violation, wherever it is written', () => {
  fc.assert(
    fc.property(layout, layout, fc.nat(2), (before, after, changed) => {
      const evaluation = evaluated(filesOf(after, changed), filesOf(before))
      expect(new Set(freshIn(evaluation))).toEqual(new Set([culprits[changed]!.name]))
      expect(evaluation.verdict.result).toBe('fail')
    }),
    { numRuns: 40, seed: 12 },
  )
})

test('more of the same is new: a second object, a second cluster', () => {
  const second = filesOf(plain)
  const more = {
    ...second,
    'deploy/a.yaml': `${second['deploy/a.yaml']}---\n${second['deploy/a.yaml']!.replace('name: config', 'name: config2')}`,
  }
  expect(freshIn(evaluated(more, second))).toEqual(['config2'])
})

test('the verdict does not depend on the order in which the sources are given', () => {
  const given = miniFleet({ dev: filesOf(plain) })
  const turned = { ...given, sources: given.sources!.toReversed() }
  expect(JSON.stringify(evaluationOf(turned).verdict)).toBe(JSON.stringify(evaluationOf(given).verdict))
})
