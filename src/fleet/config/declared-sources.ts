import { apiVersionOf, GIT_REPOSITORY } from '../../flux/kinds.ts'
import type { MapNode } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { FleetConfig } from '../model/fleet-config.ts'
import { nodeOf } from '../model/synthetic.ts'

/** The sources of a cluster that its fleet's file declares, as objects by `<Kind>/<namespace>/<name>`. */
export function declaredSources({ sources }: FleetConfig, cluster: string): ReadonlyMap<string, KubeObject> {
  const here = sources.filter(({ clusters }) => clusters === undefined || clusters.includes(cluster))
  return new Map(
    here.map(({ kind, namespace, name, url, ref, origin }) => {
      const apiVersion = apiVersionOf(GIT_REPOSITORY)
      const spec = { url, ...(Object.keys(ref).length > 0 ? { ref: { ...ref } } : {}) }
      const root = nodeOf({ apiVersion, kind, metadata: { name, namespace }, spec }, origin) as MapNode
      return [`${kind}/${namespace}/${name}`, { root, trail: [] }]
    }),
  )
}
