import { unlessRefused } from '../base/errors.ts'
import {
  KUSTOMIZATION,
  OPERATOR_GROUP,
  RESOURCE_SET,
  type ReferenceField,
  ROOT_NAME,
  ROOT_NAMESPACE,
  valuesOf,
} from '../kube/flux-kinds.ts'
import { at, isNull, type Node, type Path, stringAt } from '../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../kube/object.ts'
import { textMapOf } from '../kube/read-fields.ts'
import { parseDocuments } from '../kube/yaml/parse-documents.ts'

/** Whether an object is of a kind (`<group>/<Kind>`), of any version. */
export function isOfKind(object: KubeObject, name: string): boolean {
  const { apiVersion, kind } = idOf(object)
  return `${groupOf(apiVersion)}/${kind}` === name
}

/** Whether an object is the Flux Kustomization that a cluster starts from: `root`, or that of bootstrap. */
export function isRoot(object: KubeObject, root?: KubeObject): boolean {
  const { namespace, name } = idOf(object)
  const wanted = root ? idOf(root) : { namespace: ROOT_NAMESPACE, name: ROOT_NAME }
  return isKustomization(object) && namespace === wanted.namespace && name === wanted.name
}

/** Whether an object is a Flux Kustomization, of any version. */
export function isKustomization(object: KubeObject): boolean {
  return isOfKind(object, KUSTOMIZATION)
}

/** The same of its group and kind. */
export function isKustomizationKind(group: string, kind: string): boolean {
  return `${group}/${kind}` === KUSTOMIZATION
}

/** An object of Flux that names another object, maybe of another namespace. */
export interface Reference {
  /** Where the namespace is written. */
  readonly path: Path
  /** What is referred to, as far as it is written. */
  readonly kind: string
  readonly name: string
  /** The namespace as it is written; null where it is written but is not text. */
  readonly namespace: string | null
  /** The namespace refused by Flux itself under --no-cross-namespace-refs. */
  readonly refusedByFlux: boolean
  /** The kind has no namespace there. */
  readonly isUnknownField: boolean
}

/** Where references with a namespace stand, by group and kind. */
const PLACES = valuesOf(row => row.references)

/** The kinds that have references, as `<group>/<Kind>`. */
export const referringKinds: readonly string[] = [...PLACES.keys()]

/** Every reference of an object that names a namespace. A namespace that is null or empty is not one. */
export function references(object: KubeObject): Reference[] {
  const { apiVersion, kind } = idOf(object)
  const places = PLACES.get(`${groupOf(apiVersion)}/${kind}`) ?? []
  const found = places.flatMap(place => expand(object.root, place.path).flatMap(path => read(object.root, path, place)))
  return isOfKind(object, RESOURCE_SET) ? [...found, ...copies(object.root)] : found
}

/** Annotations by which the Flux Operator copies from `<namespace>/<name>` into objects of a ResourceSet. */
const COPYING = [`${OPERATOR_GROUP}/copyFrom`, `${OPERATOR_GROUP}/convertKubeConfigFrom`]
const COPIED = /fluxcd\.controlplane\.io\/(?:copyFrom|convertKubeConfigFrom)["']?[ \t]*:[ \t]*["']?([^"'\n]*)/g

/** What is copied into the objects of a ResourceSet and into those of its template, which is text. */
function copies(root: Node): Reference[] {
  const steps: Path[] = [['spec'], ...expand(root, ['spec', 'steps', '*'])]
  const resources = steps.flatMap(step => expand(root, [...step, 'resources', '*']))
  const places = resources.flatMap(item => COPYING.map(key => [...item, 'metadata', 'annotations', key]))
  const found = places.flatMap(path =>
    copied(path, stringAt(root, path) ?? '', stringAt(root, [...path.slice(0, -3), 'kind'])),
  )
  const written = steps.flatMap(step => {
    const template: Path = [...step, 'resourcesTemplate']
    const texts = [...(stringAt(root, template) ?? '').matchAll(COPIED)]
    return texts.flatMap(([, text = '']) => copied(template, text.trim()))
  })
  return [...found, ...written]
}

/** A value with placeholders may become any namespace. */
function copied(path: Path, text: string, kind = 'object'): Reference[] {
  const slash = text.indexOf('/')
  if (slash < 0 && !text.includes('<<')) return []
  const [namespace, name] = slash < 0 ? [text, ''] : [text.slice(0, slash), text.slice(slash + 1)]
  return [{ path, kind, name, namespace, refusedByFlux: false, isUnknownField: false }]
}

function expand(root: Node, path: Path): Path[] {
  const star = path.indexOf('*')
  if (star < 0) return [path]
  const list = at(root, path.slice(0, star))
  const count = list?.type === 'list' ? list.items.length : 0
  return Array.from({ length: count }, (_, index) => [...path.slice(0, star), index, ...path.slice(star + 1)])
}

function read(root: Node, path: Path, place: ReferenceField): Reference[] {
  const found = at(root, [...path, 'namespace'])
  if (!found || (found.type === 'scalar' && (found.value === null || found.value === ''))) return []
  const reference = at(root, path)
  return [
    {
      path: [...path, 'namespace'],
      kind: stringAt(reference, ['kind']) ?? place.kind ?? 'object',
      name: stringAt(reference, ['name']) ?? '',
      namespace: found.type === 'scalar' && typeof found.value === 'string' ? found.value : null,
      refusedByFlux: place.refusedByFlux ?? false,
      isUnknownField: place.isUnknownField ?? false,
    },
  ]
}

/** What an object waits for until it exists: sources, dependencies, image repositories. */
export interface NeededObject {
  /** Where the name is written. */
  readonly path: Path
  /** `<Kind>/<namespace>/<name>`. */
  readonly target: string
}

/** Fields that may name what is not there. */
const LOOSE = ['healthChecks', 'eventSources', 'resources']

/** What an object of Flux cannot do without. */
export function neededBy(object: KubeObject): NeededObject[] {
  const { apiVersion, kind, namespace } = idOf(object)
  const places = (PLACES.get(`${groupOf(apiVersion)}/${kind}`) ?? []).filter(
    ({ path }) => !LOOSE.includes(path[1] ?? ''),
  )
  return places.flatMap(place =>
    expand(object.root, place.path).flatMap((path): NeededObject[] => {
      const reference = at(object.root, path)
      const [named, name] = [stringAt(reference, ['kind']) ?? place.kind, stringAt(reference, ['name'])]
      // artifacts are made by generators, and placeholders become any name
      if (!named || !name || named === 'ExternalArtifact' || /[$<]/.test(name)) return []
      const target = `${named}/${stringAt(reference, ['namespace']) || namespace}/${name}`
      return [{ path: [...path, 'name'], target }]
    }),
  )
}

/** Where a source says the same for the gate alone, as YAML or JSON: Flux enforces no list of it. */
export const ACCESS_FROM = 'bailiwick.dev/access-from'

/** What a source lets in: namespaces by labels, any of these selectors; one without labels selects all. */
type SourceAcl = readonly ReadonlyMap<string, string>[]

const MAX_LENGTH = 4096

/**
 * The access control list of a source (RFC-0002; github.com/fluxcd/pkg, apis/acl). Undefined: it has none, so it lets in
 * only its own namespace. `unreadable`: there is one, but it is not exactly of that form, so it lets in no one.
 */
export function readSourceAcl(source: KubeObject): SourceAcl | 'unreadable' | undefined {
  const field = at(source.root, ['spec', 'accessFrom'])
  if (field && !isNull(field)) return readList(field) ?? 'unreadable'
  // image-reflector-controller enforces that field, and knows no annotation
  if (idOf(source).kind === 'ImageRepository') return undefined
  const annotation = at(source.root, ['metadata', 'annotations', ACCESS_FROM])
  if (!annotation || isNull(annotation)) return undefined
  const text = stringAt(annotation, [])
  if (text === undefined || text.length > MAX_LENGTH || (annotation.type === 'scalar' && annotation.opaque)) {
    return 'unreadable'
  }
  const node = parse(text)
  return (node && readList(node)) ?? 'unreadable'
}

/** Whether a list lets in a namespace with these labels. */
export function admits(acl: SourceAcl, labels: ReadonlyMap<string, string>): boolean {
  return acl.some(selector => [...selector].every(([key, value]) => labels.get(key) === value))
}

function parse(text: string): Node | undefined {
  return unlessRefused(undefined, () => {
    const [node, second] = parseDocuments({ repository: '', path: ACCESS_FROM }, new TextEncoder().encode(text))
    return second ? undefined : node
  })
}

function readList(node: Node): SourceAcl | undefined {
  if (!hasOnly(node, 'namespaceSelectors')) return undefined
  const list = at(node, ['namespaceSelectors'])
  if (!list || isNull(list)) return []
  if (list.type !== 'list') return undefined
  const selectors = list.items.map(item => (hasOnly(item, 'matchLabels') ? readLabels(item) : undefined))
  return selectors.every(one => one !== undefined) ? selectors : undefined
}

function readLabels(selector: Node): ReadonlyMap<string, string> | undefined {
  const labels = at(selector, ['matchLabels'])
  if (labels?.type !== 'map') return textMapOf(labels)
  const values = [...labels.fields.values()].map(({ value }) => value)
  return values.some(value => value.type === 'scalar' && value.opaque) ? undefined : textMapOf(labels)
}

/** Another key may narrow what is meant, as matchExpressions would. */
function hasOnly(node: Node, key: string): boolean {
  return node.type === 'map' && [...node.fields.keys()].every(one => one === key)
}
