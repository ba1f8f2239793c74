import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'

/** An image layer: its bytes, and the digest of its uncompressed content. */
export interface Layer {
  readonly bytes: Buffer
  readonly diffId: string
}

/** The user id of the processes. */
export const USER = 1000

/**
 * Packs a folder as a reproducible layer: the same files yield the same bytes. Root owns everything except `owned`, the folders
 * that the processes write to. Paths are relative to the folder.
 */
export async function tarLayer(folder: string, owned: readonly string[] = []): Promise<Layer> {
  const tar = pack()
  const parts: Buffer[] = []
  tar.on('data', part => parts.push(part as Buffer))
  const ended = new Promise<void>((resolve, reject) => tar.on('end', () => resolve()).on('error', reject))
  for (const path of pathsOf(folder)) {
    const at = join(folder, path)
    const stats = lstatSync(at)
    const owner = owned.includes(path) ? { uid: USER, gid: USER } : { uid: 0, gid: 0 }
    const entry = { name: path, mtime: new Date(0), mode: stats.mode & 0o7777, ...owner }
    if (stats.isDirectory()) tar.entry({ ...entry, name: `${path}/`, type: 'directory' })
    else if (stats.isSymbolicLink()) tar.entry({ ...entry, type: 'symlink', linkname: readlinkSync(at) })
    else tar.entry({ ...entry, type: 'file' }, readFileSync(at))
  }
  tar.finalize()
  await ended
  const plain = Buffer.concat(parts)
  return { bytes: gzipSync(plain, { level: 9 }), diffId: digestOf(plain) }
}

export const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** Every path below a folder, parents first, in an order that does not depend on the file system. */
function pathsOf(folder: string, prefix = ''): string[] {
  return readdirSync(join(folder, prefix), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(entry => {
      const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`
      return entry.isDirectory() ? [path, ...pathsOf(folder, path)] : [path]
    })
}
