import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const { engines, scripts } = JSON.parse(read('package.json')) as Record<'engines' | 'scripts', Record<string, string>>
const [, needed = ''] = /^>=(\d+\.\d+)$/.exec(engines.node ?? '') ?? []

/** A program that begins as on Node 20; the import of what only later versions have is not held against it. */
function onNode20(command: readonly string[]) {
  const older = `data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.19.0"}})`
  return spawnSync(process.execPath, ['--import', older, ...command], { cwd: root, encoding: 'utf8' })
}

/** The files that the scripts of package.json start with node. */
const entries = Object.values(scripts).flatMap(script =>
  [...script.matchAll(/\bnode (?:--\S+ )*(\S+)/g)].map(([, file = '']) => file),
)

describe('the Node that is needed', () => {
  test('is the same wherever it is named', () => {
    for (const path of ['src/process/on-new-node.js', 'src/surface/cli/bailiwick.js'])
      expect(read(path)).toContain(`const NEEDED = [${needed.replace('.', ', ')}]`)
    for (const path of ['README.md', 'docs/install.md', 'docs/tutorial.md', 'CONTRIBUTING.md']) {
      const named = read(path).match(/\b22\.\d+/g)
      expect([...new Set(named)], path).toEqual([needed])
    }
    expect(read('.ci/run')).toContain(` NODE_22_VERSION=v${needed}.0\n`)
  })

  test.each([...new Set(entries)])('is named in one line by an older one: node %s', file => {
    const { status, stdout, stderr } = onNode20(
      file === 'build/run.js' ? [file, 'test/repository/runner/run.ts'] : [file],
    )
    expect(stderr).toMatch(/^error\[config\]: Node 20\.19\.0 is too old\. Install Node 22\.18 or newer\. [^\n]*\n$/)
    expect([status, stdout]).toEqual([2, ''])
  })

  test('no page tells to start a file that an older one cannot read', () => {
    const pages = globSync(['*.md', 'docs/*.md', 'test/*/README.md'], { cwd: root })
    expect(pages.flatMap(page => read(page).match(/\bnode (?:--\S+ )*[\w/.-]+\.ts\b/g) ?? [])).toEqual([])
  })
})
