import { BailiwickError } from '../../errors.ts'
import { at, type MapNode, type Node, stringAt } from '../../kube/node.ts'
import type { Origin } from '../../origin.ts'
import { pinnedAddress } from '../read/pinned-address.ts'
import { isRemote } from '../read/remote.ts'
import { refuseCaseVariant } from './read-fields.ts'

/** Every field that a kustomization file may have (kustomize 5.8.1, api/types/kustomization.go). */
export const KNOWN_FIELDS = (
  'apiVersion kind metadata openapi namePrefix nameSuffix namespace commonLabels labels commonAnnotations ' +
  'patchesStrategicMerge patchesJson6902 patches images imageTags replacements replicas vars sortOptions resources ' +
  'components crds bases configMapGenerator secretGenerator helmGlobals helmCharts helmChartInflationGenerator ' +
  'generatorOptions configurations generators transformers validators buildMetadata'
).split(' ')

const BY_LOWER_CASE = new Map(KNOWN_FIELDS.map(name => [name.toLowerCase(), name]))
const PATH_LISTS =
  'resources bases components crds configurations generators transformers validators patchesStrategicMerge'.split(' ')
/** Where a repository at a commit may be named: whether it is at hand shows when it is built. */
const PINNABLE = ['resources', 'bases', 'components']
const PATH_ITEMS = ['patches', 'patchesJson6902', 'replacements']
const GENERATORS = ['configMapGenerator', 'secretGenerator']

/**
 * Throws for what a kustomization file may not do, whether or not we support the field it stands in: fetch something
 * (rule `kustomize-remote-base`), inflate charts (`kustomize-helm-inflate`), run plugins (`kustomize-plugin`), hide a
 * field behind another spelling (`kustomize-case-variant-key`).
 */
export function checkForbidden(root: MapNode): void {
  checkFetched(root)
  for (const [name, field] of root.fields) {
    if (/^helm/i.test(name)) refuseHelm(name, field.key)
    refuseCaseVariant(name, KNOWN_FIELDS, field.key)
  }
  const [validator] = itemsOf(root.fields.get('validators')?.value)
  if (validator) refusePlugin('validators', validator.origin)
}

/**
 * Throws for an object of `generators` or `transformers` that is none of kustomize's builtins (rule `kustomize-plugin`),
 * inflates charts, or reads from elsewhere.
 */
export function checkBuiltin(object: Node): void {
  if (object.type !== 'map') return
  const kind = stringAt(object, ['kind']) ?? ''
  if (kind.endsWith('List')) for (const item of itemsOf(at(object, ['items']))) checkBuiltin(item)
  else if (stringAt(object, ['apiVersion']) !== 'builtin') refusePlugin(`the ${kind || 'object'} here`, object.origin)
  if (/^helm/i.test(kind)) refuseHelm(kind, object.origin)
  const annotations = at(object, ['metadata', 'annotations'])
  for (const [name, { key }] of annotations?.type === 'map' ? annotations.fields : []) {
    if (/^config\.(?:kubernetes|k8s)\.io\/function$/.test(name)) refusePlugin(`the annotation ${name}`, key)
  }
  checkPaths(object)
}

const PATHS_IN_BUILTINS = ['path', 'paths', 'files', 'envs', 'env', 'targetfilepath']

function checkPaths(object: MapNode): void {
  for (const name of PATHS_IN_BUILTINS) {
    const value = caseless(object, name)
    checkPath(value)
    for (const item of itemsOf(value)) checkPath(item)
  }
  for (const item of itemsOf(caseless(object, 'replacements'))) checkPath(caseless(item, 'path'))
}

function checkFetched(root: MapNode): void {
  for (const [name, { value }] of root.fields) {
    const field = BY_LOWER_CASE.get(name.toLowerCase()) ?? name
    const mayBePinned = name === field && PINNABLE.includes(field)
    if (PATH_LISTS.includes(field)) {
      for (const item of itemsOf(value)) if (!mayBePinned || !isPinned(item)) checkPath(item)
    }
    if (PATH_ITEMS.includes(field)) for (const item of itemsOf(value)) checkPath(caseless(item, 'path'))
    if (field === 'openapi') checkPath(caseless(value, 'path'))
    if (!GENERATORS.includes(field)) continue
    for (const item of itemsOf(value)) {
      for (const source of ['files', 'envs']) for (const path of itemsOf(caseless(item, source))) checkPath(path)
      checkPath(caseless(item, 'env'))
    }
  }
}

const isPinned = (node: Node): boolean =>
  node.type === 'scalar' && typeof node.value === 'string' && pinnedAddress(node.value) !== undefined

function checkPath(node: Node | undefined): void {
  if (node?.type !== 'scalar' || typeof node.value !== 'string' || node.value.trim().includes('\n')) return
  if (isRemote(node.value)) refuseRemote(node.value, node.origin)
  const equals = node.value.indexOf('=')
  if (equals <= 0) return
  const text = node.value.slice(equals + 1)
  if (isRemote(text)) refuseRemote(text, node.origin)
}

function caseless(node: Node, name: string): Node | undefined {
  if (node.type !== 'map') return undefined
  for (const [key, { value }] of node.fields) if (key === name || key.toLowerCase() === name) return value
  return undefined
}

const itemsOf = (node: Node | undefined): readonly Node[] => (node?.type === 'list' ? node.items : [])

/** Throws for an address that is fetched from elsewhere (rule `kustomize-remote-base`). */
export function refuseRemote(text: string, origin: Origin): never {
  const shown = text.replace(/\/\/[^/@\s]*@/, '//***@')
  throw new BailiwickError(
    'kustomize-unsupported',
    `${JSON.stringify(shown)} is fetched from outside this repository`,
    {
      origin,
      rule: 'kustomize-remote-base',
      remote: shown,
      fix: 'Copy the files into this repository, or make them a Flux source of their own.',
    },
  )
}

function refuseHelm(name: string, origin: Origin): never {
  throw new BailiwickError('kustomize-unsupported', `${name} inflates charts during the build; Flux refuses to`, {
    origin,
    rule: 'kustomize-helm-inflate',
    fix: 'Use a HelmRelease.',
  })
}

function refusePlugin(name: string, origin: Origin): never {
  throw new BailiwickError('kustomize-unsupported', `${name} runs plugins during the build`, {
    origin,
    rule: 'kustomize-plugin',
    fix: 'Use patches, labels or configMapGenerator instead.',
  })
}
