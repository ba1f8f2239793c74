import fc from 'fast-check'
import type { Trial } from '../trial.ts'
import { Chance } from './chance.ts'
import { KINDS } from './objects.ts'
import { type Overlay, overlay } from './overlay.ts'
import { image, jsonPatch, strategicPatch, target } from './patch.ts'
import { postBuild, substitutedObjects } from './substitution.ts'
import type { Fields, Value } from './value.ts'
import { NAMESPACES, pairs, textPairs } from './vocabulary.ts'
import { YamlText } from './yaml-text.ts'

const PATTERNS = [
  '*.yaml',
  'r0.yaml',
  '/base',
  '/base/',
  'base/**',
  '!base/r0.yaml',
  '*',
  '!*.yaml',
  '/*',
  '!/overlay',
  '!/base',
  '**/r1.yaml',
  'r?.yaml',
  '[a-c]*',
  '# c',
  '',
  'other/',
  ' spaced ',
  '\\#x',
  '/overlay/*.txt',
  '!.sourceignore',
  '**',
  'base/*',
  '!/overlay/',
  'a/**/b',
  '*.y?ml',
] as const
const ODD_PATHS = [
  './',
  '.',
  '',
  './overlay/../base',
  '../overlay',
  '/overlay/',
  './none',
  './overlay/kustomization.yaml',
] as const
/** What an overlay below a Flux Kustomization needs of kustomize itself; `--kustomize` has it all. */
const CALM = [
  'namespace',
  'namePrefix',
  'labels',
  'commonAnnotations',
  'images',
  'configMapGenerator',
  'strategicPatches',
  'sortOptions',
]

/** Flux Kustomizations of every field that changes what is rendered, over generated overlays, ignore files and free manifests. */
export function fluxTrials(features: readonly string[] = CALM): fc.Arbitrary<Trial> {
  return fc.gen().map(g => {
    const chance = new Chance(g)
    const made = overlay(chance, features)
    const files: Record<string, string> = { ...made.files }
    const extra = spec(made, files, chance)
    const { objects, ...fields } = extra
    const kustomization = {
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      metadata: { name: 'k', namespace: 'apps' },
      spec: { interval: '1h', prune: true, sourceRef: { kind: 'GitRepository', name: 'fleet' }, ...fields },
    }
    if (chance.is(12))
      files[chance.pick(['.sourceignore', '.sourceignore', 'base/.sourceignore', 'overlay/.sourceignore'])] =
        ignoreFile(chance)
    const flux: Fields = {
      ...(chance.is(97) ? { kustomization } : {}),
      ...chance.maybe(12, 'ignore', () => ignoreFile(chance)),
      ...(Array.isArray(objects) && objects.length > 0 ? { objects } : {}),
      ...chance.maybe(35, 'strict', () => chance.is(80)),
    }
    return { files, flux: JSON.parse(JSON.stringify(flux, (_key, value) => value?.text ?? value)) as Fields }
  })
}

const ignoreFile = (chance: Chance): string =>
  chance.list(1, 3, () => chance.pick(PATTERNS)).join(chance.is(95) ? '\n' : '\r\n')

function spec(made: Overlay, files: Record<string, string>, chance: Chance): Fields {
  const { objects } = made
  const isFree = chance.is(45)
  if (isFree) freeManifests(files, chance)
  const patches = (): Value =>
    chance.list(1, 2, () => {
      const aim = chance.pick(objects)
      const text = JSON.stringify(
        chance.is(50) ? strategicPatch(aim, chance) : jsonPatch(aim, chance),
        (_key, inner) => inner?.text ?? inner,
      )
      return { patch: text, ...(text.startsWith('[') || chance.is(30) ? { target: target(aim, chance) } : {}) }
    })
  const substitution = chance.is(40) ? postBuild(chance) : undefined
  if (substitution) {
    const text = new YamlText(chance, 5).documents(substitutedObjects(chance))
    if (isFree) files['free/vars.yaml'] = text
    files['base/vars.yaml'] = text
    files['base/kustomization.yaml'] = `${files['base/kustomization.yaml'] ?? ''}\n`.replace(
      /^(resources:)\n(\s*)-/m,
      '$1\n$2- vars.yaml\n$2-',
    )
  }
  return {
    ...chance.maybe(96, 'path', () =>
      chance.is(8)
        ? chance.pick(ODD_PATHS)
        : chance.pick(isFree ? ['./free', './free', './overlay'] : ['./overlay', './base']),
    ),
    ...chance.maybe(30, 'targetNamespace', () => chance.pick(NAMESPACES)),
    ...chance.maybe(isFree ? 10 : 25, 'patches', patches),
    ...chance.maybe(15, 'images', () => chance.list(1, 2, () => image(chance))),
    ...chance.maybe(12, 'namePrefix', () => 'fx-'),
    ...chance.maybe(12, 'nameSuffix', () => '-fx'),
    ...chance.maybe(15, 'components', () => fluxComponents(files, chance)),
    ...chance.maybe(20, 'commonMetadata', () => ({
      ...chance.maybe(75, 'labels', () => textPairs(chance)),
      ...chance.maybe(60, 'annotations', () => textPairs(chance)),
    })),
    ...chance.maybe(8, 'ignore', () => [
      { paths: ['/data/a', '/spec/replicas'], ...chance.maybe(60, 'target', () => ({ kind: 'ConfigMap' })) },
    ]),
    ...chance.maybe(4, 'buildMetadata', () => ['originAnnotations']),
    ...(substitution ? { postBuild: substitution.postBuild, objects: substitution.objects } : {}),
  }
}

function fluxComponents(files: Record<string, string>, chance: Chance): Value {
  files['fluxpart/kustomization.yaml'] = new YamlText(chance, 4).document({
    apiVersion: 'kustomize.config.k8s.io/v1alpha1',
    kind: 'Component',
    ...chance.maybe(60, 'commonAnnotations', () => textPairs(chance)),
    ...chance.maybe(50, 'patches', () => [
      { target: { kind: 'ConfigMap' }, patch: '- op: add\n  path: /metadata/annotations/seen\n  value: "1"\n' },
    ]),
    ...chance.maybe(40, 'namePrefix', () => 'c-'),
  })
  return chance.list(1, 2, () =>
    chance.pick(['../fluxpart', '../fluxpart', './fluxpart', '../none', '../part', 'https://example.org/x']),
  )
}

/** A directory without a kustomization.yaml: Flux makes one of whatever lies in it. */
function freeManifests(files: Record<string, string>, chance: Chance): void {
  const yaml = new YamlText(chance, 8)
  const kinds = Object.keys(KINDS).filter(kind => kind !== 'ConfigMap')
  const seen = new Set<string>()
  for (const path of chance.some(
    ['free/a.yaml', 'free/b.yml', 'free/deep/c.yaml', 'free/deep/deeper/d.yaml', 'free/.e.yaml'],
    60,
  )) {
    const made = chance.list(1, 2, () => ({ kind: chance.pick(kinds) })).filter(({ kind }) => !seen.has(kind))
    for (const { kind } of made) seen.add(kind)
    files[path] = yaml.documents(made.map(({ kind }) => KINDS[kind]!(chance)))
  }
  if (chance.is(25))
    files['free/own/kustomization.yaml'] = yaml.document({
      resources: ['x.yaml'],
      ...chance.maybe(50, 'commonLabels', () => pairs(chance, 1, 1, 0)),
    })
  if (chance.is(25)) files['free/own/x.yaml'] = yaml.documents([KINDS.ConfigMap!(chance)])
  if (chance.is(10))
    files['free/note.yaml'] = chance.pick([
      'a: b\n',
      '# nothing\n',
      '',
      '- 1\n',
      'apiVersion: v1\nkind: List\nitems: []\n',
      'kind: Kustomization\n',
      'not: [yaml\n',
    ])
  if (chance.is(12)) files['free/readme.md'] = '# text\n'
}
