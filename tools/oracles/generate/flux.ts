import fc from 'fast-check'
import type { Trial } from '../trial.ts'
import { Chance } from './chance.ts'
import { freeManifests, rootManifests } from './flux-files.ts'
import { overlay } from './overlay.ts'
import { image, jsonPatch, strategicPatch, target } from './patch.ts'
import { type PostBuild, postBuild, substitutedObjects } from './substitution.ts'
import type { Fields, Value } from './value.ts'
import { NAMESPACES, textPairs } from './vocabulary.ts'
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
/** What leaves out nothing that a build needs. */
const CALM_PATTERNS = [
  '*.md',
  '/docs/',
  '# c',
  '',
  'none.yaml',
  '*.jpg',
  '*\n!*.yaml\n!*.yml',
  '!/overlay',
  '/*.txt',
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
const CALM = ['namespace', 'namePrefix', 'labels', 'commonAnnotations', 'images', 'configMapGenerator', 'sortOptions']

/** The directory that a Kustomization points at, and what stands in it. */
type Layout = 'overlay' | 'free' | 'root'

/** What one case is made of: `odd` ones hold what mostly fails. */
interface Case {
  readonly files: Record<string, string>
  readonly objects: readonly Fields[]
  readonly layout: Layout
  readonly odd: boolean
  readonly chance: Chance
}

/** Flux Kustomizations of every field that changes what is rendered, over generated overlays, ignore files and free manifests. */
export function fluxTrials(features: readonly string[] = CALM): fc.Arbitrary<Trial> {
  return fc.gen().map(g => {
    const chance = new Chance(g)
    const made = overlay(chance, features)
    const layout = chance.pick<Layout>(['overlay', 'free', 'free', 'root', 'root'])
    const one: Case = { files: { ...made.files }, objects: made.objects, layout, odd: chance.is(20), chance }
    const { files, odd } = one
    if (layout === 'free') freeManifests(one)
    if (layout === 'root') rootManifests(one)
    const substitution = chance.is(35) ? substitute(one) : undefined
    const kustomization = {
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      metadata: { name: 'k', namespace: 'apps' },
      spec: {
        interval: '1h',
        prune: true,
        sourceRef: { kind: 'GitRepository', name: 'fleet' },
        ...spec(one),
        ...(substitution ? { postBuild: substitution.postBuild } : {}),
      },
    }
    if (chance.is(15)) files[`${chance.pick(['', '', `${layout}/`, 'base/'])}.sourceignore`] = ignoreFile(one)
    const objects = substitution?.objects ?? []
    const flux: Fields = {
      ...(odd && chance.is(3) ? {} : { kustomization }),
      ...chance.maybe(15, 'ignore', () => ignoreFile(one)),
      ...(objects.length > 0 ? { objects } : {}),
      ...chance.maybe(35, 'strict', () => chance.is(80)),
    }
    return { files, flux: JSON.parse(plainText(flux)) as Fields }
  })
}

/** Written as YAML, `1e3` is a number; JSON has it as the text that it is. */
const plainText = (value: Value): string => JSON.stringify(value, (_key, inner) => inner?.text ?? inner)

const ignoreFile = ({ odd, layout, chance }: Case): string =>
  chance
    .list(1, 3, () => chance.pick(odd || (layout === 'free' && chance.is(30)) ? PATTERNS : CALM_PATTERNS))
    .join(chance.is(95) ? '\n' : '\r\n')

function substitute({ files, layout, odd, chance }: Case): PostBuild {
  const made = postBuild(chance, !odd)
  const text = new YamlText(chance, 5).documents(substitutedObjects(chance, !odd))
  if (layout !== 'overlay') files[`${layout}/vars.yaml`] = text
  if (layout === 'root') addResource(files, 'root/kustomization.yaml')
  files['base/vars.yaml'] = text
  addResource(files, 'base/kustomization.yaml')
  return made
}

/** Lets a kustomization list `vars.yaml` before its other resources. */
function addResource(files: Record<string, string>, path: string): void {
  files[path] = `${files[path] ?? ''}\n`.replace(/^(resources:)\n(\s*)-/m, '$1\n$2- vars.yaml\n$2-')
}

function spec(one: Case): Fields {
  const { files, objects, layout, odd, chance } = one
  return {
    path: odd && chance.is(15) ? chance.pick(ODD_PATHS) : chance.pick([`./${layout}`, layout, `/${layout}/`]),
    ...chance.maybe(30, 'targetNamespace', () => chance.pick(NAMESPACES)),
    ...chance.maybe(30, 'patches', () => chance.list(1, 2, () => patch(objects, odd, chance))),
    ...chance.maybe(15, 'images', () => chance.list(1, 2, () => fluxImage(odd, chance))),
    ...chance.maybe(12, 'namePrefix', () => 'fx-'),
    ...chance.maybe(12, 'nameSuffix', () => '-fx'),
    ...chance.maybe(15, 'components', () => fluxComponents(files, odd, chance)),
    ...chance.maybe(10, 'ignoreMissingComponents', () => chance.is(70)),
    ...chance.maybe(20, 'commonMetadata', () => ({
      ...chance.maybe(75, 'labels', () => textPairs(chance)),
      ...chance.maybe(60, 'annotations', () => textPairs(chance)),
    })),
    ...chance.maybe(8, 'ignore', () => [
      { paths: ['/data/a', '/spec/replicas'], ...chance.maybe(60, 'target', () => ({ kind: 'ConfigMap' })) },
    ]),
    ...chance.maybe(6, 'buildMetadata', () => chance.some(['originAnnotations', 'managedByLabel', 'other'], 60)),
    ...chance.maybe(8, 'decryption', () => ({ provider: 'sops' })),
  }
}

function fluxImage(odd: boolean, chance: Chance): Fields {
  const { tagSuffix, ...made } = image(chance)
  return odd && tagSuffix !== undefined ? { ...made, tagSuffix } : made
}

/** A patch for what may stand there, or for one kind with a text that fits any object of it. */
function patch(objects: readonly Fields[], odd: boolean, chance: Chance): Fields {
  if (!odd) return calmPatch(chance)
  const aim = chance.pick(objects)
  const text = plainText(chance.is(50) ? strategicPatch(aim, chance) : jsonPatch(aim, chance))
  return { patch: text, ...(text.startsWith('[') || chance.is(30) ? { target: target(aim, chance) } : {}) }
}

function calmPatch(chance: Chance): Fields {
  const kind = chance.pick(['ConfigMap', 'Deployment', 'Secret', 'Service', 'MyKind'])
  const [group, version] = { Deployment: ['apps', 'v1'], MyKind: ['example.org', 'v1'] }[kind] ?? ['', 'v1']
  const more = chance.pick<Fields>([
    { metadata: { labels: { patched: '1' } } },
    { metadata: { annotations: { patched: chance.pick(['yes', '1', 'x: y']) } } },
    kind === 'ConfigMap' ? { data: { added: 'x', a: null } } : { spec: { replicas: 2, added: [1, 'x'] } },
    { $patch: 'delete' },
  ])
  const head = { apiVersion: group === '' ? version! : `${group}/${version}`, kind }
  const merge = { ...head, ...more, metadata: { name: 'any', ...((more.metadata as Fields | undefined) ?? {}) } }
  const operations = [{ op: 'add', path: '/metadata/labels', value: { replaced: chance.pick(['a', '1']) } }]
  return {
    patch: chance.is(60) ? new YamlText(chance, 4).document(merge) : plainText(operations),
    target: { kind, ...chance.maybe(15, 'version', () => version!), ...chance.maybe(15, 'name', () => '.*') },
  }
}

function fluxComponents(files: Record<string, string>, odd: boolean, chance: Chance): Value {
  for (const name of ['fluxpart', 'fluxpart-2'])
    files[`${name}/kustomization.yaml`] = new YamlText(chance, 4).document({
      apiVersion: 'kustomize.config.k8s.io/v1alpha1',
      kind: 'Component',
      commonAnnotations: textPairs(chance),
      ...chance.maybe(30, 'configMapGenerator', () => [{ name: `${name}-made`, literals: ['a=1'] }]),
      ...chance.maybe(50, 'patches', () => [calmPatch(chance)]),
      ...chance.maybe(30, 'namePrefix', () => 'c-'),
    })
  if (!odd) return chance.is(60) ? ['../fluxpart'] : ['../fluxpart', '../fluxpart-2']
  return chance.list(1, 2, () =>
    chance.pick(['../fluxpart', '../fluxpart', './fluxpart', '../none', '../part', 'https://example.org/x']),
  )
}
