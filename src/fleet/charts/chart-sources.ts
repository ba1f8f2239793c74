import { BailiwickError } from '../../errors.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import type { ChartSource, FleetNode } from '../fleet.ts'
import { type NodeContext, WANTED } from '../open-node.ts'
import { refKey } from '../ref.ts'
import type { Resolved } from '../resolve-source.ts'
import { HELM_RELEASE, type NamedObject } from './chart-of.ts'
import { type ClusterObjects, chartContent } from './chart-places.ts'

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
  const objects = clusterObjects(context)
  for (const release of node.objects) {
    const { apiVersion, kind, namespace } = idOf(release)
    if (`${groupOf(apiVersion)}/${kind}` !== HELM_RELEASE) continue
    if (node.tenant === undefined && !context.tenancy.owners.has(namespace)) continue
    for (const { url, ref } of contentOf(release, objects)?.sources ?? []) {
      const key = `${url} ${refKey(ref)}`
      if (found.has(key)) continue
      if (node.tenant !== undefined && known.add(key).size > MAX_SOURCES) {
        const details = { origin: release.root.origin, fix: 'Take the charts from fewer repositories.' }
        throw new BailiwickError('render-limits', `charts from more than ${MAX_SOURCES} sources in git`, details)
      }
      found.set(key, { id: `GitRepository/${namespace}`, url, ref, ...seen(context.sources.at(url, ref)) })
    }
  }
  return [...found.values()]
}

function seen(resolved: Resolved): Pick<ChartSource, 'commit' | 'opaque'> {
  if (resolved.type === 'content') return { commit: resolved.commit }
  return { commit: '', opaque: resolved.type === 'wanted' ? WANTED : resolved.reason }
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

function clusterObjects({ index, sources }: NodeContext): ClusterObjects {
  return {
    find: ({ kind, namespace, name }: NamedObject) => {
      const object = index.find(`${kind.slice(kind.indexOf('/') + 1)}/${namespace}/${name}`)
      return object === 'bootstrap' ? undefined : object
    },
    generators: namespace => index.generators(namespace),
    root: { url: sources.own.url, ref: sources.own.ref },
  }
}
