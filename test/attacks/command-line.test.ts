import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import type { SnapshotFile } from '../../src/git/snapshot.ts'
import { git, run, scratch } from '../cli/run-main.ts'
import { type AttackCase, changesOf, filesOf, readCases, type Variant } from './attack-case.ts'
import { newIn, resultOf, wanted } from './expectation.ts'
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
      expect(newIn(JSON.parse(stdout))).toEqual(wanted(expected))
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
  for (const [{ name, url, branch }, files] of before) {
    const place = join(directory, name)
    put(place, files)
    git(place, 'init', '--quiet', `--initial-branch=${branch}`)
    git(place, 'remote', 'add', 'origin', url)
    commit(place, files)
  }
  const place = join(directory, changed.name)
  const after = filesOf(one.world, one.base, changesOf(variant)).get(changed)!
  for (const { path } of before.get(changed)!) rmSync(join(place, path), { force: true })
  put(place, after)
  commit(place, after)
  const [fleet, ...others] = one.world.repositories
  const given = others.filter(other => other !== changed)
  return run(
    directory,
    ...['check', changed.name, '--base', 'HEAD~1', '-o', 'json'],
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

function commit(directory: string, files: readonly SnapshotFile[]): void {
  git(directory, 'add', '--all', '--force')
  for (const { path, mode, id } of files) {
    if (mode === '160000') git(directory, 'update-index', '--add', '--cacheinfo', `160000,${id},${path}`)
  }
  git(directory, 'commit', '--quiet', '--allow-empty', '-m', 'state')
}
