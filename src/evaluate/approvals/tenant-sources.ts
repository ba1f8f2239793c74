import { FleetIndex } from '../../facts/fleet-index.ts'
import { kindOf } from '../../facts/kind-of.ts'
import { oncePer } from '../../facts/once-per.ts'
import { shown, shownName, shownObject } from '../../facts/shown.ts'
import { followedBy, wordsOf } from '../../facts/source-ref.ts'
import { sourceText, takenBy } from '../../facts/source-takers.ts'
import { isReported } from '../../fleet/config/is-reported.ts'
import type { Fleet, FleetNode } from '../../fleet/model/fleet.ts'
import { NOT_READABLE } from '../../fleet/model/read-access.ts'
import { refKey } from '../../fleet/model/ref.ts'
import { declarationKey } from '../../fleet/model/source-access.ts'
import type { SourceRef } from '../../fleet/model/source-ref.ts'
import { GIT_REPOSITORY } from '../../flux/kinds.ts'
import { withEmbedded } from '../../kube/capabilities/embedded-objects.ts'
import { originAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import type { RequiredApproval } from '../../rules/model/finding.ts'
import { sourceUngatedRef } from '../../rules/sources/source-ungated-ref.ts'
import { applierOf, isApprovedSource } from '../../rules/sources/support/approved-source.ts'
import { isGatedSource } from '../../rules/sources/support/is-gated-source.ts'
import { onePerGroup } from './one-per-group.ts'

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
 * cluster without our check, or nobody sees their content. What the base has already is approved or older than the rule.
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
    const { kind, namespace, name } = idOf(object)
    const what = `${shownObject(kind, namespace, name)}: tenant ${shownName(node.tenant)} would deploy ${shown(wordsOf(ref))} of ${shown(url)} as ${shown(account)}`
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

/** Tells of a source why its content is not visible; undefined: it is. */
function unreadSources({ nodes, repositories, access }: Fleet) {
  const read = new Set(repositories.map(({ url, ref }) => `${url} ${refKey(ref)}`))
  const reasons = new Map(
    nodes.flatMap(({ cluster, source: { id, opaque } }) =>
      opaque === undefined ? [] : [[declarationKey(cluster, id), opaque] as const],
    ),
  )
  return ({ cluster }: FleetNode, object: KubeObject, url: string, ref: SourceRef): string | undefined => {
    const { kind, namespace, name } = idOf(object)
    const key = declarationKey(cluster, `${kind}/${namespace}/${name}`)
    if (access?.declarations.get(key)?.refused) return NOT_READABLE
    return reasons.get(key) ?? (read.has(`${url} ${refKey(ref)}`) ? undefined : 'no Kustomization follows it')
  }
}
