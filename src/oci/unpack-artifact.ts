import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract, type Header } from 'tar-stream'
import { BailiwickError } from '../errors.ts'
import { capped } from '../git/capped.ts'
import { checkFileSize, checkPaths, checkSize, DEFAULT_LIMITS, type TreeLimits } from '../git/entry-limits.ts'
import { packSnapshot, type SnapshotFile } from '../git/snapshot.ts'
import type { TreeSnapshot } from '../git/tree.ts'

/** What a tar archive adds to an entry: header, padding, and extended headers for long names. */
const OVERHEAD_PER_ENTRY = 8 * 1024
const OVERHEAD = 1024 * 1024

/** source-controller leaves symlinks out, and reads nothing in what stands before entries. */
const LEFT_OUT: readonly string[] = ['directory', 'symlink', 'pax-global-header', 'pax-header']

/**
 * The files of a tar archive with gzip, as source-controller unpacks it (fluxcd/pkg tar/tar.go, without symlinks), within the
 * limits of any tree. Throws `source-unreadable` for what is not such an archive or what Flux refuses in it, `render-limits`
 * for more than the limits, `git-ambiguous` for paths that lead elsewhere or are there twice.
 */
export async function unpackArtifact(
  what: string,
  bytes: Uint8Array,
  limits: TreeLimits = DEFAULT_LIMITS,
): Promise<TreeSnapshot> {
  const files: SnapshotFile[] = []
  let size = 0
  let entries = 0
  const unpack = extract()
  const read = async () => {
    for await (const entry of unpack) {
      // folders and links cost work too
      checkSize(what, ++entries, size, limits)
      const file = fileOf(what, entry.header)
      const chunks: Uint8Array[] = []
      for await (const chunk of entry as AsyncIterable<Uint8Array>) {
        size += chunk.length
        checkSize(what, entries, size, limits)
        if (file) chunks.push(chunk)
      }
      if (file) files.push({ ...file, content: Buffer.concat(chunks) })
    }
  }
  const [unpacked, reading] = await Promise.allSettled([
    pipeline(
      Readable.from([bytes]),
      createGunzip(),
      capped(limits.bytes + limits.files * OVERHEAD_PER_ENTRY + OVERHEAD, what),
      unpack,
    ),
    read(),
  ])
  const failures = [reading, unpacked].flatMap(one => (one.status === 'rejected' ? [one.reason as unknown] : []))
  const ours = failures.find(one => one instanceof BailiwickError)
  if (ours) throw ours
  if (failures.length > 0) {
    const [cause] = failures
    throw new BailiwickError('source-unreadable', `${what} is not a tar archive with gzip, which Flux expects`, {
      cause,
    })
  }
  checkPaths(what, files)
  return packSnapshot(files)
}

function fileOf(what: string, { name, type, size, mode }: Header): Omit<SnapshotFile, 'content'> | undefined {
  if (LEFT_OUT.includes(type ?? '')) return undefined
  if (type !== 'file' && type !== 'contiguous-file') {
    throw new BailiwickError(
      'source-unreadable',
      `${what} holds an entry of the type ${String(type)}, which Flux refuses`,
    )
  }
  const path = name.replace(/^(?:\.\/)+/, '')
  if (path.includes('\\') || path.startsWith('/') || path.includes('../')) {
    const shown = JSON.stringify(path.slice(0, 200))
    throw new BailiwickError('source-unreadable', `${what} holds the path ${shown}, which Flux refuses`)
  }
  checkFileSize(path, size ?? 0)
  return { path, mode: (mode ?? 0) & 0o100 ? '100755' : '100644' }
}
