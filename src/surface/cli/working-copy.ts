import { realpath, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { BailiwickError } from '../../base/errors.ts'
import { findClusters } from '../../fleet/bootstrap/find-clusters.ts'
import { readFleetFile } from '../../fleet/config/fleet-file.ts'
import { CLUSTER_NAME } from '../../fleet/config/shape.ts'
import { buildFleet } from '../../fleet/graph/build-fleet.ts'
import { addressIn, type DeclaredCluster } from '../../fleet/model/fleet-config.ts'
import { defaultBranch, namedBranch } from '../../git/commits.ts'
import type { Tree } from '../../git/tree.ts'
import {
  currentBranch,
  isBareRepository,
  isWorkingCopy,
  remoteUrl,
  remoteUrls,
  workingCopyAround,
} from '../../git/working-copy.ts'
import { GIT_REPOSITORY } from '../../kube/flux-kinds.ts'
import { stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { normaliseUrl } from '../../kube/source-address.ts'
import type { UsageLine } from './usage.ts'

interface Wanted {
  /** `--base` is given: a commit is a whole repository. */
  readonly base?: string | undefined
  /** `--url` of a repository beside a fleet. */
  readonly url?: string | undefined
  readonly isTenant?: boolean
}

/**
 * The root of the working copy around the folder that a person names. A folder with `clusters` is its own root if that
 * root has none, as is a tenant's folder inside a repository of another address. Throws `git-missing` for a path that
 * is not a folder, `usage` for a bare repository.
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

/** How Flux sources name the repository in a folder, and the branch that the folder stands for. */
export interface RepositoryAddress {
  readonly url: string
  readonly branch: string
  /** Where the branch is known from. */
  readonly because: string
  /** The default branch, if the checked-out one was used. */
  readonly usual?: string
}

interface AddressOptions {
  readonly url?: string | undefined
  readonly branch?: string | undefined
  readonly base?: string | undefined
  /** Variables of a CI, which describe only the checked repository. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** The reason for a branch that only the working copy itself names. */
export const CHECKED_OUT = 'checked out'

/** Variables of GitHub Actions and GitLab CI that name the target branch of a change. */
const TARGETS = ['GITHUB_BASE_REF', 'CI_MERGE_REQUEST_TARGET_BRANCH_NAME']

/**
 * The address and branch from the command line, else the remote `origin` ('' without one) and the evaluated branch.
 * With `--base`: the branch that it names or tracks, because the change is merged there; without one, or if nothing is
 * checked out, the CI's target, else the default branch. Otherwise the checked-out one; `main` for a plain folder.
 */
export async function repositoryAddress(dir: string, options: AddressOptions): Promise<RepositoryAddress> {
  const address = options.url ?? (await remoteUrl(dir))
  return { url: address === undefined ? '' : normaliseUrl(address), ...(await branchOf(dir, options)) }
}

async function branchOf(dir: string, options: AddressOptions): Promise<Omit<RepositoryAddress, 'url'>> {
  const { branch, base, env = {} } = options
  if (branch !== undefined) return { branch, because: '--branch' }
  if (!(await isWorkingCopy(dir))) return { branch: 'main', because: 'a folder without git' }
  if (base === undefined) {
    const current = await currentBranch(dir)
    const queued = /^gh-readonly-queue\/(.+)\/pr-\d+-[0-9a-f]{40}$/.exec(current ?? '')?.[1]
    if (queued !== undefined) return { branch: queued, because: `merge queue branch ${current}` }
    if (current !== undefined) return { branch: current, because: CHECKED_OUT, ...(await usualBranch(dir)) }
  } else {
    const named = await namedBranch(dir, base)
    if (named !== undefined) return { branch: named, because: `--base ${base}` }
  }
  for (const name of TARGETS) {
    const target = env[name]
    if (target) return { branch: target, because: name }
  }
  const byDefault = await defaultBranch(dir)
  if (byDefault !== undefined) return { branch: byDefault, because: 'the default branch' }
  return { branch: 'main', because: 'the default branch is not known' }
}

async function usualBranch(dir: string): Promise<{ usual?: string }> {
  const usual = await defaultBranch(dir)
  return usual === undefined ? {} : { usual }
}

/**
 * The address by which the clusters of a working copy follow it, if its remote is a fork, a mirror or a new name: the
 * one that all clusters with a present folder name, if none names the remote. `flux bootstrap` writes the sync into the
 * repository that it names. Only for people who evaluate their own working copy: the App knows the names from GitHub.
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
  // patches and variables may change the written address
  const rendered = renderedUrls(here.branch, tree)
  const urls = synced.flatMap(({ name }, index) => rendered.get(name) ?? written[index] ?? [])
  const [url, ...others] = new Set(urls.map(one => addressIn(aliases, one)))
  if (url === undefined || others.length > 0 || url === own) return here
  const because = `${here.because}; all clusters follow this address, none follows the remote ${here.url || '(there is none)'}`
  return { ...here, url, because }
}

/** The source address of each cluster as rendered from this working copy. */
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

/** A folder with the content of another source. */
export interface GivenRepository {
  readonly url: string
  /** Branch, tag or commit; absent: whatever the source follows. */
  readonly ref?: string
  readonly dir: string
}

/** Reads `URL[#REF]=DIR`; an address has no "=", so the first one divides. Throws `usage`. */
export function givenRepository(text: string, cwd: string): GivenRepository {
  const equals = text.indexOf('=')
  const [url = '', ...rest] = text.slice(0, Math.max(0, equals)).split('#')
  const ref = rest.join('#')
  const dir = text.slice(equals + 1)
  if (equals < 0 || url === '' || dir === '' || (rest.length > 0 && ref === '')) {
    throw new BailiwickError('usage', `--repo ${JSON.stringify(text)} is not URL[#REF]=DIR`)
  }
  return { url: normaliseUrl(url), ...(ref === '' ? {} : { ref }), dir: resolve(cwd, dir) }
}

/** Where a command finds the content of sources, and clusters that are not detected. */
export const SOURCES: readonly UsageLine[] = [
  ['[--repo URL[#REF]=DIR]...', 'folder with the content of another source'],
  ['[--repos-dir DIR]', 'folder with clones of other sources, each identified by its remote'],
  ['[--cluster-root NAME=PATH]...', 'folder that a cluster starts from, if it is not detected (repeatable)'],
]

/** Reads `--cluster-root NAME=PATH`. Throws `usage`. */
export function clusterRoot(text: string): DeclaredCluster {
  const mark = text.indexOf('=')
  const [name, path] = [text.slice(0, Math.max(0, mark)), text.slice(mark + 1)]
  if (mark > 0 && CLUSTER_NAME.test(name) && !path.split('/').includes('..')) return { name, path }
  throw new BailiwickError('usage', `--cluster-root ${JSON.stringify(text)} is not NAME=PATH`, {
    fix: 'Write for example --cluster-root production=kubernetes/flux/cluster, or =./ for the root of the repository.',
  })
}
