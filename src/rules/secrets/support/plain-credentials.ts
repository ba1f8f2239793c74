import { valuesOf } from '../../../flux/kinds.ts'
import { at, type Node, type Path, stringAt } from '../../../kube/node.ts'
import { idOf, type KubeObject } from '../../../kube/object.ts'
import { everyMap } from '../../model/every-map.ts'
import { credentialIn, mayHoldCredential } from './credential-forms.ts'
import { assignedCredential, isCredentialName, isLiteral } from './credential-keys.ts'
import { scalarsOf } from './scalars-of.ts'
import { type OpenValue, openValues } from './secret-values.ts'

/** What a first look at an object shows: most hold nothing that is worth a second. */
export interface Glance {
  credential: boolean
  secret: boolean
  environment: boolean
}

const glances = new WeakMap<Node, Glance>()

/** Looks at each value and name of an object once. */
export function glanceAt(root: Node): Glance {
  const known = glances.get(root)
  if (known) return known
  const seen: Glance = { credential: false, secret: false, environment: false }
  look(root, seen, true)
  glances.set(root, seen)
  return seen
}

function look(node: Node, seen: Glance, isRoot: boolean): void {
  if (node.type === 'scalar') {
    if (typeof node.value === 'string' && !seen.credential) seen.credential = mayHoldCredential(node.value)
  } else if (node.type === 'list') for (const item of node.items) look(item, seen, false)
  else {
    for (const [key, { value }] of node.fields) {
      if (key === 'env') seen.environment = true
      if (key === 'kind' && !isRoot && value.type === 'scalar' && value.value === 'Secret') seen.secret = true
      look(value, seen, false)
    }
  }
}

/** A value that is, or very likely is, a credential in the open. */
export interface PlainCredential {
  readonly path: Path
  readonly what: string
  /** The name says so, the value by itself does not. */
  readonly byName: boolean
}

/** A value of a Secret inside of an object of another kind; `harmless`: why it is no secret all the same. */
type EmbeddedValue = PlainCredential & Pick<OpenValue, 'harmless'>

/** Credentials in an object that is no Secret, by their form. */
export function* knownCredentials(kind: string, { root }: KubeObject): Iterable<PlainCredential> {
  const binary = kind === '/ConfigMap' ? at(root, ['binaryData']) : undefined
  if (binary?.type === 'map') {
    for (const [key, { value }] of binary.fields) {
      const text = value.type === 'scalar' && typeof value.value === 'string' ? value.value : ''
      const found = credentialIn(Buffer.from(text, 'base64').toString('latin1'))
      if (found) yield { path: ['binaryData', key], what: found.what, byName: false }
    }
  }
  for (const { path, node } of scalarsOf(root)) {
    if (typeof node.value !== 'string' || node.opaque) continue
    const found = credentialIn(node.value)
    if (found) yield { path, what: found.what, byName: false }
  }
}

/** Secrets inside of objects of other kinds: what a controller would create from a list of manifests. */
export function* embeddedSecrets({ root }: KubeObject): Iterable<EmbeddedValue> {
  for (const { path, node } of everyMap(root)) {
    if (path.length === 0 || stringAt(node, ['kind']) !== 'Secret' || stringAt(node, ['apiVersion']) !== 'v1') continue
    // a policy that generates a Secret names it beside its data, not in metadata
    if (at(node, ['metadata'])?.type !== 'map') continue
    for (const { path: inner, harmless } of openValues(node, false)) {
      const value = { path: [...path, ...inner], what: 'a value of a Secret', byName: false }
      yield harmless ? { ...value, harmless } : value
    }
  }
}

/** Places whose names are chosen by people and whose values are read by programs. */
const NAMED: ReadonlyMap<string, readonly Path[]> = new Map<string, readonly Path[]>([
  ...[...valuesOf(row => row.free)].map(([kind, path]) => [kind, [path]] as const),
  ['/ConfigMap', [['data']]],
])

/** Whether names of this kind's values say what they are. */
export const hasNames = (kind: string): boolean => NAMED.has(kind)

/** Credentials by the name that they have: in values of charts, variables, ConfigMaps and the environment of containers. */
export function* namedCredentials(kind: string, object: KubeObject): Iterable<PlainCredential> {
  const places = NAMED.get(kind)
  if (!places) {
    yield* environment(object.root)
    return
  }
  for (const base of places) {
    const root = at(object.root, base)
    if (!root) continue
    for (const { path, node } of scalarsOf(root, base)) {
      if (node.opaque || typeof node.value === 'boolean' || node.value === null) continue
      const name = String(path.findLast(step => typeof step === 'string'))
      const text = String(node.value)
      if (isCredentialName(name) ? isLiteral(text) : kind === '/ConfigMap' && assignedCredential(text) !== undefined) {
        yield { path, what: 'a credential', byName: true }
      }
    }
  }
  if (kind !== '/ConfigMap') yield* environment(object.root)
}

function* environment(root: Node): Iterable<PlainCredential> {
  for (const { path, node } of everyMap(root)) {
    const list = node.fields.get('env')?.value
    if (list?.type !== 'list') continue
    for (const [index, item] of list.items.entries()) {
      const value = at(item, ['value'])
      if (value?.type !== 'scalar' || value.opaque || typeof value.value !== 'string') continue
      if (!isCredentialName(stringAt(item, ['name']) ?? '') || !isLiteral(value.value)) continue
      yield { path: [...path, 'env', index, 'value'], what: 'a credential', byName: true }
    }
  }
}

/** Kinds whose text is documentation, megabytes of it, and never a value. */
export const isDocumentation = (object: KubeObject): boolean => idOf(object).kind === 'CustomResourceDefinition'
