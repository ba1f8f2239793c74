import { BailiwickError } from '../errors.ts'
import { actsAsKubeConfig } from '../fleet/model/appliers.ts'
import type { Fleet, FleetNode } from '../fleet/model/fleet.ts'
import { whyIncomplete } from '../fleet/model/why-incomplete.ts'
import { CONTROLLER } from '../fleet/tenancy/identity.ts'
import { type AdoptRequest, writtenAt } from './adoption.ts'

/** The Kustomizations that get an account, and those that keep theirs with the reason. */
interface ChosenNodes {
  readonly nodes: readonly FleetNode[]
  readonly left: readonly string[]
}

/**
 * The Kustomizations that a request means: those of the tenant, else those with that name. One that is written in the same
 * place for another cluster is always among them. Throws `adopt-input` where there is none, and `adopt-not-proven` where it
 * is not known what one of them applies.
 */
export function chooseNodes(fleet: Fleet, request: AdoptRequest): ChosenNodes {
  const meant = namedBy(fleet, request)
  const places = new Set(meant.map(writtenAt))
  const all = fleet.nodes.filter(node => node.parent !== undefined && places.has(writtenAt(node)))
  const left: string[] = []
  const nodes = all.filter(node => {
    const why = whyLeft(node)
    if (why !== undefined) left.push(`${node.key}: ${why}`)
    return why === undefined
  })
  if (nodes.length === 0) {
    const reasons = left.length > 0 ? left.join('; ') : 'no Kustomization of the fleet has that tenant or name'
    throw new BailiwickError('adopt-input', `${JSON.stringify(request.name)}: nothing to adopt (${reasons})`, {
      fix: 'Name a tenant or a Kustomization that is applied by kustomize-controller itself: `bailiwick audit` lists them.',
    })
  }
  for (const node of nodes) assertVisible(node)
  return { nodes, left }
}

function namedBy(fleet: Fleet, { name, kustomizations = [] }: AdoptRequest): FleetNode[] {
  const isListed = (node: FleetNode) => kustomizations.includes(`${node.namespace}/${node.name}`)
  if (kustomizations.length > 0) return fleet.nodes.filter(isListed)
  const ofTenant = fleet.nodes.filter(node => node.tenant === name)
  return ofTenant.length > 0 ? ofTenant : fleet.nodes.filter(node => node.name === name)
}

function whyLeft({ identity, hub }: FleetNode): string | undefined {
  if (hub !== undefined || actsAsKubeConfig(identity.user)) return 'it acts on another cluster, through spec.kubeConfig'
  // cluster-admin as Flux installs it, by its name instead of by none
  if (identity.user === CONTROLLER.user) return undefined
  return identity.impersonated ? `it has the account ${identity.user}` : undefined
}

function assertVisible(node: FleetNode): void {
  const why = node.source.opaque ?? whyIncomplete(node)?.message
  if (why === undefined) return
  throw new BailiwickError('adopt-not-proven', `${node.key}: what it applies is not visible (${why})`, {
    fix: 'Give its source with --repo URL=DIR, or correct the error, so that its rights can be computed.',
    cause: node.error,
  })
}
