import { describe, expect, test } from 'vitest'
import { ObjectStore } from '../../../src/git/object-store.ts'
import { openSnapshot, type SnapshotFile, type TreeSnapshot } from '../../../src/git/tree.ts'
import type { Octokit } from '../../../src/github/client/octokit.ts'
import { readTree } from '../../../src/github/contents/read-tree.ts'
import { temporaryFolder } from '../../base/git/temporary-folder.ts'
import { archiveOf, gitHost, hosted, type Lie } from './git-host.ts'

const FIRST = 'a'.repeat(40)
const SECOND = 'b'.repeat(40)
const at = ({ octokit }: { readonly octokit: Octokit }, commit: string) => ({
  owner: 'acme',
  repo: 'fleet',
  commit,
  octokit,
})
const text = (snapshot: TreeSnapshot, path: string) => Buffer.from(openSnapshot(snapshot).read(path)).toString()
const newStore = () => new ObjectStore(temporaryFolder())

const FILES: readonly SnapshotFile[] = [
  { path: 'clusters/staging/apps.yaml', content: 'kind: Kustomization\n' },
  { path: 'tenants/dev/rbac.yaml', content: 'kind: RoleBinding\n' },
  { path: 'tenants/dev/sync.yaml', content: 'kind: GitRepository\n' },
  { path: 'empty', content: '' },
  { path: 'latest', mode: '120000', content: 'tenants/dev/../dev' },
  { path: 'vendor', mode: '160000', content: '', id: 'c'.repeat(40) },
]
const changed = (path: string, content: string) => FILES.map(file => (file.path === path ? { ...file, content } : file))

describe('what it costs', () => {
  test('a repository never seen: commit, listing, one archive; again: nothing, in this process or the next', async () => {
    const host = await gitHost([await hosted(FIRST, FILES)])
    const dir = temporaryFolder()
    const store = new ObjectStore(dir)
    const snapshot = await readTree(at(host, FIRST), store)
    expect(host.requests).toEqual([
      `GET /repos/acme/fleet/git/commits/${FIRST}`,
      expect.stringContaining('GET /repos/acme/fleet/git/trees/'),
      `GET /repos/acme/fleet/tarball/${FIRST}`,
    ])
    expect(text(snapshot, 'tenants/dev/rbac.yaml')).toBe('kind: RoleBinding\n')
    expect(text(snapshot, 'latest')).toBe('tenants/dev/../dev')
    expect(snapshot.entries.find(entry => entry.path === 'vendor')).toMatchObject({
      mode: '160000',
      id: 'c'.repeat(40),
    })

    expect((await readTree(at(host, FIRST), store)).id).toBe(snapshot.id)
    const fresh = await readTree(at(host, FIRST), new ObjectStore(dir))
    expect(Buffer.from(fresh.bytes)).toEqual(Buffer.from(snapshot.bytes))
    expect(host.requests).toHaveLength(3)
  })

  test('a new commit: commit, listing and one request per changed file', async () => {
    const next = changed('tenants/dev/sync.yaml', 'kind: OCIRepository\n')
    const host = await gitHost([await hosted(FIRST, FILES), await hosted(SECOND, next)])
    const store = newStore()
    await readTree(at(host, FIRST), store)
    host.requests.length = 0
    const snapshot = await readTree(at(host, SECOND), store)
    expect(text(snapshot, 'tenants/dev/sync.yaml')).toBe('kind: OCIRepository\n')
    expect(host.requests.map(request => request.split('/').at(-2))).toEqual(['commits', 'trees', 'blobs'])
  })

  test('a commit with the same tree, or a tree that the caller knows: one request less each', async () => {
    const host = await gitHost([await hosted(FIRST, FILES), await hosted(SECOND, FILES)])
    const store = newStore()
    const { id } = await readTree(at(host, FIRST), store)
    host.requests.length = 0
    await readTree(at(host, SECOND), store)
    expect(host.requests).toHaveLength(1)
    await readTree({ ...at(host, 'd'.repeat(40)), tree: id }, store)
    expect(host.requests).toHaveLength(1)
  })

  test('many changed files: an archive again, not a request each', async () => {
    const many = Array.from({ length: 200 }, (_, n) => ({ path: `t/${n}.yaml`, content: `n: ${n}\n` }))
    const more = many.map((file, n) => (n < 60 ? { ...file, content: `m: ${n}\n` } : file))
    const host = await gitHost([await hosted(FIRST, many), await hosted(SECOND, more)])
    const store = newStore()
    await readTree(at(host, FIRST), store)
    await readTree(at(host, SECOND), store)
    expect(host.requests).toHaveLength(6)
  })
})

describe('an archive is not believed', () => {
  test('export-ignore leaves files out, export-subst changes them: both are read as blobs', async () => {
    const commit = await hosted(FIRST, FILES, ['tenants/dev/sync.yaml'])
    commit.archive = await archiveOf(changed('tenants/dev/rbac.yaml', 'kind: ClusterRoleBinding\n').slice(0, 2))
    const host = await gitHost([commit])
    const snapshot = await readTree(at(host, FIRST), newStore())
    expect(text(snapshot, 'tenants/dev/rbac.yaml')).toBe('kind: RoleBinding\n')
    expect(text(snapshot, 'tenants/dev/sync.yaml')).toBe('kind: GitRepository\n')
    expect(host.requests.filter(request => request.includes('/blobs/'))).toHaveLength(4)
  })

  test('entries that are not in the tree, climb out of it or link elsewhere change nothing', async () => {
    const dir = temporaryFolder()
    const commit = await hosted(FIRST, FILES)
    commit.archive = await archiveOf([
      { path: '../../../../../../tmp/bailiwick-escape', content: 'x' },
      { path: 'extra.yaml', content: 'kind: Extra\n' },
      { path: 'tenants/dev/rbac.yaml', mode: '120000', content: '/etc/passwd' },
      ...FILES,
    ])
    const host = await gitHost([commit])
    const snapshot = await readTree(at(host, FIRST), new ObjectStore(dir))
    expect(snapshot.id).toBe(commit.snapshot.id)
    expect(host.requests).toHaveLength(3)
  })

  test('one that unpacks to more than the limits is stopped', async () => {
    const commit = await hosted(FIRST, FILES)
    commit.archive = await archiveOf([{ path: 'bomb', content: Buffer.alloc(64 * 1024 * 1024) }, ...FILES])
    const host = await gitHost([commit])
    const bomb = readTree(at(host, FIRST), newStore(), { files: 100, bytes: 1000 })
    await expect(bomb).rejects.toMatchObject({ code: 'render-limits' })
  })

  test('a disk that takes nothing is told as that, and nothing goes on afterwards', async () => {
    const host = await gitHost([await hosted(FIRST, FILES)])
    const store = newStore()
    let running = 0
    store.writeBlob = async () => {
      running++
      await new Promise(resolve => setImmediate(resolve))
      running--
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    }
    await expect(readTree(at(host, FIRST), store)).rejects.toThrow('no space left')
    expect(running).toBe(0)
  })

  test.each([
    ['no archive at all', Buffer.from('<html>')],
    ['a torn one', undefined],
  ])('%s: try again', async (_, damaged) => {
    const commit = await hosted(FIRST, FILES)
    commit.archive = damaged ?? commit.archive.subarray(0, commit.archive.length - 40)
    const host = await gitHost([commit])
    await expect(readTree(at(host, FIRST), newStore())).rejects.toMatchObject({ code: 'github-unavailable' })
  })
})

describe('an answer is checked', () => {
  const reading = async (lie: Lie, limits?: { files: number; bytes: number }) => {
    const host = await gitHost([await hosted(FIRST, FILES, ['empty'])], lie)
    return readTree(at(host, FIRST), newStore(), limits)
  }
  const on =
    (part: string, body: object): Lie =>
    (_, path) =>
      path.includes(part) ? { body } : undefined

  test('a blob with other content', async () => {
    const body = { encoding: 'base64', content: Buffer.from('evil').toString('base64') }
    await expect(reading(on('/blobs/', body))).rejects.toMatchObject({ code: 'git-corrupt' })
  })

  test('a listing without one of the files, or with another', async () => {
    const short = { truncated: false, tree: [{ path: 'x', mode: '100644', type: 'blob', sha: 'e'.repeat(40) }] }
    await expect(reading(on('/trees/', short))).rejects.toMatchObject({ code: 'git-corrupt' })
    await expect(reading(on('/trees/', { truncated: false, tree: [] }))).rejects.toMatchObject({ code: 'git-corrupt' })
  })

  test.each(['../x', '.git/config', 'a//b', 'a\0b'])('a listing with the path %j', async path => {
    const bad = { truncated: false, tree: [{ path, mode: '100644', type: 'blob', sha: 'e'.repeat(40) }] }
    await expect(reading(on('/trees/', bad))).rejects.toMatchObject({ code: 'git-ambiguous' })
  })

  test('a listing with an unusual mode', async () => {
    const bad = { truncated: false, tree: [{ path: 'a', mode: '100664', type: 'blob', sha: 'e'.repeat(40) }] }
    await expect(reading(on('/trees/', bad))).rejects.toMatchObject({ code: 'git-ambiguous' })
  })

  test('another commit than asked for', async () => {
    const body = { sha: SECOND, tree: { sha: 'e'.repeat(40) }, parents: [], message: '' }
    await expect(reading(on('/git/commits/', body))).rejects.toMatchObject({ code: 'git-corrupt' })
  })

  test('more files or bytes than allowed', async () => {
    await expect(reading(() => undefined, { files: 5, bytes: 1000 })).rejects.toMatchObject({ code: 'render-limits' })
    await expect(reading(() => undefined, { files: 6, bytes: 50 })).rejects.toMatchObject({ code: 'render-limits' })
  })

  test('a name instead of a commit id is not even asked for', async () => {
    const host = await gitHost([])
    for (const name of ['main', FIRST.slice(0, 10), `../../${FIRST}`]) {
      await expect(readTree(at(host, name), newStore())).rejects.toMatchObject({ code: 'git-missing' })
    }
    expect(host.requests).toEqual([])
    await expect(readTree(at(host, FIRST), newStore())).rejects.toMatchObject({ code: 'git-missing' })
  })
})

describe('a listing that GitHub cuts', () => {
  const cut = (query: URLSearchParams, path: string, root: string) => query.has('recursive') && path.endsWith(root)

  test('is read in parts', async () => {
    const commit = await hosted(FIRST, FILES)
    const lie: Lie = (_, path, query) =>
      cut(query, path, commit.snapshot.id) ? { body: { truncated: true, tree: [] } } : undefined
    const host = await gitHost([commit], lie)
    const snapshot = await readTree(at(host, FIRST), newStore())
    expect(snapshot.id).toBe(commit.snapshot.id)
    // whole, root alone, clusters, tenants
    expect(host.requests.filter(request => request.includes('/trees/'))).toHaveLength(4)
  })

  test('is refused when its parts are cut too, and when it takes too many', async () => {
    const commit = await hosted(FIRST, FILES)
    const always: Lie = (_, path) => (path.includes('/trees/') ? { body: { truncated: true, tree: [] } } : undefined)
    const host = await gitHost([commit], always)
    await expect(readTree(at(host, FIRST), newStore())).rejects.toMatchObject({ code: 'git-truncated' })
    const deep: Lie = (_, path, query) => {
      if (!path.includes('/trees/')) return undefined
      const tree = [{ path: 'd', mode: '040000', type: 'tree', sha: commit.snapshot.id }]
      return { body: { truncated: query.has('recursive'), tree } }
    }
    const endless = await gitHost([commit], deep)
    await expect(readTree(at(endless, FIRST), newStore())).rejects.toMatchObject({ code: 'git-truncated' })
    expect(endless.requests.length).toBeLessThan(110)
  })
})
