import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, describe, expect, test } from 'vitest'
import { fitLines } from '../../../src/report/text/fit-budget.ts'
import { COMMANDS } from '../../../src/surface/cli/commands.ts'
import { main } from '../../../src/surface/cli/main.ts'
import { terminalIo } from '../../../src/surface/cli/terminal.ts'
import { appendDecisions } from '../../../src/verdict/append-decisions.ts'
import { shell } from '../../base/git/temporary-folder.ts'
import { decision } from '../../verdict/trail/decisions.ts'
import { repository, scratch, write } from './run-main.ts'
import { twoTenants } from './two-tenants.ts'

const ACME = join(import.meta.dirname, '../../fleet/fleets/acme')
const LONG = 'a-name-of-sixty-three-characters-as-long-as-kubernetes-takes-it'

/** Text for people as it is printed; `columns`: of a terminal, undefined in a pipe. Errors and notes are on stderr, one line each. */
async function printed(cwd: string, columns: number | undefined, ...argv: string[]): Promise<string[]> {
  let text = ''
  const io = {
    stdout: (part: string) => {
      text += part
    },
    stderr: () => {},
    stdin: Readable.from([]),
    cwd,
    env: {},
    ...terminalIo(columns === undefined ? {} : { COLUMNS: String(columns) }, false),
  }
  await main(argv, io)
  return text.split('\n')
}

/**
 * A first line of a finding, which editors match; one word that is longer than the line, such as a path or an address; the
 * place of a field, which editors match, too; and a unified diff.
 */
const mayBeLonger = (line: string) =>
  /(?:violation|warning|error|approval)\[[a-z-]+\]/.test(line) ||
  /^\s*(?:[a-z]+ {2,})?\S+$/.test(line) ||
  /^ {2}\S+:\d+:\d+: (?:violation|warning)$/.test(line) ||
  /^(?:[-+ @]|diff )/.test(line.replace(/^ {4}/, ''))

const tooWide = (lines: readonly string[], columns: number) =>
  lines.filter(line => line.length > columns && !mayBeLonger(line))

/** The command lines of a command that print a text for people, or why there is none. */
type Runs = readonly (readonly string[])[] | string

/** Lines of a pipe are only broken where they are rows or lists: people search the rest. */
const WHOLE_IN_PIPES = new Set(['check', 'can-i', 'fix', 'diff'])

interface Names {
  readonly tenant: string
  readonly namespace: string
  readonly cluster: string
}

const runsOf = (fleet: string, { tenant, namespace, cluster }: Names): Record<string, Runs> => ({
  check: [
    ['check', fleet],
    ['check', fleet, '--tenant', tenant],
    ['check', fleet, '--cluster', cluster],
  ],
  diff: [['diff', fleet]],
  fix: [['fix', fleet]],
  render: 'prints manifests',
  build: 'prints manifests',
  baseline: [['baseline', fleet, '--check']],
  'can-i': [
    ['can-i', 'create', 'deploy', fleet, '-n', namespace, '--as', `${namespace}/${tenant}`],
    ['can-i', 'create', 'deploy', fleet, '-n', namespace, '--tenant', tenant],
  ],
  'who-can': [['who-can', 'create', 'deploy', fleet, '-n', namespace]],
  access: [
    ['access', namespace, fleet],
    ['access', '--tenant', tenant, fleet],
  ],
  audit: [
    ['audit', fleet],
    ['audit', fleet, '--tenant', tenant],
  ],
  explain: [['explain'], ['explain', 'namespace-confinement']],
  graph: 'prints a graph for another program',
  'worker-rbac': 'prints manifests',
  trail: [['trail', 'show', fleet]],
  onboard: 'prints commands to copy',
  sops: 'prints a key, or writes files',
  offboard: [['offboard', tenant, fleet]],
  adopt: [['adopt', 'infrastructure', fleet]],
  lockdown: [['lockdown', fleet, '--cluster', cluster]],
  doctor: [['doctor']],
  mcp: 'speaks a protocol',
  waive: [['waive', '--list', '--fleet', fleet]],
})

const LONG_NAMES = { tenant: LONG, namespace: LONG.replace('a-', 'n-'), cluster: LONG.replace('a-', 'c-') }
/** Objects that the API server refuses, with names as long as they may be. */
const REFUSED = `apiVersion: v1
kind: Service
metadata: { name: web, namespace: ${LONG_NAMES.namespace} }
spec: { selector: { app: web }, type: clusterip, ports: [{ port: 80, protokoll: TCP }] }
`

/** A policy of two engines, with names as long as they may be. */
const POLICIES = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: { name: ${LONG.replace('a-', 'p-')} }
spec:
  validationFailureAction: Enforce
  rules:
    - name: ${LONG.replace('a-', 'r-')}
      match: { any: [{ resources: { kinds: [Service] } }] }
      validate: { message: old names are refused, pattern: { metadata: { name: "!web" } } }
    - name: spread
      match: { any: [{ resources: { kinds: [Namespace] } }] }
      generate: { kind: NetworkPolicy }
`

const TRAIL = `git checkout -q --orphan bailiwick/trail
git rm -q -r --cached .
git update-index --add --cacheinfo "100644,$(git hash-object -w entry),$1"
git -c commit.gpgsign=false commit -q -m trail
git checkout -q --force main`

let template: string | undefined
afterAll(() => template && rmSync(template, { recursive: true }))

/** A copy of the fleet with long names for one command line, which may change it. */
function longFleet(): string {
  if (template === undefined) {
    template = mkdtempSync(join(tmpdir(), 'bailiwick-test-'))
    cpSync(makeLongFleet(), template, { recursive: true })
  }
  const dir = scratch()
  cpSync(template, dir, { recursive: true })
  return dir
}

function makeLongFleet(): string {
  const dir = twoTenants(LONG_NAMES)
  const list = join(dir, 'infrastructure/kustomization.yaml')
  write(dir, { 'infrastructure/refused.yaml': REFUSED, 'infrastructure/policies.yaml': POLICIES })
  writeFileSync(
    list,
    readFileSync(list, 'utf8').replace('- sandbox.yaml', '- sandbox.yaml\n  - refused.yaml\n  - policies.yaml'),
  )
  const { file } = appendDecisions([decision(1), decision(2)], undefined, [])!
  repository(dir, {}, 'https://github.com/acme/fleet')
  writeFileSync(join(dir, 'entry'), file.bytes)
  return shell(dir, TRAIL, file.path)
}

test('every command has a command line here, or a reason for none', () => {
  const names = COMMANDS.map(([name]) => name)
  expect(Object.keys(runsOf('.', LONG_NAMES)).sort()).toEqual([...names].sort())
})

describe.each([
  ['on 100 columns', 100],
  ['on 80 columns', 80],
  ['in a pipe', undefined],
] as const)('%s', (_name, columns) => {
  const width = columns ?? 100
  const isPipe = columns === undefined

  test('every command on the test fleet', async () => {
    for (const argv of [['check', 'fleet'], ['audit', 'fleet'], ['access', 'apps', 'fleet'], ['help']]) {
      if (isPipe && WHOLE_IN_PIPES.has(argv[0]!)) continue
      const lines = await printed(ACME, columns, ...argv)
      expect([argv, tooWide(lines, width)]).toEqual([argv, []])
    }
  })

  test.each(
    Object.entries(runsOf('.', LONG_NAMES)).filter(
      ([name, runs]) => typeof runs !== 'string' && !(isPipe && WHOLE_IN_PIPES.has(name)),
    ),
  )('%s on a fleet with names as long as they may be', async (_command, runs) => {
    for (const argv of runs as readonly (readonly string[])[]) {
      const lines = await printed(longFleet(), columns, ...argv)
      expect([argv, tooWide(lines, width)]).toEqual([argv, []])
      expect(lines.join(''), argv.join(' ')).not.toBe('')
    }
  })

  test('the help of every command', async () => {
    for (const [name] of COMMANDS) {
      const lines = await printed(ACME, columns, 'help', name)
      expect([name, tooWide(lines, width)]).toEqual([name, []])
    }
  })
})

test('the fleet with long names has text that must be broken long enough to be broken', async () => {
  const lines = await printed(longFleet(), 1000, 'check', '.', '--only', 'schemas')
  expect(lines.some(line => line.length > 100)).toBe(true)
  expect(lines.some(line => line.includes('protokoll'))).toBe(true)
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
