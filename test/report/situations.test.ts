import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { BailiwickError } from '../../src/base/errors.ts'
import { ENGINE_VERSION } from '../../src/fleet/model/input.ts'
import { checkRunOf } from '../../src/report/check-run.ts'
import {
  annotatesTheSame,
  announcementOf,
  type CheckRunText,
  externalIdOf,
  isForBases,
  isUndecidedId,
  versionOfExternalId,
} from '../../src/report/check-run-text.ts'
import { HOSTILE, twoViolations, verdict } from './samples.ts'
import { context, SITUATIONS } from './situations.ts'

const NO_BASE = { bases: [], followed: [] }

const runOf = (name: string): CheckRunText => {
  const { outcome, context: where } = SITUATIONS[name]!()
  return checkRunOf(outcome, where)
}

/** All that GitHub is told, as one file that people can read. */
function page({ conclusion, title, summary, annotations, actions }: CheckRunText): string {
  const lines = annotations.map(
    one => `- ${one.path}:${one.line} ${one.level}: ${one.title}\n  ${one.message.replaceAll('\n', '\n  ')}`,
  )
  const buttons = actions.map(({ label, description, identifier }) => `- [${label}] ${description} (${identifier})`)
  const cut = (text: string) => (text.length > 12_000 ? `${text.slice(0, 3_000)}\n[...]\n${text.slice(-800)}` : text)
  return [
    `# ${conclusion}: ${title}`,
    cut(summary),
    `# annotations (${lines.length})`,
    cut(lines.join('\n') || '(none)'),
    '# buttons',
    buttons.join('\n') || '(none)',
    '',
  ].join('\n\n')
}

describe('the check run', () => {
  for (const name of Object.keys(SITUATIONS)) {
    test(name, async () => {
      const golden = join(import.meta.dirname, 'goldens/check-run', `${name}.md`)
      await expect(page(runOf(name))).toMatchFileSnapshot(golden)
    })
  }

  test('lets pass only what is clean, not touched, or overridden', () => {
    const passing = Object.keys(SITUATIONS).filter(name => runOf(name).conclusion === 'success')
    expect(passing).toEqual([
      'pass',
      'untouched',
      'override',
      'report-mode',
      'standing',
      'waived',
      'fixed',
      'hostile-names',
    ])
  })

  test('keeps to what GitHub takes', () => {
    for (const name of Object.keys(SITUATIONS)) {
      const run = runOf(name)
      expect(run.title.length, name).toBeLessThanOrEqual(255)
      expect(run.title, name).not.toMatch(/\p{Cc}/u)
      expect(Buffer.byteLength(run.summary), name).toBeLessThanOrEqual(65_535)
      expect(run.actions.length, name).toBeLessThanOrEqual(3)
      for (const { label, description, identifier } of run.actions) {
        expect([label.length <= 20, description.length <= 40, identifier.length <= 20]).toEqual([true, true, true])
      }
    }
  })

  test('nothing hostile is a mention, a link, a picture or a heading', () => {
    const { summary } = runOf('hostile-names')
    const outside = summary.replace(/(`+)(?:(?!\1)[\s\S])+?\1/g, '')
    expect(outside).not.toMatch(/@org|evil\.example|<img|^## approved/m)
    expect(HOSTILE).toContain('@org')
  })

  test('annotates at level failure only what blocks, and only changed files', () => {
    expect(runOf('report-mode').annotations.map(({ level }) => level)).toEqual(['warning', 'warning'])
    expect(runOf('fail-away-from-the-change').annotations).toEqual([])
    expect(runOf('annotations-51').annotations).toHaveLength(51)
    expect(runOf('hostile-names').annotations, 'a line break in a name').toEqual([])
  })
})

describe('the external id', () => {
  const idOf = (name: string) =>
    externalIdOf(SITUATIONS[name]!().outcome, runOf(name), SITUATIONS[name]!().context.kind)

  test('tells the version of engine and rules', () => {
    for (const name of Object.keys(SITUATIONS)) expect(versionOfExternalId(idOf(name)), name).toBe(ENGINE_VERSION)
    for (const other of ['', 'abc', `${ENGINE_VERSION}:`, `x${idOf('pass')}y`.repeat(2)]) {
      expect(versionOfExternalId(other)).toBeUndefined()
    }
  })

  test('is another one for another revisionSet, and knows that the lines are the same', () => {
    const of = (outcome: ReturnType<typeof verdict>) =>
      externalIdOf(outcome, checkRunOf(outcome, context), 'pull-request')
    const [one, other] = [of(twoViolations()), of({ ...twoViolations(), revisionSet: 'f'.repeat(32) })]
    expect(one).not.toBe(other)
    expect(of(twoViolations())).toBe(one)
    expect(annotatesTheSame(one, other)).toBe(true)
    expect(annotatesTheSame(one, of(verdict()))).toBe(false)
    expect(annotatesTheSame('', '')).toBe(false)
  })

  test('fits into what GitHub stores', () => {
    for (const name of Object.keys(SITUATIONS)) expect(idOf(name).length).toBeLessThan(120)
    const error = new BailiwickError('internal', 'x')
    expect(externalIdOf(error, checkRunOf(error, context), 'branch')).toMatch(/:branch-undecided\./)
    expect(Object.keys(SITUATIONS).filter(name => isUndecidedId(idOf(name)))).toEqual([
      'error-of-the-fleet-for-a-tenant',
    ])
    expect(Object.keys(SITUATIONS).filter(name => !isForBases(idOf(name), NO_BASE))).toEqual(['branch'])
  })
})

test('how far a evaluation is', () => {
  const titles = [
    announcementOf({ state: 'queued' }),
    announcementOf({ state: 'rendering', rendered: 3, known: 58, total: 61 }),
    announcementOf({ state: 'rendering', rendered: 70, known: 0, total: 61 }),
    announcementOf({ state: 'rendering', rendered: 1, known: 0 }),
  ].map(({ status, title }) => `${status}: ${title}`)
  expect(titles).toEqual([
    'queued: Queued',
    'in_progress: 3 of 61 Kustomizations rendered (58 known)',
    'in_progress: 70 Kustomizations rendered',
    'in_progress: 1 Kustomization rendered',
  ])
})
