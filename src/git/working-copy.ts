import { realpath } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { BailiwickError } from '../base/errors.ts'
import { DEFAULT_LIMITS, LOCAL_LIMITS, type TreeLimits } from './entry-limits.ts'
import { listFolder, readFolder, readPaths, statsOf } from './folder-tree.ts'
import { indexStats, openFiles, readBlobs, smallBlobs } from './open-files.ts'
import { askGit, decodeRecords, runGit } from './run-git.ts'
import type { ListedEntry, SnapshotFile, Tree, TreeSnapshot } from './tree.ts'

/** An untracked repository inside the folder would be committed as a submodule at an unknown commit. */
const UNKNOWN_COMMIT = '0'.repeat(40)

/**
 * What a folder holds now. In the root of a git working copy: tracked and untracked files, not the ignored ones; any other
 * folder: all of it. Nothing of the folder's own configuration is run. Throws as readFolder, and `git-missing` for a
 * working copy that git refuses to list.
 */
export async function readWorkingCopy(dir: string, limits: TreeLimits = DEFAULT_LIMITS): Promise<TreeSnapshot> {
  if (!(await statsOf(join(dir, '.git')))) return readFolder(dir, limits)
  const { paths, others } = await listWorkingCopy(dir)
  const blobs = await readBlobs(dir, [...new Set(others.filter(isFile).map(({ id }) => id))])
  const files = others.map((entry): SnapshotFile => ({ ...entry, content: blobs.get(entry.id) ?? new Uint8Array() }))
  return readPaths(dir, paths, limits, files)
}

/** The same, of which only what is asked for is read: its size does not matter, the number of its files is limited. */
export async function openWorkingCopy(dir: string, limits: TreeLimits = LOCAL_LIMITS): Promise<Tree> {
  if (!(await statsOf(join(dir, '.git')))) return openFiles(dir, await listFolder(dir, limits), { limits })
  const { paths, others, index } = await listWorkingCopy(dir)
  const [known, blobs] = [
    await indexStats(dir, index),
    await smallBlobs(
      dir,
      others.filter(isFile).map(({ id }) => id),
    ),
  ]
  return openFiles(dir, paths, { others, blobs, known, limits })
}

/** The files to read, and what is part of the tree without lying there: submodules, and what a sparse checkout leaves out. */
async function listWorkingCopy(dir: string): Promise<{ paths: string[]; others: ListedEntry[]; index: string }> {
  const index = await indexOf(dir)
  const listing = index && (await listFiles(dir))
  const stages = index && (await askGit(dir, ['ls-files', '--stage', '-t', '-z']))
  if (!listing || !stages) {
    const { message } = await runGit(dir, ['rev-parse', '--show-toplevel'])
    const why = firstLine(message)
    throw new BailiwickError('git-missing', `${dir}: git cannot list the files${why ? `: ${why}` : ''}`, {
      fix: 'Run `git status` in that folder.',
    })
  }
  const tracked = decodeRecords(dir, stages).map(parseIndexRecord)
  const submodules = tracked.filter(entry => entry.mode === '160000')
  const others = [...submodules.map(({ path, id }) => submodule(path, id)), ...(await absentByChoice(dir, tracked))]
  const taken = new Set(others.map(file => file.path))
  const paths = new Set(decodeRecords(dir, listing).filter(path => !taken.has(path)))
  for (const path of paths) {
    if (!path.endsWith('/')) continue
    paths.delete(path)
    if (!taken.has(path.slice(0, -1))) others.push(submodule(path.slice(0, -1), UNKNOWN_COMMIT))
  }
  return { paths: [...paths], others, index }
}

const isFile = ({ mode }: ListedEntry) => mode !== '160000'

/** git leaves out what it may not open with a warning: an answer without it would be about something else. */
async function listFiles(dir: string): Promise<Buffer | undefined> {
  const { status, output, message } = await runGit(dir, [
    'ls-files',
    '--cached',
    '--others',
    '--exclude-standard',
    '-z',
  ])
  const refusal = refusalOf(dir, message)
  if (refusal) throw refusal
  return status === 0 ? output : undefined
}

/**
 * Whether `dir` is the root of a git working copy (not a folder somewhere inside of one, nor a bare repository). Throws
 * `source-unreadable` for one that git refuses because another user owns it.
 */
export const isWorkingCopy = async (dir: string): Promise<boolean> => (await indexOf(dir)) !== undefined

/** Each command asks several times: an answer holds while nothing in `.git` was written. A refusal is asked for anew. */
const indexes = new Map<string, { readonly stamp: string; readonly index: string }>()
const MAX_KEPT = 100

/** Where the index of a working copy is, by its root `dir`; undefined for any other folder. */
async function indexOf(dir: string): Promise<string | undefined> {
  const own = await statsOf(join(dir, '.git'))
  if (!own) return undefined
  // a file names another folder, of which this says nothing
  const stamp = own.isDirectory() ? [own.dev, own.ino, own.mtimeMs, own.ctimeMs].join(' ') : undefined
  const known = indexes.get(dir)
  if (known && known.stamp === stamp) return known.index
  const { status, output, message } = await runGit(dir, ['rev-parse', '--git-path', 'index', '--show-toplevel'])
  if (status !== 0) {
    const refusal = refusalOf(dir, message)
    if (refusal) throw refusal
    return undefined
  }
  const [, index = '', top = ''] = /^([^\n]*)\n([\s\S]*)\n$/.exec(output.toString()) ?? []
  if (top === '' || (await realpath(top)) !== (await realpath(dir))) return undefined
  if (indexes.size > MAX_KEPT) indexes.clear()
  if (stamp !== undefined) indexes.set(dir, { stamp, index: resolve(dir, index) })
  return resolve(dir, index)
}

/** The root of the git working copy around a folder: itself, or one above it; undefined outside of any. */
export async function workingCopyAround(dir: string): Promise<string | undefined> {
  for (let folder = dir; ; folder = dirname(folder)) {
    if (await isWorkingCopy(folder)) return folder
    if (folder === dirname(folder)) return undefined
  }
}

/** Address of a remote, or undefined where there is none (or `dir` is not a working copy). */
export async function remoteUrl(dir: string, remote: string = 'origin'): Promise<string | undefined> {
  return (await isWorkingCopy(dir)) ? (await remoteUrls(dir)).get(remote) : undefined
}

/** The addresses of the remotes of a repository, by name. */
export async function remoteUrls(dir: string): Promise<ReadonlyMap<string, string>> {
  const output = await askGit(dir, ['config', '--local', '-z', '--get-regexp', '^remote\\..*\\.url$'])
  const urls = new Map<string, string>()
  for (const record of output?.toString().split('\0') ?? []) {
    const [key = '', url = ''] = record.split('\n')
    const name = key.slice('remote.'.length, -'.url'.length)
    // of several addresses of one remote git fetches from the first
    if (url.trim() !== '' && !urls.has(name)) urls.set(name, url.trim())
  }
  return urls
}

/** Whether a folder is a repository without a working copy (`git clone --bare` or `--mirror`). */
export async function isBareRepository(dir: string): Promise<boolean> {
  const parts = await Promise.all(['HEAD', 'objects', 'refs'].map(name => statsOf(join(dir, name))))
  return parts.every(part => part !== undefined) && !(await statsOf(join(dir, '.git')))
}

/** The branch that is checked out; undefined on a detached head or in a plain folder. */
export async function currentBranch(dir: string): Promise<string | undefined> {
  if (!(await isWorkingCopy(dir))) return undefined
  // not --short: that says heads/main where a tag is named main too
  const ref = (await askGit(dir, ['symbolic-ref', '--quiet', 'HEAD']))?.toString().trim() ?? ''
  return ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : undefined
}

interface IndexEntry {
  readonly tag: string
  readonly mode: string
  readonly id: string
  readonly path: string
}

function parseIndexRecord(record: string): IndexEntry {
  const tab = record.indexOf('\t')
  const [tag = '', mode = '', id = ''] = record.slice(0, tab).split(' ')
  return { tag, mode, id, path: record.slice(tab + 1) }
}

/** A sparse checkout leaves files out on purpose (tag S): they are still part of the tree, so the index has their content. */
async function absentByChoice(dir: string, tracked: readonly IndexEntry[]): Promise<ListedEntry[]> {
  const absent: ListedEntry[] = []
  for (const { tag, mode, id, path } of tracked) {
    if (tag !== 'S' || mode === '160000' || (await statsOf(join(dir, path)))) continue
    absent.push({ path, mode: mode as ListedEntry['mode'], id })
  }
  return absent
}

const submodule = (path: string, id: string): ListedEntry => ({ path, mode: '160000', id })

const firstLine = (message: string) => message.split('\n', 1)[0]!.replace(/^fatal: /, '')

/**
 * Why git refuses to work in a folder at all, by what it printed: another user owns it (safe.directory), or its files
 * cannot be read. Undefined for anything else, such as a folder that is not a repository. Source: git's setup.c.
 */
function refusalOf(dir: string, message: string): BailiwickError | undefined {
  if (message.includes('dubious ownership')) {
    const owned = /repository at '([^'\n]+)'/.exec(message)?.[1] ?? dir
    return new BailiwickError('source-unreadable', `${owned}: owned by another user, so git does not read it`, {
      fix: `Run: git config --global --add safe.directory ${quoted(owned)}`,
    })
  }
  if (!/permission denied/i.test(message)) return undefined
  const what = message.split('\n', 1)[0]!.replace(/^(?:fatal|error|warning): /, '')
  return new BailiwickError('source-unreadable', `git cannot read ${dir}: ${what}`, {
    fix: 'Run as a user who may read it, or correct its permissions.',
  })
}

const quoted = (path: string) => (/^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`)
