import type { Fleet, FleetNode, NotSeen } from '../../fleet/fleet.ts'
import { isNotVisible, leftOutOf } from './left-out.ts'

/** A file at an address that no repository holds, which Flux fetches for the platform. */
export interface RemoteFile {
  readonly url: string
  /** The file that names it. */
  readonly file: string
  readonly repository: string
  readonly node: FleetNode
  /** Of a part that works on what the remote file holds, such as a patch of it: digest of its text. */
  readonly works?: string
}

/** The remote files of the platform, each once for the file that names it, in the order of the nodes. */
export function remoteFiles({ nodes, clusters }: Fleet): RemoteFile[] {
  const lockdowns = new Map(clusters.map(({ name, lockdown }) => [name, lockdown]))
  const found = new Map<string, RemoteFile>()
  for (const node of nodes) {
    if (node.tenant !== undefined || node.holes === undefined) continue
    for (const part of leftOutOf(node)) {
      if (part.remote === undefined || !isNotVisible(node, part, lockdowns.get(node.cluster))) continue
      const { file, repository } = part.error.origin ?? node.kustomization.root.origin
      const works = part.error.remote === undefined ? { works: part.hides } : {}
      const one = { url: part.remote, file, repository, node, ...works }
      const key = keyOf(one)
      if (!found.has(key)) found.set(key, one)
    }
  }
  return [...found.values()]
}

/** Its identity: what another file names, another address in the same file, or another patch of it, is another one. */
export const keyOf = ({ url, file, repository, works }: RemoteFile): string =>
  JSON.stringify([repository, file, url, works ?? ''])

export function notSeenOf({ url, file, node, works }: RemoteFile): NotSeen {
  const how = works === undefined ? 'named' : 'patched'
  const reason = `a remote file of the platform, ${how} in ${file}; nothing of it is evaluated`
  return { source: `Kustomization/${node.namespace}/${node.name}`, url, reason, what: 'files' }
}
