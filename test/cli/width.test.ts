import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { terminalIo } from '../../src/cli/terminal-io.ts'
import { fitLines } from '../../src/report/text/fit-lines.ts'
import { twoTenants } from './two-tenants.ts'

const ACME = join(import.meta.dirname, '../fleets/acme')
const LONG = 'a-name-of-sixty-three-characters-as-long-as-kubernetes-takes-it'

async function printed(cwd: string, columns: number, ...argv: string[]): Promise<string[]> {
  let text = ''
  const io = {
    stdout: (part: string) => {
      text += part
    },
    stderr: () => {},
    stdin: Readable.from([]),
    cwd,
    ...terminalIo({ COLUMNS: String(columns) }, false),
  }
  await main(argv, io)
  return text.split('\n')
}

/** A first line of a finding, which editors match, and one word that is longer than the line: a path, an address. */
const mayBeLonger = (line: string) =>
  /(?:violation|warning|error|approval)\[[a-z-]+\]/.test(line) || /^\s*(?:[a-z]+ {2,})?\S+$/.test(line)

const tooWide = (lines: readonly string[], columns: number) =>
  lines.filter(line => line.length > columns && !mayBeLonger(line))

const COMMANDS = (fleet: string, namespace: string, account: string) => [
  ['check', fleet],
  ['audit', fleet],
  ['access', namespace, fleet],
  ['can-i', 'create', 'deploy', fleet, '-n', namespace, '--as', account],
  ['who-can', 'create', 'deploy', fleet, '-n', namespace],
  ['policy', 'test', fleet],
  ['credentials', fleet],
  ['fix', fleet],
  ['explain'],
  ['explain', 'namespace-confinement'],
  ['help'],
]

describe.each([100, 80])('on %d columns', columns => {
  test('every command on the test fleet', async () => {
    for (const argv of COMMANDS('fleet', 'apps', 'apps/dev-team')) {
      const lines = await printed(ACME, columns, ...argv)
      expect([argv, tooWide(lines, columns)]).toEqual([argv, []])
    }
  })

  test('every command on a fleet with names as long as they may be', async () => {
    const names = { tenant: LONG, namespace: LONG.replace('a-', 'n-'), cluster: LONG.replace('a-', 'c-') }
    const dir = twoTenants(names)
    for (const argv of COMMANDS('.', names.namespace, `${names.namespace}/${names.tenant}`)) {
      const lines = await printed(dir, columns, ...argv)
      expect([argv, tooWide(lines, columns)]).toEqual([argv, []])
    }
  })

  test('the help of every command', async () => {
    const [, , , , ...rest] = await printed(ACME, columns, 'help')
    const names = rest.flatMap(line => /^ {2}([a-z-]+) {2,}/.exec(line)?.[1] ?? []).filter(name => name !== 'version')
    expect(names.length).toBeGreaterThan(25)
    for (const name of names) {
      const lines = await printed(ACME, columns, 'help', name)
      expect([name, tooWide(lines, columns)]).toEqual([name, []])
    }
  })
})

test('what continues stands below what it continues', () => {
  expect(fitLines(['  fix      Set namespace to apps at sync.yaml:14', 'short'], 30)).toEqual([
    '  fix      Set namespace to',
    '           apps at',
    '           sync.yaml:14',
    'short',
  ])
  expect(fitLines(['  a longer text without a label'], 20)).toEqual(['  a longer text', '    without a label'])
})

test('a path stays whole, and colors and links take no room', () => {
  const path = `clusters/${'x'.repeat(40)}/file.yaml:3`
  expect(fitLines([`  through  Kustomization ${path}`], 30)).toEqual(['  through  Kustomization', `           ${path}`])
  const colored = '\u001b[31mred\u001b[0m \u001b]8;;file:///x\u001b\\link\u001b]8;;\u001b\\ end'
  expect(fitLines([colored], 12)).toEqual([colored])
})

test('a narrow terminal still shows words', () => {
  expect(terminalIo({ COLUMNS: '10' }, true, 200).columns).toBe(60)
  expect(terminalIo({ COLUMNS: 'wide' }, true, 120).columns).toBe(120)
  expect(terminalIo({}, false).columns).toBeUndefined()
})
