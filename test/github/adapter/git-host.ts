import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import {
  type Directory,
  directoriesOf,
  packSnapshot,
  type SnapshotFile,
  type TreeSnapshot,
} from '../../../src/git/tree.ts'
import { type Answer, type Answerer, type RawGitHub, rawGitHub } from './raw-github.ts'

const MODES = { file: '100644', directory: '040000', symlink: '120000', submodule: '160000' } as const

interface HostedCommit {
  readonly commit: string
  readonly snapshot: TreeSnapshot
  archive: Uint8Array
}

/** What a test may have the host say instead of the truth. */
export type Lie = (method: string, path: string, query: URLSearchParams) => Answer | undefined

/** The git database of acme/fleet over HTTP, as far as reading goes; `lie` is asked first. */
export async function gitHost(commits: readonly HostedCommit[], lie: Lie = () => undefined): Promise<RawGitHub> {
  const trees = new Map<string, Directory>()
  const blobs = new Map<string, Uint8Array>()
  for (const { snapshot } of commits) {
    for (const directory of directoriesOf(snapshot.entries).values()) trees.set(directory.id, directory)
    for (const { id, offset, length } of snapshot.entries) blobs.set(id, snapshot.bytes.slice(offset, offset + length))
  }
  const answer: Answerer = (method, path, query) => {
    const lied = lie(method, path, query)
    if (lied) return lied
    const [kind, id = ''] = path.replace('/repos/acme/fleet/', '').replace('git/', '').split('/')
    const hosted = commits.find(one => one.commit === id)
    if (kind === 'commits' && hosted) return { body: commitJson(hosted) }
    if (kind === 'tarball' && hosted) return { body: hosted.archive }
    if (kind === 'trees')
      return { body: { sha: id, truncated: false, tree: listing(trees, id, query.has('recursive')) } }
    const blob = blobs.get(id)
    if (kind === 'blobs' && blob) {
      return { body: { sha: id, size: blob.length, encoding: 'base64', content: Buffer.from(blob).toString('base64') } }
    }
    return undefined
  }
  return rawGitHub(answer)
}

export async function hosted(
  commit: string,
  files: readonly SnapshotFile[],
  left: readonly string[] = [],
): Promise<HostedCommit> {
  return {
    commit,
    snapshot: packSnapshot(files),
    archive: await archiveOf(files.filter(file => !left.includes(file.path))),
  }
}

/** A gzipped tar as GitHub packs it: one folder around everything. */
export async function archiveOf(files: readonly SnapshotFile[]): Promise<Uint8Array> {
  const archive = pack()
  for (const { path, mode, content } of files) {
    const name = `acme-fleet-1234567/${path}`
    if (mode === '120000') archive.entry({ name, type: 'symlink', linkname: String(content) })
    else if (mode === '160000') archive.entry({ name, type: 'directory' })
    else archive.entry({ name }, Buffer.from(content as Uint8Array))
  }
  archive.finalize()
  return gzipSync(await buffer(archive as unknown as NodeJS.ReadableStream))
}

function commitJson({ commit, snapshot }: HostedCommit) {
  return { sha: commit, tree: { sha: snapshot.id }, parents: [], message: 'a commit' }
}

function listing(trees: ReadonlyMap<string, Directory>, id: string, recursive: boolean, prefix = ''): object[] {
  return (trees.get(id)?.entries ?? []).flatMap(entry => {
    const type = entry.type === 'directory' ? 'tree' : entry.type === 'submodule' ? 'commit' : 'blob'
    const item = { path: prefix + entry.name, mode: MODES[entry.type], type, sha: entry.id }
    return recursive && type === 'tree' ? [item, ...listing(trees, entry.id, true, `${item.path}/`)] : [item]
  })
}
