import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { acme, FLEET, NAME } from '../../tools/github/acme.ts'

let env: Awaited<ReturnType<typeof acme>>
beforeEach(async () => {
  env = await acme()
})
afterEach(async () => {
  expect(env.github.responseViolations).toEqual([])
  expect(env.github.violations).toEqual([])
  await env.github.close()
})

const main = () => env.github.commitOf(NAME, 'main')
const refused = (status: number) => ({ status })

/** Commits files as the app does: tree on a base, commit, and (when given) a new branch. */
async function commit(tree: object[], parents = [main()], branch?: string) {
  const { git } = env.app.rest
  const base_tree = (await git.getCommit({ ...FLEET, commit_sha: parents[0]! })).data.tree.sha
  const made = await git.createTree({ ...FLEET, base_tree, tree: tree as never })
  const { data } = await git.createCommit({ ...FLEET, message: 'Made', tree: made.data.sha, parents })
  if (branch) await git.createRef({ ...FLEET, ref: `refs/heads/${branch}`, sha: data.sha })
  return data
}

test('a commit is made of blobs and trees, and a branch of it', async () => {
  const { git } = env.app.rest
  const content = Buffer.from('bytes \0\xff', 'latin1')
  const blob = await git.createBlob({ ...FLEET, content: content.toString('base64'), encoding: 'base64' })
  const made = await commit(
    [
      { path: 'deep/er/bin', mode: '100644', type: 'blob', sha: blob.data.sha },
      { path: 'run.sh', mode: '100755', type: 'blob', content: '#!/bin/sh\n' },
      { path: 'b.txt', mode: '100644', type: 'blob', sha: null },
      { path: 'clusters', mode: '100644', type: 'blob', content: 'a file now' },
    ],
    [main()],
    'feature/x',
  )
  expect(made).toMatchObject({ message: 'Made', author: { name: 'bailiwick[bot]' }, parents: [{ sha: main() }] })
  expect(env.github.filesOf(NAME, 'feature/x')).toEqual(['a.txt', 'clusters', 'deep/er/bin', 'run.sh'])
  const back = await git.getBlob({ ...FLEET, file_sha: blob.data.sha })
  expect(Buffer.from(back.data.content, 'base64')).toEqual(content)
  const ref = await git.getRef({ ...FLEET, ref: 'heads/feature/x' })
  expect(ref.data.object).toMatchObject({ type: 'commit', sha: made.sha })
})

test('trees: one level, all levels, by commit and by branch', async () => {
  const one = await env.app.rest.git.getTree({ ...FLEET, tree_sha: main() })
  expect(one.data.tree.map(item => [item.path, item.type, item.mode])).toEqual([
    ['a.txt', 'blob', '100644'],
    ['b.txt', 'blob', '100644'],
    ['clusters', 'tree', '040000'],
  ])
  const all = await env.app.rest.git.getTree({ ...FLEET, tree_sha: 'main', recursive: '1' })
  expect(all.data.tree.map(item => item.path)).toEqual([
    'a.txt',
    'b.txt',
    'clusters',
    'clusters/staging',
    'clusters/staging/x.yaml',
  ])
  expect(all.data).toMatchObject({ sha: one.data.sha, truncated: false })
})

test('a tree of more than 100,000 entries is cut, and says so', async () => {
  const files = Object.fromEntries(Array.from({ length: 100_001 }, (_, i) => [`f${i}`, '']))
  env.github.addRepository({ owner: 'acme', name: 'big', files })
  const { data } = await env.app.rest.git.getTree({ owner: 'acme', repo: 'big', tree_sha: 'main', recursive: '1' })
  expect(data.truncated).toBe(true)
  expect(data.tree).toHaveLength(100_000)
})

test('a ref moves forward only, unless it is forced; what is not there is refused', async () => {
  const { git } = env.app.rest
  const first = main()
  const next = (await commit([{ path: 'b.txt', mode: '100644', type: 'blob', content: 'next\n' }])).sha
  const side = (await commit([{ path: 'b.txt', mode: '100644', type: 'blob', content: 'side\n' }])).sha
  const ref = { ...FLEET, ref: 'heads/main' }
  await git.updateRef({ ...ref, sha: next })
  await expect(git.updateRef({ ...ref, sha: side })).rejects.toMatchObject({
    status: 422,
    message: expect.stringContaining('fast forward'),
  })
  await git.updateRef({ ...ref, sha: side, force: true })
  expect(main()).toBe(side)
  await expect(git.updateRef({ ...ref, sha: 'f'.repeat(40) })).rejects.toMatchObject(refused(422))
  await expect(git.createRef({ ...FLEET, ref: 'refs/heads/main', sha: first })).rejects.toMatchObject(refused(422))
  await expect(git.createRef({ ...FLEET, ref: 'refs/heads/a..b', sha: first })).rejects.toMatchObject(refused(422))
  await expect(git.getRef({ ...FLEET, ref: 'heads/none' })).rejects.toMatchObject(refused(404))
  await expect(git.getCommit({ ...FLEET, commit_sha: 'f'.repeat(40) })).rejects.toMatchObject(refused(404))
  await expect(git.getBlob({ ...FLEET, file_sha: first })).rejects.toMatchObject(refused(404))
})

test('an annotated tag is an object of its own', async () => {
  const { git, repos } = env.app.rest
  const tag = await git.createTag({ ...FLEET, tag: 'v1', message: 'First', object: main(), type: 'commit' })
  await git.createRef({ ...FLEET, ref: 'refs/tags/v1', sha: tag.data.sha })
  const ref = await git.getRef({ ...FLEET, ref: 'tags/v1' })
  expect(ref.data.object).toMatchObject({ type: 'tag', sha: tag.data.sha })
  expect((await git.getTag({ ...FLEET, tag_sha: tag.data.sha })).data.object.sha).toBe(main())
  expect((await repos.getCommit({ ...FLEET, ref: 'v1' })).data.sha).toBe(main())
  expect((await repos.listTags(FLEET)).data).toMatchObject([{ name: 'v1', commit: { sha: main() } }])
})

test('contents: files, directories, raw, and writing one file', async () => {
  const { repos } = env.app.rest
  const file = await repos.getContent({ ...FLEET, path: 'clusters/staging/x.yaml' })
  expect(file.data).toMatchObject({ type: 'file', path: 'clusters/staging/x.yaml', encoding: 'base64' })
  const directory = await repos.getContent({ ...FLEET, path: 'clusters' })
  expect(directory.data).toMatchObject([{ type: 'dir', path: 'clusters/staging' }])
  const raw = await repos.getContent({ ...FLEET, path: 'b.txt', mediaType: { format: 'raw' } })
  expect(String(raw.data)).toBe('b\n')
  await expect(repos.getContent({ ...FLEET, path: 'none' })).rejects.toMatchObject(refused(404))
  const content = Buffer.from('new\n').toString('base64')
  const write = { ...FLEET, path: 'b.txt', message: 'm', content }
  await expect(repos.createOrUpdateFileContents(write)).rejects.toMatchObject(refused(422))
  await expect(repos.createOrUpdateFileContents({ ...write, sha: main() })).rejects.toMatchObject(refused(409))
  const { sha } = (await repos.getContent({ ...FLEET, path: 'b.txt' })).data as { sha: string }
  expect((await repos.createOrUpdateFileContents({ ...write, sha })).status).toBe(200)
  expect(env.github.readFile(NAME, 'main', 'b.txt')).toBe('new\n')
})

test('commits, branches and comparisons', async () => {
  const { repos } = env.app.rest
  const base = main()
  env.github.push({ repo: NAME, branch: 'topic', files: { 'b.txt': 'x\n' }, message: 'one', as: 'dev' })
  env.github.push({ repo: NAME, branch: 'topic', files: { 'c.txt': 'y\n' }, message: 'two', as: 'dev' })
  env.github.push({ repo: NAME, files: { 'd.txt': 'z\n' }, as: 'ada' })
  const { data } = await repos.compareCommitsWithBasehead({ ...FLEET, basehead: 'main...topic' })
  expect(data).toMatchObject({ status: 'diverged', ahead_by: 2, behind_by: 1, merge_base_commit: { sha: base } })
  expect(data.files?.map(file => file.filename)).toEqual(['b.txt', 'c.txt'])
  expect(data.commits.map(each => each.commit.message)).toEqual(['one', 'two'])
  const touching = await repos.listCommits({ ...FLEET, sha: 'topic', path: 'c.txt' })
  expect(touching.data.map(each => each.commit.message)).toEqual(['two'])
  const { data: tip } = await repos.getCommit({ ...FLEET, ref: 'topic' })
  expect(tip).toMatchObject({ author: { login: 'dev' }, files: [{ filename: 'c.txt', status: 'added' }] })
  expect((await repos.listBranches(FLEET)).data.map(each => each.name)).toEqual(['main', 'topic'])
  expect((await repos.getBranch({ ...FLEET, branch: 'topic' })).data.protected).toBe(false)
  await expect(repos.getCommit({ ...FLEET, ref: 'none' })).rejects.toMatchObject(refused(422))
})

test('lists come in pages that name each other', async () => {
  for (const i of [1, 2, 3, 4, 5]) env.github.push({ repo: NAME, files: { i: String(i) }, as: 'ada' })
  const first = await env.app.rest.repos.listCommits({ ...FLEET, per_page: 2 })
  expect(first.data).toHaveLength(2)
  expect(first.headers.link).toMatch(/<[^>]*page=2[^>]*>; rel="next", <[^>]*page=3[^>]*>; rel="last"/)
  expect(await env.app.paginate(env.app.rest.repos.listCommits, { ...FLEET, per_page: 2 })).toHaveLength(6)
})

test('a tarball lies elsewhere, and what is export-ignored is not in it', async () => {
  const files = { '.gitattributes': 'clusters export-ignore\n' }
  const { sha } = env.github.push({ repo: NAME, files, as: 'ada' })
  const url = `${env.github.url}/repos/acme/fleet/tarball/main`
  const headers = { authorization: `token ${env.github.tokenOf('dev')}` }
  const redirect = await fetch(url, { headers, redirect: 'manual' })
  expect(redirect.status).toBe(302)
  const { data } = await env.app.rest.repos.downloadTarballArchive({ ...FLEET, ref: sha })
  const text = gunzipSync(Buffer.from(data as ArrayBuffer)).toString('latin1')
  expect(text).toContain(`acme-fleet-${sha.slice(0, 7)}/a.txt`)
  expect(text).not.toContain('clusters/')
  expect((await fetch(redirect.headers.get('location')!)).status).toBe(200)
  expect((await fetch(`${env.github.url}/_codeload/acme/fleet/legacy.tar.gz/${sha}?token=x`)).status).toBe(404)
})
