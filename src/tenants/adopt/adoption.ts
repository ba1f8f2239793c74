import { BailiwickError } from '../../base/errors.ts'
import { type Fleet, type FleetNode, whyIncomplete } from '../../fleet/model/fleet.ts'
import type { FleetInput } from '../../fleet/model/input.ts'
import { actsAsKubeConfig } from '../../fleet/model/kustomization-spec.ts'
import { CONTROLLER } from '../../fleet/tenancy/delegated.ts'
import type { Tree } from '../../git/tree.ts'
import { codeSpan } from '../onboard/request.ts'

/** Which Kustomizations get an account of their own. */
export interface AdoptRequest {
  /** A tenant of the fleet, or the name of Kustomizations. */
  readonly name: string
  /** `<namespace>/<name>` of Kustomizations, instead of those that `name` means. */
  readonly kustomizations?: readonly string[]
  /** Name of the account; absent: `flux-<name>`. */
  readonly account?: string
}

/** One file of an adoption, with its whole new content. */
export interface AdoptedFile {
  readonly path: string
  readonly content: string
  readonly change: 'created' | 'edited'
}

/** A Kustomization of which each object is still allowed. */
export interface ProvenKustomization {
  readonly key: string
  /** `system:serviceaccount:<namespace>:<name>`. */
  readonly user: string
  readonly objects: number
  /** Requests that were evaluated. */
  readonly requests: number
}

/** A pull request that moves Kustomizations to an account of their own. */
export interface AdoptionPlan {
  readonly account: string
  /** Sorted by path. */
  readonly files: readonly AdoptedFile[]
  readonly proven: readonly ProvenKustomization[]
  /** Rights outside of namespaces, and rights to grant rights. */
  readonly loud: readonly string[]
  /** What stays as it is, and why. */
  readonly left: readonly string[]
}

/** A fleet, and how it would be with other content of its own repository. */
export interface AdoptableFleet {
  readonly fleet: Fleet
  readonly tree: Tree
  /** Normalized address of its repository. */
  readonly url: string
  /** The fleet with this tree instead of its own. */
  build(tree: Tree): Fleet
}

/** The same fleet from what one was built from, with other content of its own repository wherever that is read. */
export function inputWith(input: FleetInput, tree: Tree): FleetInput {
  const old = input.fleet.tree
  const sources = input.sources.map(source => (source.tree === old ? { ...source, tree } : source))
  return { ...input, fleet: { ...input.fleet, tree }, sources }
}

/** Where a Kustomization is written: `<file>:<line>`. */
export const writtenAt = ({ kustomization: { root } }: FleetNode): string => {
  const { repository, file, line } = root.origin
  return `${repository} ${file}:${line}`
}

/** A pull request: what it writes, and its words. */
export interface FleetChange {
  readonly files: readonly AdoptedFile[]
  readonly title: string
  /** Markdown. */
  readonly body: string
  /** What it is about, as part of the name of a branch. */
  readonly slug: string
}

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

/** More lines of one list are counted only. */
const MAX_LINES = 50

/** The pull request of an adoption. */
export function adoptionText(name: string, { files, proven, loud, left, account }: AdoptionPlan): FleetChange {
  const objects = proven.reduce((sum, one) => sum + one.objects, 0)
  const body = [
    `Moves ${codeSpan(name)} from cluster-admin to the account ${codeSpan(account)} with the least rights that cover what is rendered today.`,
    `### Proven\n\nThe result was rendered and evaluated: all ${objects} objects of ${proven.length} Kustomizations are still allowed.\n\n${list(
      proven.map(one => `${codeSpan(one.key)}: ${one.objects} objects, ${one.requests} requests`),
    )}`,
    ...(loud.length > 0 ? [`### ⚠️ Rights beyond its namespaces\n\n${list(loud.map(codeSpan))}`] : []),
    ...(left.length > 0 ? [`### Unchanged\n\n${list(left.map(codeSpan))}`] : []),
    'A kind of object that is new in git needs a new rule in its role.',
  ].join('\n\n')
  return { files, title: `Apply ${name} with the least rights`, body, slug: `adopt-${name}` }
}

/** A Markdown list. */
export function list(lines: readonly string[]): string {
  const shown = lines.slice(0, MAX_LINES).map(line => `- ${line}`)
  return [...shown, ...(lines.length > MAX_LINES ? [`- and ${lines.length - MAX_LINES} more`] : [])].join('\n')
}
