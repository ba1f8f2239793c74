import type { Fleet } from '../fleet/model/fleet.ts'
import { apiVersionOf, fluxKind } from '../flux/kinds.ts'
import { at, isTrue, itemsOf, stringAt } from '../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../kube/object.ts'

/** The apiVersion to write for a kind of Flux (`<group>/<Kind>`). */
export type VersionOf = (kind: string) => string

/** Of Flux's kinds, the newest first. */
const VERSIONS = ['v1', 'v1beta2', 'v1beta1']

/**
 * The newest version of a kind that each of these clusters serves, as far as the fleet renders its definition; else the newest one
 * that the fleet uses there.
 */
export function servedVersion(fleet: Fleet, clusters: readonly string[]): VersionOf {
  const platform = fleet.nodes.filter(({ cluster, tenant }) => tenant === undefined && clusters.includes(cluster))
  return kind => {
    const name = `${fluxKind(kind)?.plural}.${kind.split('/')[0]}`
    const isDefinition = (object: KubeObject) =>
      idOf(object).kind === 'CustomResourceDefinition' && idOf(object).name === name
    const served = platform.flatMap(({ objects }) => objects.filter(isDefinition)).map(servedBy)
    const group = groupOf(apiVersionOf(kind))
    const used = new Set(
      platform
        .flatMap(({ objects }) => objects.map(idOf))
        .flatMap(({ apiVersion, kind: other }) =>
          `${groupOf(apiVersion)}/${other}` === kind ? [apiVersion.slice(group.length + 1)] : [],
        ),
    )
    const known = served.length === 0 && used.size > 0 ? [used] : served
    const version = VERSIONS.find(one => known.every(names => names.has(one)))
    return version === undefined ? apiVersionOf(kind) : `${group}/${version}`
  }
}

function servedBy({ root }: KubeObject): ReadonlySet<string> {
  const items = itemsOf(at(root, ['spec', 'versions']))
  const isServed = (item: (typeof items)[number]) => {
    return isTrue(at(item, ['served']))
  }
  return new Set(items.filter(isServed).map(item => stringAt(item, ['name']) ?? ''))
}
