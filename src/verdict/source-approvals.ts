import { oncePer } from '../base/once-per.ts'
import { isReported } from '../fleet/config/declared-settings.ts'
import { withOwnAddress } from '../fleet/config/fleet-file.ts'
import { FleetIndex } from '../fleet/facts/fleet-index.ts'
import { kindOf } from '../fleet/facts/object-table.ts'
import { objectText, shown, shownName, shownObject } from '../fleet/facts/shown.ts'
import { followedBy, sourceText, takenBy, wordsOf } from '../fleet/facts/sources.ts'
import { type Fleet, type FleetNode, type NodeSource, nodesByKey } from '../fleet/model/fleet.ts'
import { addressIn, type DeclaredArtifact, type DeclaredSource, FLEET_FILE } from '../fleet/model/fleet-config.ts'
import { declarationKey, NOT_READABLE } from '../fleet/model/source-access.ts'
import { ociReference, refKey, type SourceRef } from '../fleet/model/source-ref.ts'
import { withEmbedded } from '../kube/capabilities/embedded-objects.ts'
import { GIT_REPOSITORY, kindsThat } from '../kube/flux-kinds.ts'
import { at, originAt, stringAt } from '../kube/node.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import type { RequiredApproval } from '../rules/model/finding.ts'
import { applierOf, isApprovedSource, isGatedSource, sourceUngatedRef } from '../rules/sources/source-refs.ts'

/**
 * Changes of what brings content out of a registry that is evaluated as what git has: another address, tag, signature or
 * folder is another content, whatever the files of this repository say. So is one that is newly followed and only assumed, and
 * what another program pushes. One approval per source, or per file that decides what is pushed.
 */
export function artifactApprovals(head: Fleet, base: Fleet): RequiredApproval[] {
  const before = nodesByKey(base.nodes)
  const approvals = new Map<string, RequiredApproval>()
  const add = (one: RequiredApproval) => approvals.has(one.message) || approvals.set(one.message, one)
  for (const node of head.nodes) {
    const { source, cluster } = node
    const was = before.get(node.key)?.source
    if (was === source) continue
    const same = sourcesByText(base.nodes).get(textOf(source))
    const path = originAt(node.kustomization.root, ['spec', 'sourceRef']).file
    if (was === undefined && source.artifact?.assumed !== undefined && !same) {
      const message = `${shown(source.id)} on cluster ${shown(cluster)} is new, and its content is only assumed: ${shownOf(source)}`
      add({ rule: 'source-opaque', path, message })
    } else if (was !== undefined && textOf(was) !== textOf(source)) {
      const message = `${shown(source.id)} on cluster ${shown(cluster)}: the OCI artifact, or what proves where it comes from, changes from ${shownOf(was)} to ${shownOf(source)}`
      add({ rule: 'source-verify-removed', path, message })
    } else if (same) for (const one of pushedOtherwise(source, same, head)) add(one)
  }
  return [...approvals.values()]
}

const sourcesByText = oncePer(
  (nodes: readonly FleetNode[]): ReadonlyMap<string, NodeSource> =>
    new Map(nodes.map(({ source }) => [textOf(source), source])),
)

/** Files that decide what is pushed and that change; those in .github of the fleet's own repository are guarded as such. */
function pushedOtherwise({ artifact, url }: NodeSource, was: NodeSource, { repositories }: Fleet): RequiredApproval[] {
  if (!artifact || artifact.pushedBy === was.artifact?.pushedBy) return []
  const idsOf = (source: Pick<NodeSource, 'artifact'>) =>
    new Map(source.artifact?.pushedBy.map(({ path, id }) => [path, id]))
  const [old, now] = [idsOf(was), idsOf({ artifact })]
  const isGuarded = (path: string) => url === repositories[0]?.url && path.startsWith('.github/')
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter(path => old.get(path) !== now.get(path) && !isGuarded(path))
    .map(path => {
      const message = `${shown(path)} of ${shown(url)} may decide what is pushed to ${shown(`oci://${artifact.address}`)}, which is evaluated as ./${artifact.folder}`
      return { rule: 'source-verify-removed', path, message }
    })
}

/**
 * Signatures that Flux asked for before it took what a cluster starts with, or what the platform lets a tenant deploy, and
 * now does not ask for or asks of another signer. No manifest has the source that a FluxInstance makes. One approval per source.
 */
export function verifyApprovals(head: Fleet, base: Fleet): RequiredApproval[] {
  const [before, now] = [nodesByKey(base.nodes), nodesByKey(head.nodes)]
  const weakened = head.nodes.filter(({ key, parent, source, tenant }) => {
    const was = before.get(key)?.source
    // what else the platform follows unseen is asked for as such
    const isPlatforms = parent === undefined || (tenant !== undefined && now.get(parent)?.tenant === undefined)
    return isPlatforms && was?.verify !== undefined && was.verify !== source.verify && textOf(was) === textOf(source)
  })
  return onePerGroup(
    weakened,
    ({ cluster, source }) => JSON.stringify([cluster, source.id]),
    ({ cluster, source, kustomization, parent }) => {
      const spec = parent === undefined ? [] : ['spec', 'sourceRef']
      const what = source.verify === undefined ? 'is no longer verified' : 'is verified in another way'
      const message = `${shown(source.id)} on cluster ${shown(cluster)} ${what}: Flux would deploy content that it refused before`
      return { rule: 'source-verify-removed', path: originAt(kustomization.root, spec).file, message }
    },
  )
}

/** '' for a source that no artifact brings. */
const textOf = ({ artifact }: NodeSource): string =>
  artifact === undefined
    ? ''
    : JSON.stringify([artifact.address, artifact.folder, artifact.trust, artifact.assumed !== undefined])

const shownOf = ({ artifact, url, id }: NodeSource) =>
  artifact ? `${shown(`oci://${artifact.address}`)} (./${artifact.folder})` : shown(url || id)

const RULE = 'source-opaque'

/**
 * What is evaluated now only because the fleet's file says what a source follows, where the change takes that out of the
 * file: the file counts as it was before the change, so the evaluation itself shows nothing of it.
 */
export function lostDeclarations(head: Fleet): RequiredApproval[] {
  const { config } = head
  const proposed = withOwnAddress(head.proposed, head.repositories[0]?.url ?? '')
  if (proposed.error) return []
  const sources = lostSources(config.sources, proposed.sources)
  const lost = [...config.aliases].filter(([address, url]) => addressIn(proposed.aliases, address) !== url)
  const artifacts = lostArtifacts(config.artifacts, proposed.artifacts)
  if (sources.length + lost.length + artifacts.length === 0) return []
  const followers = Map.groupBy(head.nodes, ({ hub, cluster, source }) => `${hub ?? cluster} ${source.id}`)
  return [
    ...sources.flatMap(({ kind, namespace, name, clusters = head.clusters.map(one => one.name) }) => {
      const nodes = clusters.flatMap(cluster => followers.get(`${cluster} ${kind}/${namespace}/${name}`) ?? [])
      return approvalOf(nodes, `follows ${shownObject(kind, namespace, name)}, which`)
    }),
    ...[...addressed(head, new Set([...lost.map(([address]) => address), ...artifacts]))].flatMap(
      ([address, sources]) => {
        const nodes = sources.flatMap(key => followers.get(key) ?? [])
        return approvalOf(
          nodes,
          `follows ${shown(address)}, whose ${artifacts.includes(address) ? 'content' : 'repository'}`,
        )
      },
    ),
  ]
}

/** The repositories of artifacts whose declaration in the fleet's file changes. */
function lostArtifacts(was: readonly DeclaredArtifact[], is: readonly DeclaredArtifact[]): string[] {
  const textOf = ({ address, path }: DeclaredArtifact) => JSON.stringify([address, path])
  const kept = new Set(is.map(textOf))
  return was.flatMap(one => (kept.has(textOf(one)) ? [] : [ociReference(one.address)?.repository ?? one.address]))
}

function lostSources(was: readonly DeclaredSource[], is: readonly DeclaredSource[]): DeclaredSource[] {
  const textOf = ({ kind, namespace, name, url, ref, clusters }: DeclaredSource) =>
    JSON.stringify([kind, namespace, name, url, refKey(ref), clusters ?? null])
  const kept = new Set(is.map(textOf))
  return was.filter(one => !kept.has(textOf(one)))
}

/** What a fleet's file can declare the content of. */
const FOLLOWABLE: ReadonlySet<string> = new Set(
  kindsThat(({ deployable, address }) => deployable && address?.form === 'url'),
)

/** The sources that are followed by some addresses, as `<cluster> <Kind>/<namespace>/<name>`, by the address. */
function addressed({ nodes }: Fleet, addresses: ReadonlySet<string>): Map<string, string[]> {
  const found = new Map<string, string[]>()
  if (addresses.size === 0) return found
  for (const { cluster, objects } of nodes) {
    for (const object of objects) {
      if (!FOLLOWABLE.has(kindOf(object))) continue
      const url = stringAt(object.root, ['spec', 'url']) ?? ''
      const { kind, namespace, name } = idOf(object)
      const address = [addressIn(new Map(), url), ociReference(url)?.repository ?? url].find(one => addresses.has(one))
      if (address === undefined) continue
      found.set(address, [...(found.get(address) ?? []), `${cluster} ${kind}/${namespace}/${name}`])
    }
  }
  return found
}

/** All Kustomizations that follow one declaration, together. */
function approvalOf(nodes: readonly FleetNode[], what: string): RequiredApproval[] {
  return onePerGroup(
    new Set(nodes),
    () => what,
    ({ namespace, name }, others) => {
      const message = `${shownObject('Kustomization', namespace, name)}${others} ${what} ${FLEET_FILE} no longer declares: nothing of it would be evaluated`
      return { rule: RULE, path: FLEET_FILE, message }
    },
  )
}

/** A GitRepository that a tenant declares, and an account that deploys from it. */
interface TenantSource {
  readonly node: FleetNode & { readonly tenant: string }
  readonly object: KubeObject
  readonly url: string
  readonly ref: SourceRef
  /** The user that applies its content. */
  readonly account: string
  /** Why its content is not visible. */
  readonly unread?: string
}

/**
 * The sources of tenants that a fleet admin must approve, each once for tenant, address, ref and account: their pushes reach a
 * cluster without our check, or their content is not visible. What the base has already is approved or older than the rule.
 */
function unapprovedSources(head: Fleet, base: Fleet | undefined): TenantSource[] {
  const { config, access } = head
  // a branch of itself asks for nothing, and the command line has no other moment to ask
  if (config.tenantSources !== 'gated' || config.severities.get(sourceUngatedRef.id) === 'off') return []
  if (!base && access) return []
  const before = base ? sourcesOf(base) : []
  const known = new Set(before.map(keyOf))
  // what was approved unseen is approved when it can be read, and not the other way round
  const unseen = new Set(before.filter(isUnread).map(keyOf))
  const added = sourcesOf(head).filter(one => !(isUnread(one) ? unseen : known).has(keyOf(one)))
  if (added.length === 0) return []
  const index = new FleetIndex(head)
  return added.filter(one => {
    const { node, object, ref, unread } = one
    // no address is an error, and nothing to approve
    if (at(object.root, ['spec', 'url']) === undefined) return false
    if (isReported(config, node.tenant) || isApprovedSource(config, { ...one, tenant: node.tenant })) return false
    if (unread !== undefined) return true
    // the rule warns there: what a branch requires is not known
    if (!access || ref.commit) return false
    return !isGatedSource(index, config, { node, object, id: idOf(object) })
  })
}

/** The same as required approvals. */
export function tenantSources(head: Fleet, base: Fleet | undefined): RequiredApproval[] {
  return onePerGroup(unapprovedSources(head, base), keyOf, ({ node, object, url, ref, account, unread }) => {
    const what = `${objectText(object)}: tenant ${shownName(node.tenant)} would deploy ${shown(wordsOf(ref))} of ${shown(url)} as ${shown(account)}`
    const why =
      unread === undefined
        ? 'Its pushes are not evaluated. No approval is needed if that branch of the tenant requires the check, or with a commit in spec.ref.commit'
        : `Its content is not visible (${unread}), so only the rights of that account are evaluated`
    const { file } = originAt(object.root, ['spec', 'url'])
    const source = { tenant: node.tenant, url, ref, account }
    return { rule: sourceUngatedRef.id, path: file, message: `${what}. ${why}`, source }
  })
}

const isUnread = ({ unread }: TenantSource) => unread !== undefined
const keyOf = ({ node, url, ref, account }: TenantSource) => JSON.stringify([node.tenant, url, refKey(ref), account])

/** Sources that tenants declare and something takes, for each account. */
function sourcesOf(fleet: Fleet): TenantSource[] {
  const declared = new Map<string, Pick<TenantSource, 'node' | 'object'>[]>()
  for (const node of fleet.nodes.filter(isTenants)) {
    for (const object of partsOf(node).sources) {
      const key = `${node.cluster} ${sourceText(idOf(object))}`
      declared.set(key, [...(declared.get(key) ?? []), { node, object }])
    }
  }
  if (declared.size === 0) return []
  const lockdowns = new Map(fleet.clusters.map(({ name, lockdown }) => [name, lockdown]))
  const whyUnread = unreadSources(fleet)
  return fleet.nodes.flatMap(taking =>
    partsOf(taking).takers.flatMap(({ taker, from }) =>
      from.flatMap(source =>
        (declared.get(`${taking.cluster} ${source}`) ?? []).map(({ node, object }) => {
          const { url, ref } = followedBy(object, fleet.config.aliases)
          const unread = whyUnread(node, object, url, ref)
          const account = applierOf(taker, lockdowns.get(node.cluster))
          return { node, object, url, ref, account, ...(unread === undefined ? {} : { unread }) }
        }),
      ),
    ),
  )
}

const isTenants = (node: FleetNode): node is TenantSource['node'] => node.tenant !== undefined

/** What a node declares as a source, and what takes something from sources. */
const partsOf = oncePer((node: FleetNode) => {
  const rendered = [...node.objects, ...(node.retained ?? [])]
  const objects = node.tenant === undefined ? rendered : rendered.flatMap(withEmbedded)
  return {
    sources: objects.filter(object => kindOf(object) === GIT_REPOSITORY),
    takers: objects.flatMap(taker => {
      const from = takenBy(taker)
      return from.length > 0 ? [{ taker, from }] : []
    }),
  }
})

/** Returns why the content of a source is not visible; undefined: it is visible. */
function unreadSources({ nodes, repositories, access }: Fleet) {
  const read = new Set(repositories.map(({ url, ref }) => `${url} ${refKey(ref)}`))
  const reasons = new Map(
    nodes.flatMap(({ cluster, source, charts = [] }) =>
      [source, ...charts].flatMap(({ id, opaque }) =>
        opaque === undefined ? [] : [[declarationKey(cluster, id), opaque] as const],
      ),
    ),
  )
  return ({ cluster }: FleetNode, object: KubeObject, url: string, ref: SourceRef): string | undefined => {
    const { kind, namespace, name } = idOf(object)
    const key = declarationKey(cluster, `${kind}/${namespace}/${name}`)
    if (access?.declarations.get(key)?.refused) return NOT_READABLE
    return reasons.get(key) ?? (read.has(`${url} ${refKey(ref)}`) ? undefined : 'nothing that is rendered follows it')
  }
}

/** One approval per group of items; `others`: how the text about the first one counts the rest. */
export function onePerGroup<Item>(
  items: Iterable<Item>,
  groupOf: (item: Item) => string,
  approvalOf: (first: Item, others: string) => RequiredApproval,
): RequiredApproval[] {
  return [...Map.groupBy(items, groupOf).values()].map(group => {
    const [first, ...more] = group as [Item, ...Item[]]
    return approvalOf(first, more.length === 0 ? '' : ` (and ${more.length} more)`)
  })
}
