import { BailiwickError } from '../../errors.ts'
import { at, type Node, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { textMapOf } from '../../kube/read-text.ts'
import { parseDocuments } from '../../kube/yaml/parse-documents.ts'

/** Where a source says the same for the gate alone, as YAML or JSON: Flux enforces no list of it. */
export const ACCESS_FROM = 'bailiwick.dev/access-from'

/** Whom a source lets in: labels of namespaces, any of these selectors; one without labels is everybody. */
type SourceAcl = readonly ReadonlyMap<string, string>[]

const MAX_LENGTH = 4096

/**
 * The access control list of a source (RFC-0002; github.com/fluxcd/pkg, apis/acl). Undefined: it has none, so it lets in
 * only its own namespace. `unreadable`: there is one, but it is not exactly of that form, so it lets in nobody.
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
  try {
    const [node, second] = parseDocuments({ repository: '', path: ACCESS_FROM }, new TextEncoder().encode(text))
    return second ? undefined : node
  } catch (error) {
    if (error instanceof BailiwickError) return undefined
    throw error
  }
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

const isNull = (node: Node) => node.type === 'scalar' && node.value === null

/** Another key may narrow what is meant, as matchExpressions would. */
function hasOnly(node: Node, key: string): boolean {
  return node.type === 'map' && [...node.fields.keys()].every(one => one === key)
}
