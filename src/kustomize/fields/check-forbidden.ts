import { at, itemsOf, type MapNode, type Node, stringAt } from '../../kube/node.ts'
import { pinnedAddress } from '../paths/pinned-address.ts'
import { isRemote } from '../paths/remote.ts'
import { caseless } from './paths-in.ts'
import { refuseCaseVariant } from './read-fields.ts'
import { refuseHelm, refusePlugin, refuseRemote } from './refusals.ts'
import { KNOWN_FIELDS, KNOWN_NAMES } from './registry.ts'

const BY_LOWER_CASE = new Map(KNOWN_NAMES.map(name => [name.toLowerCase(), name]))

/**
 * Throws for what a kustomization file may not do, whether or not we support the field it stands in: fetch something
 * (rule `kustomize-remote-base`), inflate charts (`kustomize-helm-inflate`), run plugins (`kustomize-plugin`), hide a
 * field behind another spelling (`kustomize-case-variant-key`).
 */
export function checkForbidden(root: MapNode): void {
  checkFetched(root)
  for (const [name, field] of root.fields) {
    if (/^helm/i.test(name)) refuseHelm(name, field.key)
    refuseCaseVariant(name, KNOWN_NAMES, field.key)
  }
  for (const [name, field] of root.fields) KNOWN_FIELDS.get(name)?.forbid?.(field.value)
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
    const field = KNOWN_FIELDS.get(BY_LOWER_CASE.get(name.toLowerCase()) ?? '')
    const mayBePinned = KNOWN_FIELDS.get(name)?.mayBePinned ?? false
    for (const path of field?.paths?.(value) ?? []) if (!mayBePinned || !isPinned(path)) checkPath(path)
  }
}

const isPinned = (node: Node | undefined): boolean =>
  node?.type === 'scalar' && typeof node.value === 'string' && pinnedAddress(node.value) !== undefined

function checkPath(node: Node | undefined): void {
  if (node?.type !== 'scalar' || typeof node.value !== 'string' || node.value.trim().includes('\n')) return
  if (isRemote(node.value)) refuseRemote(node.value, node.origin)
  const equals = node.value.indexOf('=')
  if (equals <= 0) return
  const text = node.value.slice(equals + 1)
  if (isRemote(text)) refuseRemote(text, node.origin)
}
