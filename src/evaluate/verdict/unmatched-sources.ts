import { shown, shownObject } from '../../facts/shown.ts'
import { isFluxInstance } from '../../fleet/bootstrap/flux-instance.ts'
import { sourceIdOf } from '../../fleet/graph/cluster-root.ts'
import type { Fleet, FleetNode } from '../../fleet/model/fleet.ts'
import { artifactPath } from '../../flux/artifact-path.ts'
import { originAt } from '../../kube/node.ts'
import type { NodeFailure } from '../../rules/model/finding.ts'
import { failureOf } from './finding-of.ts'

/**
 * Sources of which a change leaves nothing to see: Kustomizations and clusters that from now on follow what no manifest
 * declares, or another address. What stood so before is listed as not visible, because real fleets apply sources by hand.
 */
export function unmatchedSources(head: Fleet, base: Fleet | undefined): NodeFailure[] {
  const hidden = withoutCluster(head)
  if (!base || hidden.length > 0) return hidden
  const before = new Map(base.nodes.map(node => [node.key, node]))
  const undeclared = new Set(base.nodes.filter(isUndeclared).map(({ source }) => source.id))
  const withoutFolders = foldersThatGo(head, base)
  return head.nodes.flatMap(node => {
    const { id, url, unmatched, presumed } = node.source
    const start = before.get(node.key)
    // bootstrap may have made the source of a root by hand; one that was rendered is not
    const isRoot = node.parent === undefined && node.digest !== ''
    if (isRoot && start && declares(base, start) && !declares(head, node)) return [withoutObject(node)]
    // a source that someone applied stood before, on some cluster; a name that the change brings may be a mistake
    if (presumed) return undeclared.has(id) ? [] : [withoutObject(node)]
    const was = start?.source
    const stood = was?.unmatched?.why === unmatched?.why && was?.id === id && was.url === url
    if (unmatched === undefined || stood) return []
    if (unmatched.why !== 'no-object') return [elsewhere(node)]
    const without = withoutFolders.get(id)
    if (without) return without.includes(node) ? [withoutFolder(node)] : []
    return [withoutObject(node)]
  })
}

const isUndeclared = ({ source }: FleetNode) => source.presumed || source.unmatched?.why === 'no-object'
/** A FluxInstance makes the source of the cluster that it is found by, which nothing else renders. */
const declares = ({ nodes }: Fleet, { cluster, source, kustomization, objects }: FleetNode) =>
  nodes.some(one => one.cluster === cluster && one.objects.some(object => sourceIdOf(object) === source.id)) ||
  objects.some(one => isFluxInstance(one) && one.root.origin.file === kustomization.root.origin.file)

/**
 * By source, the Kustomizations without which this repository would still stand for a source that nothing declares: it
 * does as long as it has every folder that is applied.
 */
function foldersThatGo({ nodes, repositories }: Fleet, base: Fleet): ReadonlyMap<string, readonly FleetNode[]> {
  const tree = repositories[0]?.tree
  const presumed = new Set(base.nodes.filter(({ source }) => source.presumed).map(({ source }) => source.id))
  const without = nodes.filter(
    ({ source, path }) =>
      source.unmatched?.why === 'no-object' &&
      presumed.has(source.id) &&
      tree?.entry(artifactPath(path))?.type !== 'directory',
  )
  return Map.groupBy(without, ({ source }) => source.id)
}

/** A repository that no cluster follows by its address: then nothing at all is evaluated, which is no pass, however old it is. */
function withoutCluster({ nodes }: Fleet): NodeFailure[] {
  const roots = nodes.filter(node => node.parent === undefined)
  if (roots.length === 0 || roots.some(node => node.source.unmatched?.why !== 'other-address')) return []
  return roots.map(elsewhere)
}

function withoutObject(node: FleetNode): NodeFailure {
  const name = shownObject('Kustomization', node.namespace, node.name)
  const [kind = '', namespace = '', source = ''] = node.source.id.split('/')
  const message = `${name}: source ${shownObject(kind, namespace, source)} not found, because no object of the fleet declares it. Flux would wait for it`
  const fix =
    'Declare the source in the fleet, or correct its kind, name and namespace. If it is applied by hand, list it under sources in .github/bailiwick.yaml.'
  const origin = originAt(node.kustomization.root, ['spec', 'sourceRef', 'name'])
  return failureOf(node, { code: 'flux-invalid', message, fix }, origin)
}

function withoutFolder(node: FleetNode): NodeFailure {
  const name = shownObject('Kustomization', node.namespace, node.name)
  const [kind = '', namespace = '', source = ''] = node.source.id.split('/')
  const message = `${name}: spec.path: this repository has no directory ${shown(node.path)}. It stands for source ${shownObject(kind, namespace, source)}, which nothing declares, only while it has every directory that is applied`
  const fix = 'Correct spec.path, or list the source under sources in .github/bailiwick.yaml.'
  return failureOf(node, { code: 'path-not-found', message, fix }, originAt(node.kustomization.root, ['spec', 'path']))
}

function elsewhere(node: FleetNode): NodeFailure {
  const { url, opaque = '' } = node.source
  const message = `cluster ${shown(node.cluster)}: it would follow ${shown(url)}, so the cluster cannot be evaluated: ${opaque}`
  const fix =
    'Correct spec.url of the source of the cluster, or list the address under aliases of .github/bailiwick.yaml.'
  return failureOf(node, { code: 'source-unreadable', message, fix }, node.source.unmatched!.origin)
}
