import { expect, test } from 'vitest'
import { ENGINE_VERSION } from '../../src/fleet/model/engine-version.ts'
import { appendDecisions } from '../../src/trail/append-decisions.ts'
import type { TrailDecision } from '../../src/trail/trail-entry.ts'
import type { TrailInputs } from '../../src/trail/trail-inputs.ts'
import { hashOfLine, lineOf, readLine } from '../../src/trail/trail-line.ts'
import { decision } from '../trail/decisions.ts'
import { repository, run, scratch } from './run-main.ts'

const INPUTS: TrailInputs = {
  kind: 'pull-request',
  repository: 'https://github.com/acme/fleet',
  verdict: 'a'.repeat(64),
  fleets: [],
  people: { approvals: [], missing: [] },
}

/** A fleet whose branch main is a trail of these decisions. */
function trailOf(...decisions: TrailDecision[]): string {
  const { file } = appendDecisions(decisions, undefined, [])!
  return repository(scratch(), { [file.path]: Buffer.from(file.bytes).toString('utf8') })
}

const replay = (dir: string, number: string) => run(dir, 'replay', number, '--ref', 'main')

test.each<[string, Partial<TrailDecision>, string]>([
  ['of an earlier release', {}, 'it was made before entries listed what a verdict depends on'],
  [
    'of another engine',
    { engine: '4', inputs: INPUTS },
    `engine 4 made it, and this program has engine ${ENGINE_VERSION}`,
  ],
  ['that was too long', { inputsOmitted: true }, 'what it was made from was too long for the trail'],
  ['without an evaluation', { inputs: INPUTS }, 'the evaluation ended with an error before a fleet was evaluated'],
  ['of an override', { kind: 'override' }, 'it is "override". Only verdicts can be made again'],
])('an entry %s is refused, with the reason', async (_, changes, why) => {
  const { code, stdout, stderr } = await replay(trailOf(decision(1, changes)), '1')
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain(`error[replay]: entry 1 cannot be replayed: ${why}`)
})

test('an entry of a trail that was changed is not believed', async () => {
  const { file } = appendDecisions([decision(1), decision(2)], undefined, [])!
  const text = Buffer.from(file.bytes).toString('utf8').replace('"who":"bailiwick[bot]"', '"who":"mallory"')
  const { code, stderr } = await replay(repository(scratch(), { [file.path]: text }), '2')
  expect(code).toBe(2)
  expect(stderr).toContain('error[git-corrupt]: the trail was changed: entry 2 does not follow the line before it')
})

test.each(['0', 'x', '3', '-1', '1.5'])('%s is not an entry', async number => {
  const { code, stderr } = await replay(trailOf(decision(1), decision(2)), number)
  expect([code, stderr.slice(0, 12)]).toEqual([2, 'error[usage]'])
})

const side = { fleet: 0, branch: 'main', sources: [], unread: [], facts: [], disabledRules: [], registries: [] }
const FULL: TrailInputs = {
  ...INPUTS,
  people: { hold: 'ada', override: 'max', approvals: [{ rule: 'r', by: 'max' }], missing: ['x'] },
  fleets: [
    {
      verdict: 'b'.repeat(64),
      today: '2026-01-01',
      changed: 'https://github.com/acme/dev',
      contents: [
        { repository: 'https://github.com/acme/fleet', ref: '{"branch":"main"}', commit: 'c', tree: 'd'.repeat(40) },
      ],
      head: { ...side, unread: [{ repository: 'u', ref: '{}', reason: 'r' }] },
      base: { ...side, facts: [{ repository: 'u', public: true, people: false }] },
      earlier: [],
      earlierIsAll: false,
      stopped: ['node'],
      names: [{ was: 'a', now: 'b' }],
      narrower: ['n'],
    },
  ],
}

test('the inputs of a verdict are read as they were written, and in no other way', () => {
  const line = lineOf({ ...decision(1), seq: 1, previous: '0'.repeat(64), inputs: FULL })
  expect(readLine(line)?.inputs).toEqual(FULL)
  const changes: [string | RegExp, string][] = [
    ['"head":{', '"head":{"more":1,'],
    ['"earlierIsAll":false', '"earlierIsAll":"false"'],
    ['"fleet":0', '"fleet":-1'],
    ['"today":"2026-01-01"', '"today":"tomorrow"'],
    ['"kind":"pull-request"', '"kind":"wish"'],
    [/"tree":"\w+"/, '"tree":"main"'],
    ['"approvals":[{"rule":"r","by":"max"}]', '"approvals":[{"by":"max","rule":"r"}]'],
    ['"approvals":[{"rule":"r","by":"max"}]', '"approvals":{}'],
    ['"names":[{"was":"a","now":"b"}]', '"names":[null]'],
  ]
  for (const [from, to] of changes) {
    const changed = line.replace(from, to)
    expect(changed, String(from)).not.toBe(line)
    expect(readLine(changed), String(from)).toBeUndefined()
  }
})

test('inputs that are too long for a line are left out, and the line says so', () => {
  const narrower = Array.from({ length: 20_000 }, (_, at) => `https://github.com/acme/a-repository-with-a-name-${at}`)
  const entry = { ...decision(1), seq: 1, previous: '0'.repeat(64) }
  const long = { ...FULL, fleets: FULL.fleets.map(one => ({ ...one, narrower })) }
  const read = readLine(lineOf({ ...entry, inputs: long }))
  expect(read).toMatchObject({ inputsOmitted: true, revisions: entry.revisions })
  expect(read?.inputs).toBeUndefined()
})

test('a line of an earlier release keeps its bytes', () => {
  const line = lineOf({ ...decision(1, { engine: '5' }), seq: 1, previous: '0'.repeat(64) })
  expect(hashOfLine(line)).toBe('4cbb21abb2474f5c1f30aa49fa022c446c7991bc56637c103e067bb9cb059fa3')
})
