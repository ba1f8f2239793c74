import { expect, test } from 'vitest'
import { FleetSession } from '../../../src/fleet/graph/fleet-session.ts'
import { notReachedOf } from '../../../src/fleet/rendering/not-reached.ts'
import type { Tree, TreeEntry } from '../../../src/git/tree.ts'
import { evaluationOf, fleetOf, inputOf } from '../fleet-of.ts'
import { FLEET_URL, fleetFiles, miniFleet } from '../mini-fleet.ts'

const kustomization = (name: string, spec = 'path: ./apps', namespace = 'flux-system') => `---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: ${name}
  namespace: ${namespace}
spec:
  interval: 5m
  prune: true
  sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}
  ${spec}
`
/** Every file of the folder `more` is built, too. */
const OWN = {
  'clusters/staging/kustomization.yaml': 'resources: [flux-system, tenants.yaml, more]\n',
  'clusters/staging/more/kustomization.yaml': 'resources: []\n',
  'apps/kustomization.yaml': 'resources: []\n',
}
const built = (...files: string[]) => ({
  'clusters/staging/more/kustomization.yaml': `resources: [${files.join(', ')}]\n`,
})
const reachOf = (fleet: Record<string, string>) => {
  const built = fleetOf(miniFleet({ fleet: { ...OWN, ...fleet } }))
  return built.notReached.map(({ id, origin, reason }) => `${id} ${origin.file}:${origin.line} ${reason}`)
}

test('what a cluster builds is reached, also under another name than is written', () => {
  expect(reachOf({})).toEqual([])
  const named = {
    'clusters/staging/more/kustomization.yaml': 'namePrefix: a-\nresources: [ks.yaml]\n',
    'clusters/staging/more/ks.yaml': kustomization('one') + kustomization('two'),
  }
  expect(reachOf(named)).toEqual([])
  const variable = {
    ...built('more.yaml'),
    'clusters/staging/more/more.yaml': kustomization('more', 'path: ./more\n  postBuild: {substitute: {NAME: three}}'),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of Flux
    'more/ks.yaml': kustomization('${NAME}'),
  }
  expect(reachOf(variable)).toEqual([])
})

test('each Kustomization that no cluster builds is listed with its file and why', () => {
  const reached = reachOf({
    ...built('in.yaml'),
    'clusters/staging/more/in.yaml': kustomization('in'),
    'clusters/staging/more/out.yaml': kustomization('out', 'path: ./below'),
    'below/ks.yaml': kustomization('below', 'path: ./nowhere', 'apps'),
    'templates/team.yaml': kustomization('team'),
    'new/team.yaml': kustomization('<<name>>'),
    '.github/ks.yaml': kustomization('hidden'),
  })
  expect(reached).toEqual([
    'flux-system/hidden .github/ks.yaml:2 no cluster builds its file',
    'apps/below below/ks.yaml:2 no cluster builds its file',
    'flux-system/out clusters/staging/more/out.yaml:2 no cluster builds its file',
    'flux-system/<<name>> new/team.yaml:2 no cluster builds its file',
    'flux-system/team templates/team.yaml:2 no cluster builds its file',
  ])
})

test('a Kustomization behind one that has an error names that one', () => {
  const reached = reachOf({
    ...built('more.yaml'),
    'clusters/staging/more/more.yaml': kustomization('more', 'path: ./more'),
    'more/kustomization.yaml': 'resources: [ks.yaml, nowhere.yaml, more]\n',
    'more/ks.yaml': kustomization('here'),
    'more/more/ks.yaml': kustomization('there'),
  })
  for (const line of reached) expect(line).toContain('Kustomization staging/flux-system/more, which leads there, ')
})

test('one that is rendered and refused says by whom', () => {
  const twice = {
    ...built('a.yaml', 'b.yaml'),
    'clusters/staging/more/a.yaml': kustomization('a', 'path: ./a'),
    'clusters/staging/more/b.yaml': kustomization('b', 'path: ./b'),
    'a/ks.yaml': kustomization('same'),
    'b/ks.yaml': kustomization('same'),
  }
  expect(reachOf(twice)).toEqual([
    'flux-system/same b/ks.yaml:2 Kustomization staging/flux-system/b renders it, and so does another one with the same name',
  ])
})

test('patches and texts about Flux are no Kustomizations; a file that cannot be read is listed', () => {
  const patch =
    'apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\nspec: {suspend: true}\n'
  const text = 'about: kustomize.toolkit.fluxcd.io\n'
  expect(reachOf({ 'patches/a.yaml': patch, 'about.yaml': text })).toEqual([])
  const broken = `${kustomization('broken')}\t- x: [\n`
  expect(reachOf({ 'other/ks.yaml': broken })).toEqual([
    expect.stringMatching(/^ other\/ks\.yaml:\d+ the file cannot be read: /),
  ])
})

test('what bootstrap writes is the root of its cluster although nothing renders it', () => {
  const files = {
    'clusters/lone/flux-system/gotk-sync.yaml': fleetFiles['clusters/staging/flux-system/gotk-sync.yaml']!.replace(
      './clusters/staging',
      './clusters/lone',
    ),
    'clusters/lone/kustomization.yaml': 'resources: []\n',
  }
  expect(reachOf(files)).toEqual([])
})

test('the verdict lists them, and a session finds what a new build finds', () => {
  const stray = { 'stray.yaml': kustomization('stray') }
  const before = inputOf(miniFleet({ fleet: OWN }))
  const after = inputOf(miniFleet({ fleet: { ...OWN, ...stray } }))
  const session = new FleetSession()
  expect(session.build(before).notReached).toEqual([])
  expect(session.build(after).notReached).toEqual(fleetOf(miniFleet({ fleet: { ...OWN, ...stray } })).notReached)
  const { verdict } = evaluationOf(miniFleet({ fleet: { ...OWN, ...stray } }))
  expect(verdict.notReached).toEqual([
    {
      id: 'flux-system/stray',
      origin: { repository: FLEET_URL, file: 'stray.yaml', line: 2, column: 1 },
      reason: 'no cluster builds its file',
    },
  ])
})

test.each([
  ['mention the kind', '# kustomize.toolkit.fluxcd.io\n', 3],
  ['do not', '# nothing\n', 0],
])('files beyond the limits that %s are counted', (_, text, left) => {
  const names = Array.from({ length: 50_003 }, (_one, index) => `${index}.yaml`)
  const entries: TreeEntry[] = names.map(name => ({ name, path: name, type: 'file', id: text }))
  const tree: Tree = {
    id: 'many',
    entry: path => entries.find(one => one.path === path),
    list: path => (path === '' ? entries : []),
    read: () => Buffer.from(text),
  }
  const reason = `${left} more YAML files were not searched for Kustomizations, because the repository is too large`
  expect(notReachedOf({ url: FLEET_URL, ref: {}, tree }, [])).toMatchObject(left === 0 ? [] : [{ id: '', reason }])
})

test('what a ResourceSet makes on the cluster is listed as not visible, and counted in the first line', () => {
  const set = (name: string) => `---
apiVersion: fluxcd.controlplane.io/v1
kind: ResourceSet
metadata: {name: ${name}, namespace: flux-system}
spec:
  inputs: [{team: a}]
  resourcesTemplate: |
    apiVersion: kustomize.toolkit.fluxcd.io/v1
    kind: Kustomization
    metadata: {name: << slugify inputs.team >>, namespace: flux-system}
`
  const given = (...names: string[]) =>
    miniFleet({ fleet: { ...OWN, ...built('sets.yaml'), 'clusters/staging/more/sets.yaml': names.map(set).join('') } })
  expect(fleetOf(given('teams')).notSeen).toEqual([
    {
      source: 'ResourceSet/flux-system/teams',
      url: '',
      reason:
        '1 part of it is not evaluated (spec.resourcesTemplate: it uses template functions other than input fields)',
      what: 'objects',
    },
  ])
  expect(evaluationOf(given('teams')).verdict.summary).toContain('Not visible: 1 ResourceSet.')
  const session = new FleetSession()
  session.build(inputOf(given('teams')))
  expect(session.build(inputOf(given('teams', 'more'))).notSeen).toEqual(fleetOf(given('teams', 'more')).notSeen)
})
