import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { readCommit } from '../../../src/git/commits.ts'
import { readFolder } from '../../../src/git/folder-tree.ts'
import { openSnapshot, type TreeSnapshot } from '../../../src/git/tree.ts'
import { currentBranch, isWorkingCopy, readWorkingCopy, remoteUrl } from '../../../src/git/working-copy.ts'
import { git, repository, temporaryFolder, writeFiles } from './temporary-folder.ts'

const paths = (snapshot: TreeSnapshot) => snapshot.entries.map(entry => entry.path).sort()
const text = (snapshot: TreeSnapshot, path: string) => Buffer.from(openSnapshot(snapshot).read(path)).toString()

afterEach(() => vi.unstubAllEnvs())

describe('readWorkingCopy', () => {
  test('gives the tree that git would commit: changed, new, deleted, ignored, modes, links', async () => {
    const dir = repository({ 'a.yaml': 'a\n', 'b/c.yaml': 'c\n', 'gone.yaml': 'x\n', '.gitignore': 'out/\n*.log\n' })
    writeFiles(dir, { 'a.yaml': 'changed\n', 'new/ü b.yaml': 'n\n', 'out/x.yaml': 'x\n', 'debug.log': 'x\n' })
    rmSync(join(dir, 'gone.yaml'))
    writeFileSync(join(dir, 'run.sh'), '#!/bin/sh\n')
    chmodSync(join(dir, 'run.sh'), 0o755)
    symlinkSync('/etc/passwd', join(dir, 'link'))

    const snapshot = await readWorkingCopy(dir)

    expect(paths(snapshot)).toEqual(['.gitignore', 'a.yaml', 'b/c.yaml', 'link', 'new/ü b.yaml', 'run.sh'])
    expect(text(snapshot, 'a.yaml')).toBe('changed\n')
    expect(text(snapshot, 'link')).toBe('/etc/passwd')
    git(dir, 'add', '-A')
    expect(snapshot.id).toBe(git(dir, 'write-tree'))
  })

  test('takes a submodule as an entry, and files that a sparse checkout left out from the index', async () => {
    const inner = repository({ 'x.yaml': 'x\n' })
    const dir = repository({ 'keep/a.yaml': 'a\n', 'left/b.yaml': 'b\n' })
    git(dir, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'sub')
    git(dir, 'commit', '-qm', 'sub')
    git(dir, 'sparse-checkout', 'set', 'keep')
    expect(existsSync(join(dir, 'left/b.yaml'))).toBe(false)

    const snapshot = await readWorkingCopy(dir)

    expect(snapshot.id).toBe(git(dir, 'rev-parse', 'HEAD^{tree}'))
    expect(snapshot.entries.find(entry => entry.path === 'sub')).toMatchObject({ mode: '160000', length: 0 })
  })

  test('does not look behind a tracked directory that has become a link', async () => {
    const outside = temporaryFolder({ 'b.yaml': 'secret\n', 'deep/c.yaml': 'secret\n' })
    const dir = repository({ 'a/b.yaml': 'b\n', 'a/deep/c.yaml': 'c\n', 'z.yaml': 'z\n' })
    rmSync(join(dir, 'a'), { recursive: true })
    symlinkSync(outside, join(dir, 'a'))
    const snapshot = await readWorkingCopy(dir)
    expect(paths(snapshot)).toEqual(['a', 'z.yaml'])
    git(dir, 'add', '-A')
    expect(snapshot.id).toBe(git(dir, 'write-tree'))
  })

  test('shows an untracked repository inside as a submodule, not as its files', async () => {
    const dir = repository({ 'a.yaml': 'a\n' })
    writeFiles(dir, { 'nested/b.yaml': 'b\n' })
    git(join(dir, 'nested'), 'init', '-q')
    git(join(dir, 'nested'), 'add', '-A')
    git(join(dir, 'nested'), 'commit', '-qm', 'x')
    const snapshot = await readWorkingCopy(dir)
    expect(snapshot.entries.find(entry => entry.path === 'nested')?.mode).toBe('160000')
    expect(paths(snapshot)).toEqual(['a.yaml', 'nested'])
  })

  test('runs nothing that the configuration of the checkout names, and ignores the GIT_* of a hook', async () => {
    const dir = repository({ 'a.yaml': 'a\n', '.gitignore': 'out\n' })
    writeFiles(dir, { out: 'ignored\n' })
    const trap = join(dir, '.git', 'trap.sh')
    writeFileSync(trap, '#!/bin/sh\ntouch "$(dirname "$0")/sprung"\n', { mode: 0o755 })
    git(dir, 'config', 'core.fsmonitor', trap)
    vi.stubEnv('GIT_DIR', '/nowhere')
    vi.stubEnv('GIT_INDEX_FILE', '/nowhere/index')
    expect(paths(await readWorkingCopy(dir))).toEqual(['.gitignore', 'a.yaml'])
    expect(existsSync(join(dir, '.git', 'sprung'))).toBe(false)
  })

  test('reads a folder inside a working copy whole, as the plain folder that it is', async () => {
    const dir = repository({ 'fleet/a.yaml': 'a\n', '.gitignore': '*.log\n' })
    writeFiles(dir, { 'fleet/b.log': 'b\n' })
    expect(paths(await readWorkingCopy(join(dir, 'fleet')))).toEqual(['a.yaml', 'b.log'])
  })

  test('refuses a working copy that git refuses, rather than to take it for a plain folder', async () => {
    const dir = temporaryFolder({ 'a.yaml': 'a\n', '.git': 'gitdir: /nowhere\n' })
    await expect(readWorkingCopy(dir)).rejects.toMatchObject({ code: 'git-missing' })
  })

  test('asks git once whether a folder is one, and again when something in .git was written', async () => {
    const dir = repository({ 'a.yaml': 'a\n' })
    expect(await isWorkingCopy(dir)).toBe(true)
    vi.stubEnv('PATH', '/nowhere')
    expect(await isWorkingCopy(dir)).toBe(true)
    vi.unstubAllEnvs()
    git(dir, 'config', 'core.worktree', temporaryFolder({}))
    expect(await isWorkingCopy(dir)).toBe(false)
    git(dir, 'config', '--unset', 'core.worktree')
    expect(await isWorkingCopy(dir)).toBe(true)
    rmSync(join(dir, '.git'), { recursive: true })
    expect(await isWorkingCopy(dir)).toBe(false)
  })

  test('needs no git for a plain folder', async () => {
    const dir = temporaryFolder({ 'a.yaml': 'a\n' })
    vi.stubEnv('PATH', '/nowhere')
    expect(paths(await readWorkingCopy(dir))).toEqual(['a.yaml'])
    expect(await remoteUrl(dir)).toBeUndefined()
    await expect(readCommit(dir, 'main')).rejects.toMatchObject({ code: 'git-missing' })
  })

  test('reads a repository without a commit', async () => {
    const dir = temporaryFolder({ 'a.yaml': 'a\n' })
    git(dir, 'init', '-q')
    expect(paths(await readWorkingCopy(dir))).toEqual(['a.yaml'])
    expect(await currentBranch(dir)).toBe('main')
  })

  test('refuses a name that is not UTF-8, and more files or bytes than allowed', async () => {
    const dir = repository({ 'a.yaml': 'aaaa\n', 'b.yaml': 'bbbb\n' })
    const few = readWorkingCopy(dir, { files: 1, bytes: 1000 })
    await expect(few).rejects.toMatchObject({ code: 'render-limits' })
    await expect(readWorkingCopy(dir, { files: 10, bytes: 9 })).rejects.toMatchObject({ code: 'render-limits' })
    expect((await readWorkingCopy(dir, { files: 2, bytes: 10 })).entries).toHaveLength(2)
    writeFileSync(Buffer.concat([Buffer.from(`${dir}/`), Buffer.from([0xff, 0xfe])]), 'x')
    await expect(readWorkingCopy(dir)).rejects.toMatchObject({ code: 'git-ambiguous' })
  })

  test('tells the address and the branch', async () => {
    const dir = repository({ 'a.yaml': 'a\n' })
    expect(await remoteUrl(dir)).toBeUndefined()
    git(dir, 'remote', 'add', 'origin', 'git@github.com:acme/fleet.git')
    git(dir, 'checkout', '-qb', 'feature/x')
    git(dir, 'tag', 'feature/x')
    expect(await remoteUrl(dir)).toBe('git@github.com:acme/fleet.git')
    expect(await currentBranch(dir)).toBe('feature/x')
    git(dir, 'checkout', '-q', '--detach')
    expect(await currentBranch(dir)).toBeUndefined()
  })
})

describe('readFolder', () => {
  test('records links and leaves .git out; never a file outside', async () => {
    const dir = temporaryFolder({ 'a/b.yaml': 'b\n', '.git/config': 'x', 'a/.git/config': 'x' })
    symlinkSync('..', join(dir, 'a', 'loop'))
    symlinkSync('/etc', join(dir, 'etc'))
    execFileSync('mkfifo', [join(dir, 'pipe')])
    const snapshot = await readFolder(dir)
    expect(snapshot.entries.map(({ path, mode }) => `${mode} ${path}`).sort()).toEqual([
      '100644 a/b.yaml',
      '120000 a/loop',
      '120000 etc',
    ])
  })

  test('keeps names that differ by case only: that is for a rule to say', async () => {
    const dir = temporaryFolder({ 'A.yaml': '1', 'a.yaml': '2' })
    expect(paths(await readFolder(dir))).toEqual(['A.yaml', 'a.yaml'])
  })

  test('refuses a folder that is not there', async () => {
    await expect(readFolder('/nowhere/at/all')).rejects.toMatchObject({ code: 'git-missing' })
    await expect(readWorkingCopy('/nowhere/at/all')).rejects.toMatchObject({ code: 'git-missing' })
  })
})

describe('readCommit', () => {
  test('gives the tree of a branch, tag or id with its commit, whatever the working copy holds', async () => {
    const dir = repository({ 'a/b.yaml': 'b\n', 'c.yaml': '' })
    git(dir, 'tag', '-a', 'v1', '-m', 'v1')
    writeFiles(dir, { 'a/b.yaml': 'changed' })
    const commit = git(dir, 'rev-parse', 'HEAD')
    for (const ref of ['main', 'v1', commit, 'HEAD', commit.slice(0, 10)]) {
      const snapshot = await readCommit(dir, ref)
      expect(snapshot).toMatchObject({ commit, id: git(dir, 'rev-parse', 'HEAD^{tree}') })
      expect(text(snapshot, 'a/b.yaml')).toBe('b\n')
      expect(text(snapshot, 'c.yaml')).toBe('')
    }
  })

  test('never takes a ref for an option', async () => {
    const dir = repository({ 'a.yaml': 'a\n' })
    for (const ref of ['--output=pwned', '--help', '-h', '', 'missing', 'HEAD:a.yaml']) {
      await expect(readCommit(dir, ref)).rejects.toMatchObject({ code: 'git-missing' })
    }
    expect(existsSync(join(dir, 'pwned'))).toBe(false)
  })

  test('reads a bare repository; refuses a folder inside of one, whose paths would be others', async () => {
    const dir = repository({ 'fleet/a.yaml': 'a\n' })
    await expect(readCommit(join(dir, 'fleet'), 'main')).rejects.toMatchObject({ code: 'git-missing' })
    const bare = join(temporaryFolder(), 'bare')
    git(dir, 'clone', '-q', '--bare', '.', bare)
    expect(paths(await readCommit(bare, 'main'))).toEqual(['fleet/a.yaml'])
  })

  test('is not led astray by a replace ref, a grafted object or an empty commit', async () => {
    const dir = repository({ 'a.yaml': 'honest\n' })
    const blob = git(dir, 'rev-parse', 'HEAD:a.yaml')
    writeFiles(dir, { other: 'evil\n' })
    git(dir, 'replace', blob, git(dir, 'hash-object', '-w', 'other'))
    expect(text(await readCommit(dir, 'HEAD'), 'a.yaml')).toBe('honest\n')
    const empty = repository({})
    expect(await readCommit(empty, 'HEAD')).toMatchObject({ entries: [], id: git(empty, 'rev-parse', 'HEAD^{tree}') })
  })

  test('refuses a tree with a component that no git would check out', async () => {
    const dir = repository({ 'a.yaml': 'a\n' })
    const blob = git(dir, 'rev-parse', 'HEAD:a.yaml')
    for (const name of ['..', '.git', '.GIT']) {
      const tree = execFileSync('git', ['hash-object', '-t', 'tree', '-w', '--stdin', '--literally'], {
        cwd: dir,
        input: Buffer.concat([Buffer.from(`100644 ${name}\0`), Buffer.from(blob, 'hex')]),
      })
      const commit = git(dir, 'commit-tree', '-m', 'x', tree.toString().trim())
      await expect(readCommit(dir, commit)).rejects.toMatchObject({ code: 'git-ambiguous' })
    }
  })

  test('fetches nothing for a partial clone, and runs no program of its configuration', async () => {
    const dir = repository({ 'a.yaml': 'a\n' })
    const trap = join(dir, '.git', 'trap.sh')
    writeFileSync(trap, '#!/bin/sh\ntouch "$(dirname "$0")/sprung"\n', { mode: 0o755 })
    const settings = {
      'core.repositoryFormatVersion': '1',
      'extensions.partialClone': 'origin',
      'remote.origin.promisor': 'true',
    }
    for (const [name, value] of Object.entries({
      ...settings,
      'remote.origin.uploadpack': trap,
      'remote.origin.url': dir,
    })) {
      git(dir, 'config', name, value)
    }
    const blob = git(dir, 'rev-parse', 'HEAD:a.yaml')
    rmSync(join(dir, '.git/objects', blob.slice(0, 2)), { recursive: true })
    await expect(readCommit(dir, 'HEAD')).rejects.toMatchObject({ code: 'git-missing' })
    expect(existsSync(join(dir, '.git', 'sprung'))).toBe(false)
  })

  test('says which blob a partial clone lacks', async () => {
    const dir = repository({ 'a.yaml': 'a\n' })
    const blob = git(dir, 'rev-parse', 'HEAD:a.yaml')
    rmSync(join(dir, '.git/objects', blob.slice(0, 2)), { recursive: true })
    await expect(readCommit(dir, 'HEAD')).rejects.toMatchObject({ code: 'git-missing' })
    mkdirSync(join(dir, 'plain'))
    await expect(readCommit(temporaryFolder(), 'HEAD')).rejects.toMatchObject({ code: 'git-missing' })
  })
})
