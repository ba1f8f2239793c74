import type { EvaluatedNode, Evaluation } from '../rules/model/finding.ts'
import { addressesOf } from './verdict-views.ts'

/** Where an object lies and what it is, read from its canonical JSON. */
interface Placed {
  readonly kind: string
  readonly namespace: string | undefined
  readonly name: string
}

/**
 * Addresses of the repositories whose open pull requests may be evaluated otherwise because a fleet moved from one evaluation
 * to the next: those whose nodes changed, whose tenants have other rights or findings, and those that share a namespace or,
 * by an object of the whole cluster, everything with what changed. What a tenant changes within its own namespaces concerns
 * no other repository.
 */
export function affectedRepositories(before: Evaluation, after: Evaluation): ReadonlySet<string> {
  const changed = changedNodes(before, after)
  const touched = new Touched()
  for (const node of changed) touched.node(node)
  for (const [cluster, object] of changedObjects(before, after, changed)) touched.object(cluster, object)
  const tenants = changedTenants(before, after)
  const namespaces = namespacesOf(before, after)
  const urls = new Set<string>()
  for (const node of [...before.nodes, ...after.nodes]) {
    const own = [node.namespace, ...(namespaces.get(node.tenant ?? '') ?? [])]
    if (!touched.concerns(node, own) && !tenants.has(node.tenant ?? '')) continue
    for (const url of addressesOf(node)) urls.add(url)
  }
  return urls
}

/** What a change reaches. */
class Touched {
  readonly #keys = new Set<string>()
  readonly #clusters = new Set<string>()
  readonly #namespaces = new Set<string>()

  node({ key }: EvaluatedNode): void {
    this.#keys.add(key)
  }

  object(cluster: string, { kind, namespace, name }: Placed): void {
    if (namespace !== undefined) this.#namespaces.add(`${cluster} ${namespace}`)
    else if (kind === 'Namespace') this.#namespaces.add(`${cluster} ${name}`)
    else this.#clusters.add(cluster)
  }

  /** `namespaces`: those of the node's tenant. */
  concerns({ key, cluster }: EvaluatedNode, namespaces: readonly string[]): boolean {
    if (this.#keys.has(key) || this.#clusters.has(cluster)) return true
    return namespaces.some(name => this.#namespaces.has(`${cluster} ${name}`))
  }
}

/** Nodes that came, went, or are rendered, applied or found otherwise; the platform's and everybody's. */
function changedNodes(before: Evaluation, after: Evaluation): EvaluatedNode[] {
  const known = new Map(before.nodes.map(node => [node.key, node]))
  const changed = after.nodes.filter(node => {
    const other = known.get(node.key)
    known.delete(node.key)
    return other === undefined || textOf(other) !== textOf(node)
  })
  return [...changed, ...known.values()]
}

/** The commit of its source is left out: what it holds for this node is in the digest. */
function textOf(node: EvaluatedNode): string {
  const { digest, user, tenant, parent, suspend, prune, source, hides, holes } = node
  const results = [...node.findings, ...node.failures].map(one => `${one.fingerprint} ${one.hides ?? ''} ${one.state}`)
  const from = [source.url, source.id, source.opaque, addressesOf(node)]
  return JSON.stringify([digest, user, tenant, parent, suspend, prune, from, hides, holes, results])
}

function changedObjects(
  before: Evaluation,
  after: Evaluation,
  changed: readonly EvaluatedNode[],
): (readonly [cluster: string, object: Placed])[] {
  const of = (evaluation: Evaluation) => new Map(evaluation.nodes.map(node => [node.key, new Set(node.objects)]))
  const [old, now] = [of(before), of(after)]
  return changed.flatMap(({ key, cluster }) => {
    const [one, other] = [old.get(key) ?? new Set<string>(), now.get(key) ?? new Set<string>()]
    const texts = [...[...one].filter(text => !other.has(text)), ...[...other].filter(text => !one.has(text))]
    return texts.map(text => [cluster, placeOf(text)] as const)
  })
}

function placeOf(text: string): Placed {
  const { kind, metadata = {} } = JSON.parse(text) as { kind?: unknown; metadata?: Record<string, unknown> }
  const { namespace, name } = metadata
  return {
    kind: String(kind),
    namespace: typeof namespace === 'string' && namespace !== '' ? namespace : undefined,
    name: String(name),
  }
}

function changedTenants(before: Evaluation, after: Evaluation): ReadonlySet<string> {
  const known = new Map(before.verdict.tenants.map(tenant => [tenant.name, JSON.stringify(tenant)]))
  const changed = new Set<string>()
  for (const tenant of after.verdict.tenants) {
    if (known.get(tenant.name) !== JSON.stringify(tenant)) changed.add(tenant.name)
    known.delete(tenant.name)
  }
  for (const name of known.keys()) changed.add(name)
  return changed
}

function namespacesOf(...evaluations: readonly Evaluation[]): ReadonlyMap<string, readonly string[]> {
  const namespaces = new Map<string, readonly string[]>()
  for (const { name, namespaces: own } of evaluations.flatMap(({ verdict }) => verdict.tenants)) {
    namespaces.set(name, [...(namespaces.get(name) ?? []), ...own])
  }
  return namespaces
}
