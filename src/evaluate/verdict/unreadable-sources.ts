import { shown, shownObject } from '../../facts/shown.ts'
import type { ChartSource, Fleet, FleetNode } from '../../fleet/model/fleet.ts'
import { NOT_READABLE } from '../../fleet/model/read-access.ts'
import { declarationKey, type SourceDeclaration } from '../../fleet/model/source-access.ts'
import { originAt } from '../../kube/node.ts'
import type { NodeFailure } from '../../rules/model/finding.ts'
import { failureOf } from './finding-of.ts'

const CODE = 'source-unreadable'
const FIX =
  'Remove it, or ask a fleet admin to list the repository under the repositories of the tenant in .github/bailiwick.yaml.'

/**
 * What a tenant's change hides from every rule: a source under the fleet's owner that may not be read, or cannot, and that
 * could be before or was not declared. The words are the same whether or not there is such a repository.
 */
export function unreadableSources(head: Fleet, base: Fleet): NodeFailure[] {
  if (!head.access || !base.access) return []
  const owner = ownerOf(head.repositories[0]?.url ?? '')
  const nodes = new Map(head.nodes.map(node => [node.key, node]))
  const before = new Map(base.nodes.map(node => [node.key, node]))
  const refused = [...head.access.declarations].filter(([key, one]) => {
    const known = base.access!.declarations.get(key)
    return one.refused && ownerOf(one.url) === owner && !(known && isSameRefusal(known, one))
  })
  // those that tenants may add are approved, or not (approvals/tenant-sources.ts)
  const isError = head.config.tenantSources === 'declared'
  const declared = new Set(refused.map(([key]) => key))
  const failures = (isError ? refused : []).flatMap(([, one]) => {
    const node = nodes.get(one.node)
    return node ? [failureOf(node, { code: CODE, message: messageOf(one), fix: FIX }, one.origin)] : []
  })
  for (const node of head.nodes) {
    const key = declarationKey(node.cluster, node.source.id)
    if (ownerOf(node.source.url) !== owner || declared.has(key)) continue
    if (isHiding(node, head, nodes) && !isKnown(node, before.get(node.key))) failures.push(followed(node))
  }
  const reported = new Set(refused.map(([, one]) => `${one.tenant} ${one.url}`))
  for (const node of head.nodes) {
    const was = new Set((before.get(node.key)?.charts ?? []).filter(isRefused).map(one => one.url))
    for (const chart of (node.charts ?? []).filter(isRefused)) {
      const isOther = node.tenant === undefined || ownerOf(chart.url) !== owner
      if (!isOther && !was.has(chart.url) && !reported.has(`${node.tenant} ${chart.url}`))
        failures.push(deployed(node, chart))
    }
  }
  return failures
}

const isRefused = ({ opaque }: ChartSource): boolean => opaque === NOT_READABLE

function deployed(node: FleetNode, { url }: ChartSource): NodeFailure {
  const message = `${shownObject('Kustomization', node.namespace, node.name)}: a HelmRelease of it takes its chart from ${shown(url)}, which Bailiwick may not read for this tenant, so the chart could not be evaluated`
  return failureOf(node, { code: CODE, message, fix: FIX }, originAt(node.kustomization.root, ['metadata', 'name']))
}

/** Whether a tenant wrote what leads to a repository that is not read. */
function isHiding(node: FleetNode, head: Fleet, nodes: ReadonlyMap<string, FleetNode>): boolean {
  const { source, tenant, parent, cluster } = node
  if (tenant === undefined || source.opaque === undefined || !source.id.startsWith('GitRepository/')) return false
  if (head.access?.declarations.get(declarationKey(cluster, source.id))?.tenant !== undefined) {
    return head.config.tenantSources === 'declared'
  }
  const byTenant = parent !== undefined && nodes.get(parent)?.tenant !== undefined
  return byTenant && source.opaque.endsWith(NOT_READABLE)
}

function isKnown({ source }: FleetNode, before: FleetNode | undefined): boolean {
  return before?.source.opaque !== undefined && before.source.url === source.url && before.source.id === source.id
}

const isSameRefusal = (known: SourceDeclaration, one: SourceDeclaration): boolean =>
  known.refused && known.url === one.url && known.tenant === one.tenant

function messageOf({ id, url }: SourceDeclaration): string {
  const [kind = '', namespace = '', name = ''] = id.split('/')
  return `${shownObject(kind, namespace, name)}: Bailiwick may not read ${shown(url)} for this tenant, so its content could not be evaluated. Allowed are sources that the fleet lists, public ones, and those that the author and everyone who pushed to the head can read`
}

function followed(node: FleetNode): NodeFailure {
  const { source, kustomization } = node
  const reason = source.opaque?.endsWith(NOT_READABLE) ? 'Bailiwick may not read it for this tenant' : source.opaque
  const message = `${shownObject('Kustomization', node.namespace, node.name)}: it follows ${shown(source.url)}, which could not be read (${reason}), so what it deploys could not be evaluated`
  return failureOf(node, { code: CODE, message, fix: FIX }, originAt(kustomization.root, ['spec', 'sourceRef', 'name']))
}

/** Server and account of an address, in lower case: GitHub has one account by any case. */
const ownerOf = (url: string): string => url.split('/').slice(0, 4).join('/').toLowerCase()
