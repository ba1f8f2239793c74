import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findAssets, NO_ASSETS } from '../../../tools/envtest/assets.ts'
import { temporaryFolder } from '../../base/git/temporary-folder.ts'
import { blocksOf } from '../../repository/docs/blocks-of.ts'

const root = join(import.meta.dirname, '../../..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** `npm run demo` with these variables and no others. */
function demo(env: Readonly<Record<string, string>>) {
  const [, ...words] = scripts.demo.split(' ')
  return spawnSync(process.execPath, words, { cwd: root, encoding: 'utf8', env })
}

/** A folder with git and nothing else, in an empty home. */
function gitAlone(): Record<string, string> {
  const home = temporaryFolder()
  const git = process.env.PATH!.split(delimiter).find(folder => existsSync(join(folder, 'git')))!
  symlinkSync(join(git, 'git'), join(home, 'git'))
  return { PATH: home, HOME: home }
}

describe('the demo', { timeout: 240_000 }, () => {
  test('needs git alone, ends in the time of README.md, has its output, and says that nothing is applied', () => {
    const blocks = blocksOf(readme)
    const shown = blocks[blocks.findIndex(({ text }) => text === 'npm ci\nnpm run demo') + 1]
    const { status, stdout, stderr } = demo(gitAlone())
    expect([status, stderr]).toEqual([0, ''])
    const lines = stdout.split('\n')
    for (const line of shown!.text.split('\n')) {
      const [start = '', end = ''] = line.split(/ ?\[\.\.\.\] ?/)
      const at = lines.findIndex(
        one => line === one || (line.includes('[...]') && one.startsWith(start) && one.endsWith(end)),
      )
      expect(at, `${line}\nis not, or not there, in\n${lines.slice(0, 30).join('\n')}`).toBeGreaterThanOrEqual(0)
      lines.splice(0, at + 1)
    }
    expect(stdout.split('\n', 3).join()).not.toContain('kube-apiserver')
    const [, cpu] =
      /^Done in [\d.]+ s \(([\d.]+) s of CPU time\)\. Nothing was applied: no kube-apiserver here; `npm run envtest` builds one.*$/m.exec(
        stdout,
      ) ?? []
    const [, seconds] = /on your machine in less than (\d+) seconds/.exec(readme) ?? []
    // a machine that does more than the demo needs more of the clock, and as much of its cores
    expect(Number(cpu)).toBeLessThan(Number(seconds))
  })

  test('applies to a real API server where there is one', ({ skip }) => {
    if (!findAssets()) return skip(NO_ASSETS)
    const { PATH = '', HOME = '', KUBEBUILDER_ASSETS = '' } = process.env
    const { status, stdout, stderr } = demo({ PATH, HOME, ...(KUBEBUILDER_ASSETS ? { KUBEBUILDER_ASSETS } : {}) })
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toContain('cluster staging: a real kube-apiserver')
    expect(stdout).not.toContain('Nothing was applied')
  })
})
