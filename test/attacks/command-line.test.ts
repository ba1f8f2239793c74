import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { runGit } from '../../src/git/run-git.ts'
import type { SnapshotFile } from '../../src/git/tree.ts'
import { git, run, scratch } from '../surface/cli/run-main.ts'
import { type AttackCase, changesOf, filesOf, readCases, type Variant } from './attack-case.ts'
import { comparesSchemas, hasUncompared, newIn, resultOf, wanted } from './expectation.ts'
import type { Repository } from './worlds/index.ts'

/** ATTACKS=all tries every variant; by default one variant of every third case. */
const all = process.env.ATTACKS === 'all'

for (const [index, one] of readCases().entries()) {
  if (!all && index % 3 !== 0) continue
  for (const [name, variant] of [...one.variants].slice(0, all ? undefined : 1)) {
    const changed = changedRepositories(one, variant)
    if (changed.length !== 1) continue
    test(`bailiwick check says it too: ${one.id}, ${name}`, async () => {
      const expected = variant.expect ?? one.expect
      const { code, stdout } = await checkIn(scratch(), one, variant, changed[0]!)
      const verdict = JSON.parse(stdout)
      // a repository is given in vain where the change leaves no source of it, which is an error of the command line alone
      const errors = verdict.errors.filter(({ code: kind }: { code: string }) => kind !== 'not-followed')
      const isInVain = errors.length < verdict.errors.length && !wanted(expected).errors.includes('not-followed')
      if (isInVain) verdict.errors = errors
      const schemas = comparesSchemas(one)
      expect(newIn(verdict, schemas)).toEqual(wanted(expected))
      if (!hasUncompared(verdict, schemas) && !isInVain)
        expect(code).toBe({ pass: 0, fail: 1, error: 2 }[resultOf(expected)])
    }, 30_000)
  }
}

function changedRepositories({ world }: AttackCase, variant: Variant): Repository[] {
  const changes = changesOf(variant)
  return world.repositories.filter(({ name }) => Object.keys(changes[name] ?? {}).length > 0)
}

async function checkIn(directory: string, one: AttackCase, variant: Variant, changed: Repository) {
  const before = filesOf(one.world, one.base)
  const [fleet, ...others] = one.world.repositories
  for (const [repository, files] of before) {
    const place = join(directory, repository.name)
    if (repository === changed) continue
    put(place, files)
    // what is given by --repo may be any folder; the fleet is known by its remote
    if (repository === fleet) await clone(place, repository, files)
  }
  const place = join(directory, changed.name)
  const after = filesOf(one.world, one.base, changesOf(variant)).get(changed)!
  put(place, after)
  await clone(place, changed, after, before.get(changed)!)
  const given = others.filter(other => other !== changed)
  return run(
    directory,
    ...['check', changed.name, '--base', 'before', '--branch', changed.branch, '-o', 'json'],
    ...(changed === fleet ? [] : ['--fleet', fleet!.name]),
    ...given.flatMap(({ name, url, branch }) => ['--repo', `${url}#${branch}=${name}`]),
  )
}

function put(directory: string, files: readonly SnapshotFile[]): void {
  mkdirSync(directory, { recursive: true })
  for (const { path, mode, content } of files) {
    if (mode === '160000') continue
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    if (mode === '120000') symlinkSync(String(content), join(directory, path))
    else writeFileSync(join(directory, path), content)
  }
}

/** Makes a folder the working copy of a repository, its files tracked, with `base` as the commit `before`: in few processes. */
async function clone(
  place: string,
  { url, branch }: Repository,
  files: readonly SnapshotFile[],
  base?: readonly SnapshotFile[],
): Promise<void> {
  for (const folder of ['objects', 'refs/heads']) mkdirSync(join(place, '.git', folder), { recursive: true })
  writeFileSync(join(place, '.git/HEAD'), `ref: refs/heads/${branch}\n`)
  const config = '[core]\n\trepositoryformatversion = 0\n\tbare = false\n'
  writeFileSync(join(place, '.git/config'), `${config}[remote "origin"]\n\turl = ${url}\n`)
  const commits = [...(base ? [commitOf('before', base)] : []), commitOf(branch, files)]
  await runGit(place, ['fast-import', '--quiet'], Buffer.concat(commits))
  git(place, 'read-tree', branch)
}

/** A commit on a branch in the language of git fast-import. */
function commitOf(branch: string, files: readonly SnapshotFile[]): Buffer {
  const head = `commit refs/heads/${branch}\ncommitter t <t@example.com> 1700000000 +0000\ndata 5\nstate\n`
  const chunks: Buffer[] = [Buffer.from(head)]
  for (const { path, mode = '100644', id, content } of files) {
    const name = JSON.stringify(path)
    if (mode === '160000') chunks.push(Buffer.from(`M 160000 ${id} ${name}\n`))
    else {
      const bytes = Buffer.from(content)
      chunks.push(Buffer.from(`M ${mode} inline ${name}\ndata ${bytes.length}\n`), bytes, Buffer.from('\n'))
    }
  }
  return Buffer.concat([...chunks, Buffer.from('\n')])
}
