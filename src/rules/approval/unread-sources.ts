import type { Fleet, FleetNode } from '../../fleet/fleet.ts'
import { refKey } from '../../fleet/ref.ts'
import { ASKED, WANTED } from '../../fleet/unread.ts'
import { canonical } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import type { RequiredApproval } from '../finding.ts'
import { kindOf } from '../index/kind-of.ts'
import { shown, shownObject } from '../shown.ts'
import { appliedWith } from '../verdict/applied-as.ts'
import { followedText, isSame } from './followed-text.ts'

/** Nothing of what the platform applies from there is evaluated; a tenant's is confined, and has rules of its own. */
const isUnread = ({ tenant, source: { opaque } }: FleetNode): boolean =>
  tenant === undefined && opaque !== undefined && opaque !== WANTED && opaque !== ASKED

/**
 * What the platform newly applies of content that is not visible: another source, revision or path, in another place, with
 * other rights or in another form. And what it newly follows by a revision that moves without a change that is evaluated.
 */
export function unreadSources(head: Fleet, base: Fleet): RequiredApproval[] {
  const before = new Map(base.nodes.map(node => [node.key, node]))
  const specs = specsOf(head)
  const known = knownOf(base)
  const told = head.nodes.flatMap(node => {
    const was = before.get(node.key)
    // of a cluster that is asked for already
    if (node.parent === undefined && was && !(isSame(was, node) && isUnread(was) === isUnread(node))) return []
    const what = isUnread(node)
      ? isToldAsError(node, was) || appliedWith(node) === undefined || known.has(keyOf(node, specs))
        ? undefined
        : `is not visible, so nothing of it is evaluated: ${node.source.opaque}`
      : movesFreely(node) && !(was && movesFreely(was) && was.source.url === node.source.url)
        ? 'can be changed by whoever may push it, without a change that is evaluated'
        : undefined
    return what === undefined ? [] : [{ node, what }]
  })
  return grouped(told)
}

/** A tag, a range of tags or another ref that is no branch: of what is not visible that is said anyway. */
function movesFreely({ tenant, source: { opaque, ref } }: FleetNode): boolean {
  return tenant === undefined && opaque === undefined && (ref.tag ?? ref.semver ?? ref.name) !== undefined
}

/** What a change makes undeclared, or another address, is an evaluation error. */
function isToldAsError({ source }: FleetNode, was: FleetNode | undefined): boolean {
  if (source.unmatched === undefined) return false
  const { why } = source.unmatched
  return !(was?.source.unmatched?.why === why && was.source.id === source.id && was.source.url === source.url)
}

interface Told {
  readonly node: FleetNode
  readonly what: string
}

/** Each source once, however many Kustomizations follow it. */
function grouped(told: readonly Told[]): RequiredApproval[] {
  const groups = Map.groupBy(told, ({ node, what }) => `${followedText(node)} ${what}`)
  return [...groups.values()].map(group => {
    const [{ node, what }, ...more] = group as [Told, ...Told[]]
    const others = more.length === 0 ? '' : ` (and ${more.length} more)`
    const message = `${shownObject('Kustomization', node.namespace, node.name)}${others} would follow ${shown(followedText(node))}, which ${what}`
    const rule = isUnread(node) ? 'source-opaque' : 'source-mutable-ref'
    return { rule, path: node.kustomization.root.origin.file, message }
  })
}

/** What is the same for two nodes that apply the same unseen content in the same way, whatever they are called. */
function keyOf(node: FleetNode, specs: Specs): string {
  const { source, path } = node
  const spec = specs.get(`${node.hub ?? node.cluster} ${source.id}`) ?? ''
  return JSON.stringify([source.url, refKey(source.ref), spec, path, appliedWith(node)])
}

function knownOf(base: Fleet): ReadonlySet<string> {
  const specs = specsOf(base)
  return new Set(
    base.nodes.filter(node => isUnread(node) && appliedWith(node) !== undefined).map(node => keyOf(node, specs)),
  )
}

/** What source objects say about content, by `<cluster> <Kind>/<namespace>/<name>`. */
type Specs = ReadonlyMap<string, string>

function specsOf({ nodes }: Fleet): Specs {
  const wanted = new Set(nodes.filter(isUnread).map(({ hub, cluster, source }) => `${hub ?? cluster} ${source.id}`))
  if (wanted.size === 0) return new Map()
  return new Map(
    nodes.flatMap(node =>
      sourcesOf(node).flatMap(([id, text]) =>
        wanted.has(`${node.cluster} ${id}`) ? [[`${node.cluster} ${id}`, text]] : [],
      ),
    ) as [string, string][],
  )
}

/** Fields of a source that decide when it is fetched, and not what. */
const TIMING = new Set(['interval', 'timeout'])
const SOURCES = /^source\.(?:toolkit|extensions)\.fluxcd\.io\//

const texts = new WeakMap<FleetNode, readonly (readonly [id: string, text: string])[]>()

function sourcesOf(node: FleetNode): readonly (readonly [id: string, text: string])[] {
  const known = texts.get(node)
  if (known) return known
  const found = [...node.objects, ...(node.retained ?? [])].flatMap(object => {
    if (!SOURCES.test(kindOf(object))) return []
    const { kind, namespace, name } = idOf(object)
    return [[`${kind}/${namespace}/${name}`, textOf(object)] as const]
  })
  texts.set(node, found)
  return found
}

function textOf({ root }: KubeObject): string {
  const spec = root.fields.get('spec')?.value
  if (spec?.type !== 'map') return ''
  const fields = [...spec.fields].flatMap(([key, { value }]) => (TIMING.has(key) ? [] : [[key, canonical(value)]]))
  return JSON.stringify(fields.sort())
}
