import { realpath } from 'node:fs/promises'
import { relative, resolve, sep } from 'node:path'
import { BailiwickError } from '../../errors.ts'
import { rootFolder } from '../root-folder.ts'

/** The folders that tools may read. */
export interface Roots {
  /** Base of relative paths, and the default when no path is given. */
  readonly first: string
  /** The real path of a folder, and the root that contains it. Throws `usage` for a folder outside every root after links are resolved. */
  folder(path: string): Promise<{ readonly path: string; readonly root: string }>
  /** The top folder of the repository that contains a folder. Throws `usage` if it is outside every root. */
  repository(path: string): Promise<string>
}

/** Throws `usage` if a root does not exist. */
export async function openRoots(folders: readonly string[]): Promise<Roots> {
  const roots = await Promise.all(folders.map(real))
  const [first = ''] = roots
  const folder = async (path: string) => {
    const found = await real(resolve(first, path))
    const root = roots.find(one => isWithin(one, found))
    if (root !== undefined) return { path: found, root }
    throw new BailiwickError('usage', `${path} is outside of the folders that may be read`, {
      fix: `Allowed: ${roots.join(', ')}. The person who starts bailiwick mcp adds others with --root.`,
    })
  }
  const repository = async (path: string) => (await folder(await rootFolder((await folder(path)).path))).path
  return { first, folder, repository }
}

function isWithin(root: string, path: string): boolean {
  const below = relative(root, path)
  return below !== '..' && !below.startsWith(`..${sep}`)
}

async function real(path: string): Promise<string> {
  return realpath(path).catch((cause: NodeJS.ErrnoException) => {
    throw new BailiwickError('usage', `${path}: ${cause.code === 'ENOENT' ? 'does not exist' : cause.code}`, {
      fix: 'Name an existing folder.',
      cause,
    })
  })
}
