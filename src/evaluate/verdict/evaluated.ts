import { kindOf } from '../../facts/kind-of.ts'
import { oncePer } from '../../facts/once-per.ts'
import { isSetNode } from '../../fleet/graph/open-resource-sets.ts'
import type { Fleet, FleetNode } from '../../fleet/model/fleet.ts'
import { HELM_RELEASE } from '../../flux/kinds.ts'
import type { Evaluated, EvaluatedNode, NodeFailure } from '../../rules/model/finding.ts'
import { leftOutOf } from '../applied/left-out.ts'
import { failureOf } from './finding-of.ts'

export const NOTHING_EVALUATED: Evaluated = {
  clusters: 0,
  tenants: 0,
  kustomizations: { reached: 0, present: 0 },
  objects: 0,
  releases: 0,
  holes: 0,
}

/** How much of a fleet was evaluated. */
export function evaluatedOf(fleet: Fleet): Evaluated {
  const { clusters, tenants, nodes, notReached } = fleet
  const causes = new Set<string>()
  for (const node of nodes) {
    if (!node.error && !node.holes) continue
    for (const { error } of leftOutOf(node)) {
      const { code, message, origin = node.kustomization.root.origin } = error
      causes.add(failureOf(node, { code, message, fix: '' }, origin).fingerprint)
    }
  }
  return {
    clusters: clusters.length,
    tenants: tenants.length,
    kustomizations: { reached: count(nodes.filter(isVisible)), present: count(nodes) + notReached.length },
    objects: nodes.reduce((sum, { objects }) => sum + objects.length, 0),
    releases: nodes.reduce((sum, node) => sum + releasesIn(node), 0),
    holes: causes.size,
  }
}

/** The part of it that some nodes are, for readers who are shown these only: what else there is, is not counted to them. */
export function evaluatedIn(nodes: readonly EvaluatedNode[], errors: readonly NodeFailure[]): Evaluated {
  const tenants = new Set(nodes.flatMap(({ tenant }) => (tenant === null ? [] : [tenant])))
  return {
    clusters: new Set(nodes.map(({ cluster }) => cluster)).size,
    tenants: tenants.size,
    kustomizations: { reached: count(nodes.filter(isVisible)), present: count(nodes) },
    objects: nodes.reduce((sum, { objects }) => sum + objects.length, 0),
    releases: nodes.reduce((sum, { releases = 0 }) => sum + releases, 0),
    holes: new Set(errors.filter(({ hides }) => hides).map(({ fingerprint }) => fingerprint)).size,
  }
}

/** The sum over several fleets. */
export function sumOf(all: readonly Evaluated[]): Evaluated {
  const sum = (pick: (one: Evaluated) => number) => all.reduce((total, one) => total + pick(one), 0)
  return {
    clusters: sum(one => one.clusters),
    tenants: sum(one => one.tenants),
    kustomizations: {
      reached: sum(one => one.kustomizations.reached),
      present: sum(one => one.kustomizations.present),
    },
    objects: sum(one => one.objects),
    releases: sum(one => one.releases),
    holes: sum(one => one.holes),
  }
}

/** HelmReleases, whose own objects nobody renders. */
export const releasesIn = oncePer(
  ({ objects }: FleetNode) => objects.filter(one => kindOf(one) === HELM_RELEASE).length,
)

/** What ResourceSets make is evaluated, and no Kustomization. */
const count = (nodes: readonly Pick<EvaluatedNode, 'name'>[]) => nodes.filter(node => !isSetNode(node)).length

/** A Kustomization whose source cannot be read is there, and nothing of it is evaluated. */
const isVisible = ({ source }: { readonly source: { readonly opaque?: string | null } }) =>
  (source.opaque ?? null) === null
