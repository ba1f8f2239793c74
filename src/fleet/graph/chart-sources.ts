import { BailiwickError } from '../../errors.ts'
import { withEmbedded } from '../../kube/capabilities/embedded-objects.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { DEPLOYERS, type NamedObject } from '../charts/chart-of.ts'
import { type ClusterObjects, chartContent } from '../charts/chart-places.ts'
import type { ChartSource, FleetNode } from '../model/fleet.ts'
import { refKey } from '../model/ref.ts'
import { ASKED, WANTED } from '../model/unread.ts'
import { addressOfSource, askRead } from '../sources/ask-read.ts'
import { askedBy, type ReadDecision } from '../sources/decide-read.ts'
import type { Resolved } from '../sources/sources.ts'
import type { NodeContext } from './node-context.ts'

/** Sources of charts that one tenant's releases may name on a cluster. */
const MAX_SOURCES = 200

/**
 * The sources in git of the charts that the releases of a node deploy for a tenant, each once. `known`: those of the
 * tenant's nodes so far. Throws `render-limits` where a tenant names too many.
 */
export function chartSources(
  context: NodeContext,
  node: Pick<FleetNode, 'objects' | 'tenant'>,
  known: Set<string>,
): ChartSource[] {
  const found = new Map<string, ChartSource>()
  const named = new Map<string, KubeObject>()
  const objects = clusterObjects(context, named)
  for (const release of releasesOf(node)) {
    const { apiVersion, kind, namespace } = idOf(release)
    if (!DEPLOYERS.includes(`${groupOf(apiVersion)}/${kind}`)) continue
    if (node.tenant === undefined && !context.tenancy.owners.has(namespace)) continue
    for (const { url, ref } of contentOf(release, objects)?.sources ?? []) {
      const key = `${url} ${refKey(ref)}`
      if (found.has(key)) continue
      if (node.tenant !== undefined && known.add(key).size > MAX_SOURCES) {
        const details = { origin: release.root.origin, fix: 'Use charts from fewer repositories.' }
        throw new BailiwickError('render-limits', `charts: more than ${MAX_SOURCES} git sources`, details)
      }
      const read = decide(context, node, release, [...named.values()], url)
      if (read.state === 'ask') context.asked.push(askedBy(url, read))
      found.set(key, { id: `GitRepository/${namespace}`, url, ref, ...seen(context.sources.at(url, ref, read)) })
    }
  }
  return [...found.values()]
}

/** What a node renders, and what controllers make of it for a tenant. */
function* releasesOf({ objects, tenant }: Pick<FleetNode, 'objects' | 'tenant'>): Iterable<KubeObject> {
  for (const object of objects) {
    if (tenant === undefined) yield object
    else yield* withEmbedded(object)
  }
}

/**
 * Whether the repository of a chart may be read for the tenant of its release. `named`: the sources that its releases name,
 * of which any that leads there may allow it; none: the source that bootstrap makes.
 */
function decide(
  { access, tenancy }: NodeContext,
  { tenant }: Pick<FleetNode, 'tenant'>,
  release: KubeObject,
  named: readonly KubeObject[],
  url: string,
): ReadDecision {
  if (!access) return { state: 'read', lent: false }
  const reader = {
    tenant: tenant ?? tenancy.owners.get(idOf(release).namespace),
    ...{ writer: tenant, stands: release.root.origin.repository },
  }
  const sources = named.filter(one => addressOfSource(access.config, one) === url)
  const answers = (sources.length > 0 ? sources : [undefined]).map(one => askRead(access, reader, one, url))
  const best = (state: ReadDecision['state']) => answers.find(one => one.state === state)
  return answers.find(one => one.state === 'read' && !one.lent) ?? best('read') ?? best('ask') ?? answers[0]!
}

function seen(resolved: Resolved): Pick<ChartSource, 'commit' | 'opaque' | 'lent'> {
  const lent = resolved.lent ? { lent: true as const } : {}
  if (resolved.type === 'content') return { commit: resolved.commit, ...lent }
  if (resolved.type === 'opaque') return { commit: '', opaque: resolved.reason, ...lent }
  return { commit: '', opaque: resolved.asks ? ASKED : WANTED, ...lent }
}

/** A chart of too many sources is an error that the rules say. */
function contentOf(release: KubeObject, objects: ClusterObjects): ReturnType<typeof chartContent> {
  try {
    return chartContent(release, objects)
  } catch (error) {
    if (error instanceof BailiwickError) return undefined
    throw error
  }
}

/** `named` takes down the sources that were looked for. */
function clusterObjects({ index, sources, aliases }: NodeContext, named: Map<string, KubeObject>): ClusterObjects {
  return {
    find: ({ kind, namespace, name }: NamedObject) => {
      const id = `${kind.slice(kind.indexOf('/') + 1)}/${namespace}/${name}`
      const object = index.find(id)
      if (object === undefined || object === 'bootstrap') return undefined
      if (id.startsWith('GitRepository/')) named.set(id, object)
      return object
    },
    generators: namespace => index.generators(namespace),
    root: { url: sources.own.url, ref: sources.own.ref },
    aliases,
  }
}
