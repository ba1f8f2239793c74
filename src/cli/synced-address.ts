import { findClusters } from '../fleet/bootstrap/find-clusters.ts'
import { readFleetFile } from '../fleet/config/read-fleet-file.ts'
import { buildFleet } from '../fleet/graph/build-fleet.ts'
import { addressIn } from '../fleet/model/address-in.ts'
import { GIT_REPOSITORY } from '../flux/kinds.ts'
import type { Tree } from '../git/tree.ts'
import { stringAt } from '../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../kube/object.ts'
import { normaliseUrl } from '../kube/url.ts'
import type { RepositoryAddress } from './repository-address.ts'

/**
 * The address by which the clusters of a working copy follow it, where its remote is a fork, a mirror or a new name: what
 * all of them say, of those whose folder is there, and none says the remote. `flux bootstrap` writes the sync into the very
 * repository that it names. For who evaluates their own working copy only: the App knows the names from GitHub.
 */
export function withSyncedAddress(here: RepositoryAddress, tree: Tree): RepositoryAddress {
  const { aliases } = readFleetFile(tree, here.url)
  const { roots } = findClusters({ url: here.url, aliases, tree })
  const synced = roots.filter(
    ({ how, path }) =>
      (how === 'sync' || how === 'flux-instance') && (path === '' || tree.entry(path)?.type === 'directory'),
  )
  const own = addressIn(aliases, here.url)
  const written = synced.map(({ source }) => source && gitUrl(source))
  const isNamed = written.some(url => url !== undefined && addressIn(aliases, url) === own)
  if (synced.length === 0 || (isNamed && own !== '')) return here
  // patches and variables may make another address of what is written
  const rendered = renderedUrls(here.branch, tree)
  const urls = synced.flatMap(({ name }, index) => rendered.get(name) ?? written[index] ?? [])
  const [url, ...others] = new Set(urls.map(one => addressIn(aliases, one)))
  if (url === undefined || others.length > 0 || url === own) return here
  const because = `${here.because}; all clusters follow this address, none follows the remote ${here.url || '(there is none)'}`
  return { ...here, url, because }
}

/** What the source of each cluster says once the cluster renders it from this working copy. */
function renderedUrls(branch: string, tree: Tree): ReadonlyMap<string, string> {
  const { nodes } = buildFleet({ fleet: { url: '', branch, commit: '', tree }, sources: [], opaque: [] })
  const followed = new Map(nodes.flatMap(({ parent, cluster, source }) => (parent ? [] : [[cluster, source.id]])))
  const found = nodes.flatMap(({ cluster, objects }) =>
    objects.flatMap(object => {
      const { kind, namespace, name } = idOf(object)
      const url = followed.get(cluster) === `${kind}/${namespace}/${name}` ? gitUrl(object) : undefined
      return url === undefined ? [] : [[cluster, url] as const]
    }),
  )
  return new Map(found.toReversed())
}

function gitUrl(source: KubeObject): string | undefined {
  const { apiVersion, kind } = idOf(source)
  const url = stringAt(source.root, ['spec', 'url'])
  const isGit = `${groupOf(apiVersion)}/${kind}` === GIT_REPOSITORY
  // a variable that is left is not an address
  return isGit && url && !/[{}$]/.test(url) ? normaliseUrl(url) : undefined
}
