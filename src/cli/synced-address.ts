import { findClusters } from '../fleet/bootstrap/find-clusters.ts'
import { readFleetFile } from '../fleet/config/read-fleet-file.ts'
import { addressIn } from '../fleet/model/address-in.ts'
import { GIT_REPOSITORY } from '../flux/kinds.ts'
import type { Tree } from '../git/tree.ts'
import { stringAt } from '../kube/node.ts'
import { groupOf, idOf } from '../kube/object.ts'
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
  const named = new Set(
    roots.flatMap(({ source, path, how }) => {
      if (how !== 'sync' && how !== 'flux-instance') return []
      const url = source && gitUrl(source)
      const isThere = path === '' || tree.entry(path)?.type === 'directory'
      return url === undefined || !isThere ? [] : [addressIn(aliases, url)]
    }),
  )
  const [url] = named
  if (url === undefined || named.size > 1 || url === addressIn(aliases, here.url)) return here
  const because = `${here.because}; all clusters follow this address, none follows the remote ${here.url || '(there is none)'}`
  return { ...here, url, because }
}

function gitUrl(source: Parameters<typeof idOf>[0]): string | undefined {
  const { apiVersion, kind } = idOf(source)
  const url = stringAt(source.root, ['spec', 'url'])
  const isGit = `${groupOf(apiVersion)}/${kind}` === GIT_REPOSITORY
  // a variable in it is not an address
  return isGit && url && !/[{}$]/.test(url) ? normaliseUrl(url) : undefined
}
