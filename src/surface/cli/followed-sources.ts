import { BailiwickError, unlessRefused } from '../../base/errors.ts'
import { andMore, closest } from '../../base/name-list.ts'
import type { Fleet } from '../../fleet/model/fleet.ts'
import { type Aliases, addressIn } from '../../fleet/model/fleet-config.ts'
import { mayLeadTo } from '../../fleet/model/source-access.ts'
import { refKey, type SourceRef } from '../../fleet/model/source-ref.ts'
import { sourceRefOf } from '../../fleet/sources/resolve-source.ts'
import { GIT_REPOSITORY } from '../../kube/flux-kinds.ts'
import { stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { CHECKED_OUT, type GivenRepository, type RepositoryAddress } from './working-copy.ts'

/** A repository at the ref that a source of the fleet follows. */
interface FollowedRepository {
  /** `<Kind>/<namespace>/<name>` of the Flux source. */
  readonly id: string
  readonly url: string
  readonly ref: SourceRef
  /** An object of the fleet declares it; otherwise a cluster was assumed to follow the fleet's own repository. */
  readonly declared: boolean
}

/** What nodes of these fleet states follow, charts and includes too, and every GitRepository that they render. */
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

/** The addresses of the repository at `url` in these states of a fleet, as their fleet files name it. */
export const addressesOf = (fleets: readonly Fleet[], url: string): ReadonlySet<string> =>
  new Set(fleets.map(({ config }) => addressIn(config.aliases, url)))

/** What a source follows, as a key. */
export const followedKey = ({ url, ref }: Pick<FollowedRepository, 'url' | 'ref'>): string => `${url} ${refKey(ref)}`

/** The text of a ref, as `--repo URL#REF=DIR` takes it. */
export const refName = (ref: SourceRef): string =>
  ref.commit ?? ref.name ?? ref.semver ?? ref.tag ?? ref.branch ?? 'master'

/**
 * Whether a working copy stands for a ref: its branch, or a tag or range of versions, which will be created from that
 * branch. Never a commit, which does not change.
 */
export const standsForRef = (branch: string, ref: SourceRef): boolean =>
  ref.branch === branch || ref.tag !== undefined || ref.semver !== undefined

/** Whether content that could not be built may name a repository, so that its sources are not all known. */
const isHidden = (fleets: readonly Fleet[], url: string): boolean =>
  fleets.some(fleet => fleet.nodes.some(node => mayLeadTo(node.hides ?? [], url)))

function refOf(read: () => SourceRef): SourceRef | undefined {
  // an address that Flux refuses is an error of the nodes that follow it
  return unlessRefused(undefined, () => read())
}

/**
 * Why a result about this working copy would be meaningless: no source of the fleet, in any of its states, follows its
 * branch or names its repository. Undefined if one does.
 */
export function notFollowed(
  fleets: readonly Fleet[],
  here: RepositoryAddress,
  remedy = (branch: string | undefined) =>
    `Add --branch ${branch}${here.because === CHECKED_OUT ? ` or --base ${branch}` : ''}.`,
): BailiwickError | undefined {
  const sources = followedSources(fleets)
  const addresses = addressesOf(fleets, here.url)
  const own = sources.filter(({ url }) => addresses.has(url))
  if (own.length === 0) return isHidden(fleets, here.url) ? undefined : notNamed(sources, here.url)
  if (own.every(one => one.declared)) return notApplied(own, here.url)
  const followed = own.filter(({ ref }) => standsForRef(here.branch, ref))
  const declared = own.filter(one => one.declared)
  // sources that name the default branch outweigh a cluster that was only assumed to follow this repository
  const isElsewhere =
    here.usual !== undefined &&
    !declared.some(({ ref }) => standsForRef(here.branch, ref)) &&
    declared.some(({ ref }) => ref.branch === here.usual)
  if (followed.length > 0 && !isElsewhere) return undefined
  const there = new Map(own.filter(one => one.declared || !isElsewhere).map(({ id, ref }) => [refName(ref), id]))
  const [first] = closest(here.usual ?? here.branch, there.keys(), 1)
  const branch = here.usual !== undefined && there.has(here.usual) ? here.usual : first
  const message = `no source follows branch ${here.branch} (${here.because}) of ${here.url || 'this repository'}, so nothing of it was evaluated`
  const list = [...there].slice(0, MAX_LISTED).map(([ref, id]) => `${ref} (${id})`)
  const fix = `Sources follow: ${list.join(', ')}. ${remedy(branch)}`
  return new BailiwickError('not-followed', message, { fix })
}

/** Tags and ranges of versions of this repository that sources follow: the working copy is evaluated in their place. */
export function followedVersions(fleet: Fleet, { url }: RepositoryAddress): string[] {
  const versions = followedSources([fleet]).filter(({ ref }) => ref.tag !== undefined || ref.semver !== undefined)
  const addresses = addressesOf([fleet], url)
  return [...new Set(versions.filter(one => addresses.has(one.url)).map(({ ref }) => refName(ref)))].sort()
}

/** Every `--repo` that no source of these states of the fleet follows, and that is therefore not evaluated. */
export function unusedRepositories(
  fleets: readonly Fleet[],
  repositories: readonly GivenRepository[],
): BailiwickError[] {
  if (repositories.length === 0) return []
  const sources = followedSources(fleets)
  return repositories.flatMap(({ url, ref }) => {
    const addresses = addressesOf(fleets, url)
    const same = sources.filter(one => addresses.has(one.url))
    if (same.some(one => ref === undefined || refName(one.ref) === ref) || isHidden(fleets, url)) return []
    const given = `--repo ${url}${ref === undefined ? '' : `#${ref}`}`
    if (same.length === 0) {
      const message = `${given}: no source of the fleet names this address`
      return [new BailiwickError('not-followed', message, { fix: named(sources, url) })]
    }
    const refs = [...new Set(same.map(one => `${url}#${refName(one.ref)}`))].slice(0, MAX_LISTED)
    const message = `${given}: no source of the fleet follows ${ref} of it`
    return [new BailiwickError('not-followed', message, { fix: `Sources follow: ${refs.join(', ')}.` })]
  })
}

/** Addresses in one message. */
const MAX_LISTED = 10

/** Sources alone deploy nothing: what reads them is not evaluated. */
function notApplied(own: readonly FollowedRepository[], url: string): BailiwickError {
  const ids = [...new Set(own.map(({ id }) => id))].slice(0, MAX_LISTED)
  const message = `${ids.join(', ')} ${ids.length === 1 ? 'names' : 'name'} ${url}, but no Kustomization or chart that is evaluated comes from there, so nothing of it was evaluated`
  const fix = 'Check the sourceRef of the Kustomization, or what keeps it from being evaluated.'
  return new BailiwickError('not-followed', message, { fix })
}

function notNamed(sources: readonly FollowedRepository[], url: string): BailiwickError {
  const message = `no source of the fleet has the address ${url}, so nothing was evaluated`
  return new BailiwickError('not-followed', message, {
    fix: `${named(sources, url)} Add --url with the one that DIR is.`,
  })
}

function named(sources: readonly FollowedRepository[], url: string): string {
  const addresses = new Map(sources.filter(one => one.url !== '').map(one => [one.url, one]))
  if (addresses.size === 0) return 'The fleet has no source.'
  const list = closest(url, addresses.keys(), MAX_LISTED).map(address => {
    const { ref } = addresses.get(address)!
    return Object.keys(ref).length === 0 ? address : `${address}#${refName(ref)}`
  })
  const more = andMore(addresses.size - list.length)
  return `Sources name: ${list.join(', ')}${more}.`
}
