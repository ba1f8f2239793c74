import { BailiwickError } from '../../base/errors.ts'
import { FleetSession } from '../../fleet/graph/fleet-session.ts'
import type { Fleet, FleetNode } from '../../fleet/model/fleet.ts'
import { addressIn } from '../../fleet/model/fleet-config.ts'
import type { OpaqueSource, SourceContent } from '../../fleet/model/input.ts'
import { parentOf, type Tree } from '../../git/tree.ts'
import { idOf } from '../../kube/object.ts'
import { normaliseUrl } from '../../kube/source-address.ts'
import { inputError, quote } from './request.ts'

/** Where the tenants of one cluster are listed, and where what they consist of is written. */
export interface TenantLayout {
  readonly cluster: string
  /** Key of the platform's node that renders this cluster's tenants. */
  readonly node: string
  /** Directory of the overlay, and its kustomization file. */
  readonly overlay: string
  readonly file: string
  /** Directory in which each tenant has its own. */
  readonly base: string
}

const FILES = ['kustomization.yaml', 'kustomization.yml', 'Kustomization']

/**
 * Learns the layout of `cluster` from the tenants that the fleet has. Throws `onboard-input` for an unknown cluster and
 * `onboard-layout` where the place for a tenant is not clear: it is never guessed.
 */
export function tenantLayout(fleet: Fleet, tree: Tree, fleetUrl: string, cluster: string): TenantLayout {
  if (!fleet.clusters.some(known => known.name === cluster)) {
    const names = fleet.clusters.map(known => known.name).join(', ') || 'none'
    throw inputError(`this fleet has no cluster ${quote(cluster)}`, `Clusters of this fleet: ${names}.`)
  }
  const node = tenantsNode(fleet, tree, fleetUrl, cluster)
  const overlay = clean(node.path)
  const bases = new Set([node, ...fleet.nodes].flatMap(candidate => tenantDirectories(fleet, candidate, overlay, node)))
  const [first] = bases
  const base = first ?? [parentOf(overlay), 'base'].filter(part => part !== '').join('/')
  return { cluster, node: node.key, overlay, file: kustomizationFile(tree, overlay)!, base }
}

/** The kustomization file of a directory, or undefined. */
export function kustomizationFile(tree: Tree, directory: string): string | undefined {
  return FILES.map(name => (directory === '' ? name : `${directory}/${name}`)).find(
    path => tree.entry(path)?.type === 'file',
  )
}

function tenantsNode(fleet: Fleet, tree: Tree, fleetUrl: string, cluster: string): FleetNode {
  const here = fleet.nodes.filter(
    node => node.cluster === cluster && normaliseUrl(node.source.url) === normaliseUrl(fleetUrl) && !node.tenant,
  )
  const overlays = here.filter(node => kustomizationFile(tree, clean(node.path)) && node.parent !== undefined)
  const full = overlays.filter(node => fleet.nodes.some(child => child.parent === node.key && child.tenant))
  const named = overlays.filter(node => node.name === 'tenants' || clean(node.path).split('/').includes('tenants'))
  const [node, second] = full.length > 0 ? full : named
  if (node && !second) return rendered(node, fleet)
  const broken = here.find(one => one.error)
  if (broken) rendered(broken, fleet)
  const start = fleet.clusters.find(({ name }) => name === cluster)?.path || './'
  const found = second ? `${(full.length > 0 ? full : named).map(n => n.key).join(', ')} all hold tenants` : 'none does'
  throw new BailiwickError(
    'onboard-layout',
    `no single Kustomization of cluster ${cluster} holds its tenants: ${found}`,
    { fix: `Have one Flux Kustomization named "tenants" in ${start} with the path of a kustomize overlay.` },
  )
}

/** A node of which, and of whose parents, everything is known. */
function rendered(node: FleetNode, fleet: Fleet): FleetNode {
  for (let here: FleetNode | undefined = node; here; here = fleet.nodes.find(other => other.key === here?.parent)) {
    if (!here.error) continue
    throw new BailiwickError('onboard-layout', `${here.key} cannot be rendered: ${here.error.message}`, {
      fix: 'Fix it first. Until then, the tenants are unknown.',
      origin: here.error.origin,
      cause: here.error,
    })
  }
  return node
}

/** The directories above those of the tenants' own objects, as far as they are written in this fleet; own cluster first. */
function tenantDirectories(fleet: Fleet, node: FleetNode, overlay: string, own: FleetNode): string[] {
  if (node !== own && clean(node.path).split('/')[0] !== overlay.split('/')[0]) return []
  const children = fleet.nodes.filter(child => child.parent === node.key && child.tenant)
  const names = new Set(children.map(child => `${child.namespace}/${child.name}`))
  return node.objects.flatMap(object => {
    const id = idOf(object)
    if (id.kind !== 'Kustomization' || !names.has(`${id.namespace}/${id.name}`)) return []
    const directory = parentOf(object.root.origin.file)
    if (directory === clean(node.path)) return node === own ? [directory] : []
    // what is inside another cluster's overlay belongs to that cluster
    return node !== own && directory.startsWith(`${clean(node.path)}/`) ? [] : [parentOf(directory)]
  })
}

const clean = (path: string) =>
  path
    .split('/')
    .filter(part => part !== '' && part !== '.')
    .join('/')

/**
 * The fleet of one tree, nothing but the fleet repository being read: tenants' sources stay opaque. A tag or range of versions of
 * the fleet is taken for what it will be. In a session, what did not change since the trees before is not rendered again.
 */
export function fleetAt(tree: Tree, url: string, branch: string, session = new FleetSession()): Fleet {
  const own = { url: normaliseUrl(url), commit: '', tree }
  const [sources, opaque]: [SourceContent[], OpaqueSource[]] = [[], []]
  // each round can only reveal sources that the fleet repository itself declares, so two rounds are the rule
  for (let round = 0; ; round++) {
    const fleet = session.build({ fleet: { ...own, branch }, sources: [...sources], opaque: [...opaque] })
    if (fleet.wanted.length === 0 || round === 20) return fleet
    const home = addressIn(fleet.config.aliases, own.url)
    for (const { url, ref } of fleet.wanted) {
      if (url === home && (ref.tag ?? ref.semver) !== undefined) sources.push({ ...own, url, ref })
      else opaque.push({ url, ref, reason: 'not read for an onboarding' })
    }
  }
}

/** `target` as seen from directory `from`: `../base/x`. Both relative to the root, without dots. */
export function relativePath(from: string, target: string): string {
  const a = from === '' ? [] : from.split('/')
  const b = target.split('/')
  let common = 0
  while (common < a.length && common < b.length && a[common] === b[common]) common++
  return [...a.slice(common).map(() => '..'), ...b.slice(common)].join('/')
}
