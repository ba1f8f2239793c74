import { firstNames } from '../base/name-list.ts'
import { oncePer } from '../base/once-per.ts'
import { kindOf } from '../fleet/facts/object-table.ts'
import { heldNodes } from '../fleet/facts/reconcilers.ts'
import { objectText } from '../fleet/facts/shown.ts'
import { setKey } from '../fleet/graph/open-resource-sets.ts'
import { type Fleet, type FleetNode, type NotSeen, nodesByKey } from '../fleet/model/fleet.ts'
import { renderResourceSet, setsIn } from '../fleet/rendering/render-resource-set.ts'
import { CAPSULE_GROUP } from '../fleet/tenancy/capsule.ts'
import { INPUT_PROVIDER, OPERATOR_GROUP } from '../kube/flux-kinds.ts'
import { at, canonical, itemsOf, type Node, stringAt } from '../kube/node.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import { fieldTexts, readLabelSelector, selects, textMapOf } from '../kube/read-fields.ts'
import type { RequiredApproval } from '../rules/model/finding.ts'
import { isNotVisible, leftOutOf } from './evaluated.ts'
import { placeOf } from './hidden-content.ts'
import { onePerGroup } from './source-approvals.ts'

/** A file at an address that no repository holds, which Flux fetches for the platform. */
export interface RemoteFile {
  readonly url: string
  /** The file that names it. */
  readonly file: string
  readonly repository: string
  readonly node: FleetNode
  /** It names no address itself, but changes what the remote file holds, as a patch does. */
  readonly isPatch: boolean
  /** Digest of all that is known of it. */
  readonly hides: string
  /**
   * Its identity: what another file names, another address in the same file, another patch of it, or the same on another
   * cluster or with another account, is another one. Where nothing of its node is applied it is the same everywhere.
   */
  readonly key: string
  /** The identities under which it needs no approval later. */
  readonly known: readonly string[]
}

/** The remote files of the platform, each once for the file that names it and for the place where it is applied. */
export function remoteFiles(fleet: Fleet): RemoteFile[] {
  const { nodes, clusters } = fleet
  const lockdowns = new Map(clusters.map(({ name, lockdown }) => [name, lockdown]))
  const held = heldNodes(fleet.nodes)
  const found = new Map<string, RemoteFile>()
  for (const node of nodes) {
    if (node.tenant !== undefined || node.holes === undefined) continue
    for (const part of leftOutOf(node)) {
      if (part.remote === undefined || !isNotVisible(node, part, lockdowns.get(node.cluster))) continue
      const { file, repository } = part.error.origin ?? node.kustomization.root.origin
      const isPatch = part.error.remote === undefined
      const one = { url: part.remote, file, repository, node, hides: part.hides, isPatch }
      const [same, { now, known }] = [sameFile(one), placeOf(node, held.has(node.key), '')]
      const at = (place: string) => JSON.stringify([same, place])
      const key = now === undefined ? same : at(now)
      if (!found.has(key)) found.set(key, { ...one, key, known: [same, ...known.map(at)] })
    }
  }
  return [...found.values()]
}

/** The same, wherever it is applied. */
export const sameFile = ({
  url,
  file,
  repository,
  hides,
}: Pick<RemoteFile, 'url' | 'file' | 'repository' | 'hides'>): string => JSON.stringify([repository, file, url, hides])

/** Each once, however often it is applied. */
export function notSeenOf(files: readonly RemoteFile[]): NotSeen[] {
  return [...new Map(files.map(entryOf).map(entry => [JSON.stringify(entry), entry])).values()]
}

function entryOf({ url, file, node, isPatch }: RemoteFile): NotSeen {
  const how = isPatch ? 'patched' : 'named'
  const reason = `a remote file of the platform, ${how} in ${file}; nothing of it is evaluated`
  return { source: `Kustomization/${node.namespace}/${node.name}`, url, reason, what: 'files' }
}

const FEW = 3
/** Fields of a ResourceSet that decide what becomes of a part that is not rendered. */
const DECIDING = new Set(['inputs', 'inputsFrom', 'inputStrategy', 'serviceAccountName', 'commonMetadata'])
const RECONCILE = ['metadata', 'annotations', `${OPERATOR_GROUP}/reconcile`]
/** Fields of a provider that decide when it asks, and not what. */
const TIMING = new Set(['schedule', 'timeout'])

/**
 * What ResourceSets of the platform newly make of parts that are not rendered: templates with functions, and inputs that a
 * provider has from somewhere else. The operator applies it, as cluster-admin or as an account, and nothing of it is
 * evaluated. Those of tenants have the rule `embedded-content`.
 */
export function unrenderedSets(head: Fleet, base: Fleet): RequiredApproval[] {
  const now = unrendered(head)
  if (now.length === 0) return []
  const known = new Set(unrendered(base).map(({ key }) => key))
  return onePerGroup(
    now.filter(({ key }) => !known.has(key)),
    ({ set, what }) => JSON.stringify([set.root.origin, what]),
    ({ set, what }, others) => {
      const message = `${objectText(set)}${others} creates objects that are not evaluated (${what})`
      return { rule: 'embedded-content', path: set.root.origin.file, message }
    },
  )
}

interface Unrendered {
  readonly set: KubeObject
  /** Where its parts are. */
  readonly what: string
  /** Equal for what makes the same on the same cluster. */
  readonly key: string
}

const placeKey = ({ cluster }: FleetNode, namespace: string) => JSON.stringify([cluster, namespace])

const unrendered = oncePer(({ nodes }: Fleet): readonly Unrendered[] => {
  const opened = nodesByKey(nodes)
  const found = nodes.flatMap(node => {
    if (node.tenant !== undefined) return []
    return setsIn(node.objects).flatMap(set => {
      const parts = partsOf(set, node.hub === undefined && opened.has(setKey(node.cluster, set)))
      return parts.length === 0 ? [] : [{ node, set, parts }]
    })
  })
  if (found.length === 0) return []
  const providers = providersIn(nodes)
  return found.map(({ node, set, parts }) => {
    const own = providers.get(placeKey(node, idOf(set).namespace)) ?? []
    const key = keyOf(
      node,
      set,
      parts.map(([, part]) => canonical(part)),
      own.filter(provider => isReadBy(set, provider)).map(({ text }) => text),
    )
    const places = parts.map(([place]) => place)
    return { set, what: firstNames(places, FEW), key }
  })
})

/** What of a set is not evaluated; of one that is not opened, on another cluster or nested too deep, all of it. */
function partsOf(set: KubeObject, isOpened: boolean): (readonly [place: string, part: Node])[] {
  const { objects, left } = renderResourceSet(set)
  const spec = at(set.root, ['spec'])
  if (!isOpened && objects.length > 0 && spec) return [['spec', spec]]
  return left.flatMap(one => (one.part ? [[one.at, one.part] as const] : []))
}

function keyOf(node: FleetNode, set: KubeObject, parts: readonly string[], providers: readonly string[]): string {
  const { namespace, name } = idOf(set)
  const spec = fieldTexts(at(set.root, ['spec']), field => DECIDING.has(field))
  const state = stringAt(set.root, RECONCILE) ?? ''
  return JSON.stringify([node.cluster, namespace, name, state, parts, spec, providers])
}

interface InputProvider {
  readonly object: KubeObject
  /** Equal where it gives the same inputs. */
  readonly text: string
}

/** Whether a ResourceSet has inputs from a provider of its namespace; of a selector that is not valid, any may become one. */
function isReadBy(set: KubeObject, { object: { root } }: InputProvider): boolean {
  const labels = textMapOf(at(root, ['metadata', 'labels']))
  return itemsOf(at(set.root, ['spec', 'inputsFrom'])).some(from => {
    const name = stringAt(from, ['name'])
    if (name) return name === stringAt(root, ['metadata', 'name'])
    const written = at(from, ['selector'])
    const selector = written && readLabelSelector(written)
    return !selector || !labels || selects(selector, labels)
  })
}

/** The providers of each namespace, those of tenants too: a ResourceSet has inputs from its own namespace only. */
function providersIn(nodes: readonly FleetNode[]): ReadonlyMap<string, readonly InputProvider[]> {
  const found = new Map<string, InputProvider[]>()
  for (const node of nodes) {
    for (const object of node.objects) {
      if (kindOf(object) !== INPUT_PROVIDER) continue
      const { namespace, name } = idOf(object)
      const spec = fieldTexts(at(object.root, ['spec']), field => !TIMING.has(field))
      const key = placeKey(node, namespace)
      found.set(key, [...(found.get(key) ?? []), { object, text: JSON.stringify([name, spec]) }])
    }
  }
  for (const providers of found.values()) providers.sort((a, b) => (a.text < b.text ? -1 : 1))
  return found
}

const REPLICATIONS = new Set(['GlobalTenantResource', 'TenantResource'].map(kind => `${CAPSULE_GROUP}/${kind}`))
/** Kinds of RBAC, also in the template of a generator. */
const RIGHTS = /(?:Cluster)?Role(?:Binding)?["\s,}\\]/
const RBAC = /rbac\.authorization\.k8s\.io/

/**
 * Roles and bindings that Capsule newly copies into namespaces of Tenants for the platform, also into those that come later:
 * no binding is rendered there. Those of tenants have the rule `capsule-tenant-resource`.
 */
export function replicatedRights(head: Fleet, base: Fleet): RequiredApproval[] {
  const known = new Set(replicationsIn(base).map(({ key }) => key))
  return onePerGroup(
    replicationsIn(head).filter(({ key }) => !known.has(key)),
    ({ object }) => JSON.stringify(object.root.origin),
    ({ object }, others) => {
      const { namespace } = idOf(object)
      const where =
        namespace === '' ? 'every namespace of the Tenants that it selects' : 'every namespace of its Tenant'
      const message = `${objectText(object)}${others} makes Capsule create roles or bindings in ${where}`
      return { rule: 'capsule-tenant-resource', path: object.root.origin.file, message }
    },
  )
}

interface Replication {
  readonly object: KubeObject
  readonly key: string
}

const replicationsIn = ({ nodes }: Fleet): readonly Replication[] =>
  nodes.flatMap(({ tenant, cluster, objects }) =>
    tenant === undefined
      ? replicationsOf(objects).map(({ object, key }) => ({ object, key: `${cluster} ${key}` }))
      : [],
  )

const replicationsOf = oncePer((objects: readonly KubeObject[]): readonly Replication[] =>
  objects.flatMap(object => {
    const resources = REPLICATIONS.has(kindOf(object)) ? at(object.root, ['spec']) : undefined
    const text = resources ? canonical(resources) : ''
    if (!RBAC.test(text) || !RIGHTS.test(text)) return []
    const { kind, namespace, name } = idOf(object)
    return [{ object, key: JSON.stringify([kind, namespace, name, text]) }]
  }),
)
