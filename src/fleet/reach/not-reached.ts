import { artifactPath } from '../../flux/artifact-path.ts'
import { isKustomization } from '../../flux/flux-object.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { Origin } from '../../origin.ts'
import type { FleetNode, FleetRepository, NotReached } from '../model/fleet.ts'
import { displayName, standingKustomizations } from './standing-kustomizations.ts'
import { type RenderedKustomization, whyNotReached } from './why-not-reached.ts'

/**
 * The Flux Kustomizations that stand in the fleet's own repository and become no node of any cluster, with why. A node is
 * known by where its Kustomization was written, because overlays and variables change names.
 */
export function notReachedOf(repository: FleetRepository, nodes: readonly FleetNode[]): readonly NotReached[] {
  const { url, tree } = repository
  const { all, left } = standingKustomizations(tree)
  const reached = new Set(nodes.map(node => placeOf(node.kustomization.root.origin)))
  const roots = new Set(nodes.flatMap(node => (node.parent === undefined ? [rootOf(node)] : [])))
  const missing = all.filter(one => {
    const isReached = reached.has(placeOf({ ...one, repository: url }))
    return !isReached && !roots.has(`${one.namespace}/${one.name} ${artifactPath(one.path)}`)
  })
  const whole = left === 0 ? [] : [unsearched(url, left)]
  if (missing.length === 0) return whole
  const rendered = renderedBy(nodes)
  const why = whyNotReached(repository, nodes)
  const found = missing.map(one => {
    const origin = { repository: url, file: one.file, line: one.line, column: one.column }
    return { id: displayName(one), origin, reason: why(one, rendered.get(placeOf(origin)) ?? []) }
  })
  return [...found, ...whole]
}

function renderedBy(nodes: readonly FleetNode[]): ReadonlyMap<string, readonly RenderedKustomization[]> {
  const all = nodes.flatMap(node => kustomizationsIn(node.objects).map(object => ({ node, object })))
  return Map.groupBy(all, ({ object }) => placeOf(object.root.origin))
}

const known = new WeakMap<readonly KubeObject[], readonly KubeObject[]>()

function kustomizationsIn(objects: readonly KubeObject[]): readonly KubeObject[] {
  const found = known.get(objects) ?? objects.filter(isKustomization)
  known.set(objects, found)
  return found
}

const placeOf = ({ repository, file, line }: Pick<Origin, 'repository' | 'file' | 'line'>) =>
  `${repository}\0${file}\0${line}`

/** The Kustomization that bootstrap makes is the root of its cluster also where nothing of the cluster renders it. */
const rootOf = ({ namespace, name, path }: FleetNode) => `${namespace}/${name} ${artifactPath(path)}`

function unsearched(repository: string, left: number): NotReached {
  const reason = `${left} more YAML files were not searched for Kustomizations, because the repository is too large`
  return { id: '', origin: { repository, file: '', line: 1, column: 1 }, reason }
}
