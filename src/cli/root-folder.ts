import { realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { BailiwickError } from '../errors.ts'
import { isBareRepository, remoteUrls, workingCopyAround } from '../git/working-copy.ts'
import { normaliseUrl } from '../kube/url.ts'

interface Wanted {
  /** `--base` is given: a commit is a whole repository. */
  readonly base?: string | undefined
  /** `--url` of a repository beside a fleet. */
  readonly url?: string | undefined
  readonly isTenant?: boolean
}

/**
 * The folder that is meant by one that a person names or stands in: the root of the working copy around it. A folder that holds
 * `clusters` where that root has none is a fleet of its own, as is a tenant's folder inside of a repository of another address.
 * Throws `git-missing` for what is not a folder, `usage` for a bare repository.
 */
export async function rootFolder(dir: string, { base, url, isTenant = false }: Wanted = {}): Promise<string> {
  const found = await stat(dir).catch(unlessAbsent)
  if (!found) throw new BailiwickError('git-missing', `${dir} does not exist`, { fix: 'Name an existing folder.' })
  if (!found.isDirectory()) {
    throw new BailiwickError('git-missing', `${dir} is a file`, { fix: 'Name the folder of the repository.' })
  }
  const real = await realpath(dir)
  if (await isBareRepository(real)) {
    throw new BailiwickError('usage', `${dir} is a bare repository, which holds no working copy`, {
      fix: `Run: git -C ${dir} worktree add --detach FOLDER, and name that folder.`,
    })
  }
  const top = await workingCopyAround(real)
  if (top === undefined || top === real) return real
  if (base !== undefined) return top
  return (await (isTenant ? isOfAnother(top, url) : isOwnFleet(top, real))) ? real : top
}

const isOwnFleet = async (top: string, dir: string) => (await hasClusters(dir)) && !(await hasClusters(top))

async function hasClusters(dir: string): Promise<boolean> {
  return (await stat(join(dir, 'clusters')).catch(unlessAbsent))?.isDirectory() ?? false
}

async function isOfAnother(top: string, url: string | undefined): Promise<boolean> {
  if (url === undefined) return false
  const remotes = [...(await remoteUrls(top)).values()].map(normaliseUrl)
  return remotes.length > 0 && !remotes.includes(normaliseUrl(url))
}

function unlessAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
}
