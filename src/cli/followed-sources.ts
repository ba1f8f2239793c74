import { BailiwickError } from '../errors.ts'
import { type Aliases, addressIn } from '../fleet/model/address-in.ts'
import type { Fleet } from '../fleet/model/fleet.ts'
import { mayLeadTo } from '../fleet/model/named-repositories.ts'
import { refKey } from '../fleet/model/ref.ts'
import type { SourceRef } from '../fleet/model/source-ref.ts'
import { sourceRefOf } from '../fleet/sources/resolve-source.ts'
import { GIT_REPOSITORY } from '../flux/kinds.ts'
import { stringAt } from '../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../kube/object.ts'

/** A repository at what a source of the fleet follows. */
export interface FollowedRepository {
  /** `<Kind>/<namespace>/<name>` of the Flux source. */
  readonly id: string
  readonly url: string
  readonly ref: SourceRef
  /** An object of the fleet says so; otherwise a cluster was taken to follow the fleet's own repository. */
  readonly declared: boolean
}

/** What the nodes of these states of a fleet follow, charts and includes too, and every GitRepository that they render. */
export function followedSources(fleets: readonly Fleet[]): FollowedRepository[] {
  return fleets.flatMap(({ nodes, config: { aliases } }) => [
    ...nodes.flatMap(node => node.objects).flatMap(object => declaredBy(object, aliases)),
    ...nodes
      .flatMap(({ source, charts = [] }) => [source, ...(source.includes ?? []), ...charts])
      .map(({ id, url, ref }) => ({ id, url: addressIn(aliases, url), ref, declared: false })),
  ])
}

function declaredBy(object: KubeObject, aliases: Aliases): FollowedRepository[] {
  const { apiVersion, kind, namespace, name } = idOf(object)
  const url = stringAt(object.root, ['spec', 'url'])
  if (`${groupOf(apiVersion)}/${kind}` !== GIT_REPOSITORY || !url) return []
  const ref = refOf(() => sourceRefOf(object))
  return ref ? [{ id: `${kind}/${namespace}/${name}`, url: addressIn(aliases, url), ref, declared: true }] : []
}

/** How these states of a fleet name the repository at `url`: by the address that the fleet's file says for it. */
export const addressesOf = (fleets: readonly Fleet[], url: string): ReadonlySet<string> =>
  new Set(fleets.map(({ config }) => addressIn(config.aliases, url)))

/** What a source follows, as a key. */
export const followedKey = ({ url, ref }: Pick<FollowedRepository, 'url' | 'ref'>): string => `${url} ${refKey(ref)}`

/** The text of a ref, as `--repo URL#REF=DIR` takes it. */
export const refName = (ref: SourceRef): string =>
  ref.commit ?? ref.name ?? ref.semver ?? ref.tag ?? ref.branch ?? 'master'

/**
 * Whether a working copy stands for a ref: its branch, or a tag or range of versions, which is made of that branch sooner or
 * later. Never a commit, which stays what it is.
 */
export const standsForRef = (branch: string, ref: SourceRef): boolean =>
  ref.branch === branch || ref.tag !== undefined || ref.semver !== undefined

/** Whether content that could not be built names a repository, so that its sources are not all known. */
export const isHidden = (fleets: readonly Fleet[], url: string): boolean =>
  fleets.some(fleet => fleet.nodes.some(node => mayLeadTo(node.hides ?? [], url)))

function refOf(read: () => SourceRef): SourceRef | undefined {
  try {
    return read()
  } catch (error) {
    // what Flux refuses is an error of the nodes that follow it, and no address
    if (error instanceof BailiwickError) return undefined
    throw error
  }
}
