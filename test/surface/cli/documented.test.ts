import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { COMMANDS } from '../../../src/surface/cli/commands.ts'
import { TOOLS } from '../../../src/surface/cli/mcp/tools.ts'
import { run } from './run-main.ts'
import { tenantOnBranch } from './situation.ts'

const text = readFileSync(join(import.meta.dirname, '../../../docs/command-line.md'), 'utf8')

test('the problem matcher finds place, rule and message of each finding', async () => {
  const [, json = ''] = /```json\n(\{\n {2}"version"[\s\S]*?)```/.exec(text) ?? []
  const { tasks } = JSON.parse(json)
  const { pattern } = tasks[0].problemMatcher
  const { stdout } = await run(tenantOnBranch(), 'check', '--fleet', '../fleet', '--base', 'main')
  const matched = stdout.split('\n').flatMap(line => {
    const found = new RegExp(pattern.regexp).exec(line)
    return found ? [[found[pattern.file], found[pattern.line], found[pattern.code]]] : []
  })
  expect(matched).toEqual([['deploy/config.yaml', '3', 'namespace-confinement']])
  const [, ...args] = tasks[0].command.split(' ')
  expect(COMMANDS.map(([name]) => name)).toContain(args[0])
  const warning = 'a/b.yaml:7: warning[patch-unmatched] (existing): text: more'
  expect(new RegExp(pattern.regexp).exec(warning)?.slice(1)).toEqual([
    'a/b.yaml',
    '7',
    'warning',
    'patch-unmatched',
    'text: more',
  ])
})

test('commands and tools that the document names exist, and every tool is named', () => {
  const [commands = '', ...rest] = text.split('## Output')
  const named = [...commands.matchAll(/^\| `([a-z-]+)/gm)].map(([, name]) => name)
  expect(named.length).toBeGreaterThan(6)
  for (const name of named) expect(COMMANDS.map(([known]) => known)).toContain(name)
  for (const { name } of TOOLS) expect(rest.join()).toContain(`| \`${name}\` |`)
})
