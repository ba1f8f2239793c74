import type { Fleet, FleetNode, NotSeen } from '../../fleet/model/fleet.ts'
import { appliedAs } from './applied-as.ts'
import { isNotVisible, leftOutOf } from './left-out.ts'

/** A file at an address that no repository holds, which Flux fetches for the platform. */
export interface RemoteFile {
  readonly url: string
  /** The file that names it. */
  readonly file: string
  readonly repository: string
  readonly node: FleetNode
  /** It names no address itself, but changes what the remote file holds, as a patch does. */
  readonly isPatch: boolean
  /** Digest of all that is known of it. */
  readonly hides: string
}

/** The remote files of the platform, each once for the file that names it and for the place where it is applied. */
export function remoteFiles({ nodes, clusters }: Fleet): RemoteFile[] {
  const lockdowns = new Map(clusters.map(({ name, lockdown }) => [name, lockdown]))
  const found = new Map<string, RemoteFile>()
  for (const node of nodes) {
    if (node.tenant !== undefined || node.holes === undefined) continue
    for (const part of leftOutOf(node)) {
      if (part.remote === undefined || !isNotVisible(node, part, lockdowns.get(node.cluster))) continue
      const { file, repository } = part.error.origin ?? node.kustomization.root.origin
      const isPatch = part.error.remote === undefined
      const one = { url: part.remote, file, repository, node, hides: part.hides, isPatch }
      const key = keyOf(one)
      if (!found.has(key)) found.set(key, one)
    }
  }
  return [...found.values()]
}

/**
 * Its identity: what another file names, another address in the same file, another patch of it, or the same on another
 * cluster or with another account, is another one. Where nothing of its node is applied it is the same everywhere.
 */
export function keyOf(one: RemoteFile): string {
  const place = appliedAs(one.node)
  return place === undefined ? sameFile(one) : JSON.stringify([sameFile(one), place])
}

/** The same, wherever it is applied. */
export const sameFile = ({ url, file, repository, hides }: RemoteFile): string =>
  JSON.stringify([repository, file, url, hides])

/** Each once, however often it is applied. */
export function notSeenOf(files: readonly RemoteFile[]): NotSeen[] {
  return [...new Map(files.map(entryOf).map(entry => [JSON.stringify(entry), entry])).values()]
}

function entryOf({ url, file, node, isPatch }: RemoteFile): NotSeen {
  const how = isPatch ? 'patched' : 'named'
  const reason = `a remote file of the platform, ${how} in ${file}; nothing of it is evaluated`
  return { source: `Kustomization/${node.namespace}/${node.name}`, url, reason, what: 'files' }
}
