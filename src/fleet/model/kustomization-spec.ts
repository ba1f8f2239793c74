import { BailiwickError } from '../../base/errors.ts'
import { message, part } from '../../base/message.ts'
import { probably } from '../../base/name-list.ts'
import type { Origin } from '../../base/origin.ts'
import type { Tree } from '../../git/tree.ts'
import { ACCOUNT_FIELD, apiVersionOf, KUBECONFIG_FIELD, KUSTOMIZATION, valuesOf } from '../../kube/flux-kinds.ts'
import {
  at,
  type Field,
  type MapNode,
  type Node,
  originAt,
  type Path,
  type ScalarValue,
  stringAt,
} from '../../kube/node.ts'
import { groupOf, idOf, isNamespaceName, isSubdomain, type KubeObject } from '../../kube/object.ts'
import type { Lockdown } from './fleet.ts'

/** The fields of a Flux Kustomization that the graph needs, checked. */
export interface KustomizationSpec {
  readonly path: string
  /** Undefined where the field is absent, null, empty or blank: Flux then takes the default of the cluster. */
  readonly serviceAccount: string | undefined
  readonly source: { readonly kind: string; readonly namespace: string; readonly name: string }
  /** `<namespace>/<name>` of each. */
  readonly dependsOn: readonly string[]
  readonly suspend: boolean
  readonly prune: boolean
}

/** Namespace and name, as they become part of an identity. Throws `invalid-object`. */
export function readName(object: KubeObject): { namespace: string; name: string } {
  const namespace = text(object, ['metadata', 'namespace'])
  const name = text(object, ['metadata', 'name'])
  if (namespace === undefined || !isNamespaceName(namespace)) throw badName(object, ['metadata', 'namespace'])
  if (name === undefined || !isSubdomain(name)) throw badName(object, ['metadata', 'name'])
  return { namespace, name }
}

/** Reads the spec. Throws `invalid-object` for what may not become an identity, `flux-invalid` for other wrong types. */
export function readSpec(object: KubeObject, namespace: string): KustomizationSpec {
  const kind = required(object, ['spec', 'sourceRef', 'kind'])
  const name = required(object, ['spec', 'sourceRef', 'name'])
  const sourceNamespace = text(object, ['spec', 'sourceRef', 'namespace']) || namespace
  const path = text(object, ['spec', 'path'])
  if (path === undefined) throwMisspelled(object, ['spec', 'path'])
  return {
    path: path ?? '',
    serviceAccount: readServiceAccount(object),
    source: { kind, namespace: sourceNamespace, name },
    dependsOn: readDependsOn(object, namespace),
    suspend: flag(object, ['spec', 'suspend']),
    prune: flag(object, ['spec', 'prune']),
  }
}

/** The account that an object names; undefined where it names none. Throws `invalid-object` for an invalid name. */
export function readServiceAccount(object: KubeObject): string | undefined {
  const path = ACCOUNT_FIELD
  const value = at(object.root, path)
  if (isBlank(value)) return undefined
  if (value?.type === 'scalar' && typeof value.value === 'string' && isSubdomain(value.value)) return value.value
  throw badName(object, path)
}

/** Whether a field says nothing: absent, null, or a string of blanks. */
export function isBlank(node: Node | undefined): boolean {
  if (!node) return true
  if (node.type !== 'scalar') return false
  return node.value === null || (typeof node.value === 'string' && node.value.trim() === '')
}

function readDependsOn(object: KubeObject, namespace: string): string[] {
  const list = at(object.root, ['spec', 'dependsOn'])
  if (isBlank(list)) return []
  if (list?.type !== 'list') throw wrongType(object, ['spec', 'dependsOn'], 'a list')
  return list.items.map((_item, index) => {
    const path = ['spec', 'dependsOn', index]
    return `${text(object, [...path, 'namespace']) || namespace}/${required(object, [...path, 'name'])}`
  })
}

/** A string field; undefined where absent or null. Throws `flux-invalid` for another type. */
export function text(object: KubeObject, path: Path): string | undefined {
  const value = at(object.root, path)
  if (!value || (value.type === 'scalar' && value.value === null)) return undefined
  if (value.type === 'scalar' && typeof value.value === 'string') return value.value
  throw wrongType(object, path, 'text')
}

function required(object: KubeObject, path: Path): string {
  const value = text(object, path)
  if (value) return value
  throwMisspelled(object, path)
  const field = part('field', path.join('.'))
  const isPatch = ['sourceRef', 'interval'].every(name => at(object.root, ['spec', name]) === undefined)
  throw new BailiwickError('flux-invalid', message`${field}: missing`, {
    origin: originAt(object.root, path),
    fix: message`Set ${field}.${isPatch ? ' If the file is a patch, list it under patches of a kustomization.yaml: without one, Flux applies every file of the folder.' : ''}`,
  })
}

/** Throws where a key stands beside the missing one that was probably meant to be that. */
export function throwMisspelled(object: KubeObject, path: Path): void {
  const written = misspelled(object, path)
  if (written === undefined) return
  const [field, name] = [part('field', written.join('.')), part('value', String(path[written.length - 1]))]
  throw new BailiwickError('flux-invalid', message`${field}: Flux has no such field. Allowed: ${name}`, {
    origin: originAt(object.root, written),
    fix: message`Rename it to ${name}.`,
  })
}

/** The key that was probably meant to be the first missing one of a path. */
export function misspelled(object: KubeObject, path: Path): Path | undefined {
  const depth = path.findIndex((_, index) => at(object.root, path.slice(0, index + 1)) === undefined)
  const [start, meant] = [path.slice(0, depth), String(path[depth])]
  const parent = at(object.root, start)
  if (depth < 0 || parent?.type !== 'map') return undefined
  const written = [...parent.fields.keys(), ...(parent.dropped?.keys() ?? [])].find(
    key => probably(key, [meant]) === meant,
  )
  return written === undefined ? undefined : [...start, written]
}

/** Where a field is written, also under a misspelled name. */
export const meantOrigin = (object: KubeObject, path: Path): Origin =>
  originAt(object.root, misspelled(object, path) ?? path)

function flag(object: KubeObject, path: Path): boolean {
  const value = at(object.root, path)
  if (!value || (value.type === 'scalar' && value.value === null)) return false
  if (value.type === 'scalar' && typeof value.value === 'boolean') return value.value
  throw wrongType(object, path, 'true or false')
}

function wrongType(object: KubeObject, path: Path, allowed: 'a list' | 'text' | 'true or false'): BailiwickError {
  const field = part('field', path.join('.'))
  const details = { origin: originAt(object.root, path), fix: message`Set ${field} to ${allowed}.` }
  return new BailiwickError(
    'flux-invalid',
    message`${field}: the API server rejects this value. Allowed: ${allowed}`,
    details,
  )
}

function badName(object: KubeObject, path: Path): BailiwickError {
  return new BailiwickError(
    'invalid-object',
    message`${part('field', path.join('.'))}: not a valid Kubernetes name. Allowed: lower-case letters, digits and '-' (RFC 1123)`,
    { origin: originAt(object.root, path), fix: message`Write a valid name as plain text.` },
  )
}

/** Kinds that a controller applies as an account of their own namespace, by `<group>/<Kind>`. */
const APPLIERS = valuesOf(row => row.applies)

export const applierKinds: readonly string[] = [...APPLIERS.keys()]

/** The account that an object is applied as where it names none; undefined: the controller's own. */
export function fallbackAccount(object: KubeObject, lockdown: Lockdown | undefined): string | undefined {
  const { apiVersion, kind } = idOf(object)
  const fallback = APPLIERS.get(`${groupOf(apiVersion)}/${kind}`)?.fallback
  if (lockdown === undefined || fallback === undefined) return undefined
  return typeof fallback === 'string' ? lockdown[fallback] : fallback.account
}

/** The account of its own namespace that an object is applied as; undefined: the controller's own. */
export function accountOf(object: KubeObject, lockdown: Lockdown | undefined): string | undefined {
  const written = at(object.root, ACCOUNT_FIELD)
  return isBlank(written) ? fallbackAccount(object, lockdown) : stringAt(object.root, ACCOUNT_FIELD)
}

/** What an object says about the cluster that it acts on; undefined where that is its own. */
export function kubeConfigOf(object: KubeObject): Node | undefined {
  const found = at(object.root, KUBECONFIG_FIELD)
  return isBlank(found) ? undefined : found
}

/** The user is the one that a kubeconfig names, not an account; see remoteClusterOf. */
export const actsAsKubeConfig = (user: string): boolean => user.startsWith('kubeconfig ')

type Plain = ScalarValue | readonly Plain[] | { readonly [key: string]: Plain }

/** A node of plain values that all point at one place. */
export function nodeOf(value: Plain, origin: Origin): Node {
  if (Array.isArray(value)) return { type: 'list', items: value.map(item => nodeOf(item, origin)), origin }
  if (typeof value !== 'object' || value === null) return { type: 'scalar', value: value as ScalarValue, origin }
  const fields = new Map<string, Field>()
  for (const [key, item] of Object.entries(value)) fields.set(key, { key: origin, value: nodeOf(item, origin) })
  return { type: 'map', fields, origin }
}

/** The Kustomization that `flux bootstrap` makes for a cluster, where the fleet does not hold it. */
export function bootstrapKustomization(path: string, repository: string, tree: Tree): KubeObject {
  const candidates = ['flux-system/gotk-sync.yaml', 'flux-system/kustomization.yaml', 'kustomization.yaml']
  const first = tree.list(path).find(entry => entry.type === 'file')?.name
  const at = (name: string) => (path === '' ? name : `${path}/${name}`)
  const file = [...candidates, first ?? ''].find(name => tree.entry(at(name))?.type === 'file')
  const root = nodeOf(
    {
      apiVersion: apiVersionOf(KUSTOMIZATION),
      kind: 'Kustomization',
      metadata: { name: 'flux-system', namespace: 'flux-system' },
      spec: { path: `./${path}`, prune: true, sourceRef: { kind: 'GitRepository', name: 'flux-system' } },
    },
    { repository, file: file === undefined ? path : at(file), line: 1, column: 1 },
  )
  return { root: root as MapNode, trail: [] }
}
