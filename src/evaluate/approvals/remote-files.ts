import { HeldNodes } from '../../facts/held-nodes.ts'
import type { Fleet, FleetNode, NotSeen } from '../../fleet/model/fleet.ts'
import { isNotVisible, leftOutOf } from '../applied/left-out.ts'
import { placeOf } from '../applied/place-of.ts'

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
  /**
   * Its identity: what another file names, another address in the same file, another patch of it, or the same on another
   * cluster or with another account, is another one. Where nothing of its node is applied it is the same everywhere.
   */
  readonly key: string
  /** The identities under which it is no news later. */
  readonly known: readonly string[]
}

/** The remote files of the platform, each once for the file that names it and for the place where it is applied. */
export function remoteFiles(fleet: Fleet): RemoteFile[] {
  const { nodes, clusters } = fleet
  const lockdowns = new Map(clusters.map(({ name, lockdown }) => [name, lockdown]))
  const held = new HeldNodes(fleet)
  const found = new Map<string, RemoteFile>()
  for (const node of nodes) {
    if (node.tenant !== undefined || node.holes === undefined) continue
    for (const part of leftOutOf(node)) {
      if (part.remote === undefined || !isNotVisible(node, part, lockdowns.get(node.cluster))) continue
      const { file, repository } = part.error.origin ?? node.kustomization.root.origin
      const isPatch = part.error.remote === undefined
      const one = { url: part.remote, file, repository, node, hides: part.hides, isPatch }
      const [same, { now, known }] = [sameFile(one), placeOf(node, held.has(node.key), '')]
      const at = (place: string) => JSON.stringify([same, place])
      const key = now === undefined ? same : at(now)
      if (!found.has(key)) found.set(key, { ...one, key, known: [same, ...known.map(at)] })
    }
  }
  return [...found.values()]
}

/** The same, wherever it is applied. */
export const sameFile = ({
  url,
  file,
  repository,
  hides,
}: Pick<RemoteFile, 'url' | 'file' | 'repository' | 'hides'>): string => JSON.stringify([repository, file, url, hides])

/** Each once, however often it is applied. */
export function notSeenOf(files: readonly RemoteFile[]): NotSeen[] {
  return [...new Map(files.map(entryOf).map(entry => [JSON.stringify(entry), entry])).values()]
}

function entryOf({ url, file, node, isPatch }: RemoteFile): NotSeen {
  const how = isPatch ? 'patched' : 'named'
  const reason = `a remote file of the platform, ${how} in ${file}; nothing of it is evaluated`
  return { source: `Kustomization/${node.namespace}/${node.name}`, url, reason, what: 'files' }
}
