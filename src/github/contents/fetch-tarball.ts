import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract, type Header } from 'tar-stream'
import { BailiwickError } from '../../errors.ts'
import { capped } from '../../git/capped.ts'
import { objectId } from '../../git/object-id.ts'
import type { ObjectStore } from '../../git/object-store.ts'
import { type Message, message } from '../../message/message.ts'
import { github, githubError } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'
import { settleAll } from '../client/settle-all.ts'

/** What a tar archive adds per entry: header, padding, and extended headers for long names. */
const OVERHEAD_PER_ENTRY = 8 * 1024
const OVERHEAD = 1024 * 1024
const WRITES_AT_ONCE = 32

interface TarballLimits {
  /** No wanted file is larger than all of them together may be. */
  readonly bytes: number
  readonly entries: number
}

/**
 * Reads the archive of a commit in one request and stores what is wanted of it. The archive is a bag of contents: names,
 * modes and links in it mean nothing, only a content whose git id is wanted is taken. So `export-ignore` and `export-subst`
 * (gitattributes) merely leave ids over for the caller: returned are those that were found.
 * Throws `render-limits` when the archive unpacks to more than the tree can explain.
 */
export async function fetchTarball(
  octokit: Octokit,
  store: ObjectStore,
  { owner, repo }: RepositoryName,
  commit: string,
  wanted: ReadonlySet<string>,
  limits: TarballLimits,
): Promise<ReadonlySet<string>> {
  const what = message`read the archive of ${repositoryPart({ owner, repo })}`
  const { data } = await github(what, () =>
    octokit.rest.repos.downloadTarballArchive({
      owner,
      repo,
      ref: commit,
      request: { parseSuccessResponseBody: false },
    }),
  )
  const found = new Set<string>()
  const writes = new Set<Promise<void>>()
  const max = limits.bytes + limits.entries * OVERHEAD_PER_ENTRY + OVERHEAD
  const unpack = extract()
  const read = async () => {
    for await (const entry of unpack) {
      const content = await contentOf(entry as AsyncIterable<Uint8Array>, entry.header, limits.bytes)
      const id = content && objectId('blob', content)
      if (!id || !wanted.has(id) || found.has(id)) continue
      found.add(id)
      const write = store.writeBlob(id, content)
      // settleAll tells it; a failure before that must not end the process as unhandled
      write.catch(() => {})
      writes.add(write)
      if (writes.size < WRITES_AT_ONCE) continue
      await settleAll([...writes])
      writes.clear()
    }
  }
  const body = Readable.fromWeb(data as Parameters<typeof Readable.fromWeb>[0])
  const unpacked = await Promise.allSettled([
    pipeline(body, createGunzip(), capped(max, `The archive of ${owner}/${repo}`), unpack),
    read(),
  ])
  // our own disk first: its failure ends the archive early, but is not GitHub's
  await settleAll([...writes])
  const failures = unpacked.flatMap(result => (result.status === 'rejected' ? [result.reason as unknown] : []))
  if (failures.length > 0) throw archiveError(what, failures)
  return found
}

async function contentOf(
  entry: AsyncIterable<Uint8Array>,
  header: Header,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const wanted = header.type === 'file' && header.size <= maxBytes
  const chunks: Uint8Array[] = []
  // what is not wanted must be read too: the next entry comes after it
  for await (const chunk of entry) if (wanted) chunks.push(chunk)
  if (header.type === 'symlink') return Buffer.from(header.linkname)
  return wanted ? Buffer.concat(chunks) : undefined
}

/** A torn or mangled archive: the same request may give a whole one. A limit of ours is final. */
function archiveError(what: Message, failures: readonly unknown[]): BailiwickError {
  const ours = failures.find(failure => failure instanceof BailiwickError)
  if (ours) return ours
  const mapped = githubError(what, failures[0])
  if (mapped.code !== 'internal') return mapped
  return new BailiwickError('github-unavailable', message`Could not ${what}: the archive is damaged`, {
    cause: failures[0],
  })
}
