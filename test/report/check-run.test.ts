import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { BailiwickError } from '../../src/base/errors.ts'
import { checkRunOf } from '../../src/report/check-run.ts'
import { commentOf } from '../../src/report/comment.ts'
import type { Outcome, ReportContext } from '../../src/report/outcome.ts'
import { FLEET, failure, finding, hostile, OPS, overLong, twoViolations, verdict } from './samples.ts'

const context: ReportContext = {
  kind: 'pull-request',
  repository: OPS,
  headSha: '1a2b3c4d5e6f708192a3b4c5d6e7f80910111213',
  fleet: { repository: FLEET, commit: '99887766554433221100ffeeddccbbaa00112233' },
}

/** The whole of what GitHub is told, as one file that people can read. */
function page(outcome: Outcome, where: ReportContext = context): string {
  const run = checkRunOf(outcome, where)
  const lines = run.annotations.map(
    a => `- ${a.path}:${a.line} ${a.level}: ${a.title}\n  ${a.message.replaceAll('\n', '\n  ')}`,
  )
  const comment = commentOf(outcome, where) ?? '(no comment)'
  return [
    `# ${run.conclusion}: ${run.title}`,
    run.summary,
    '# annotations',
    lines.join('\n') || '(none)',
    '# comment',
    comment,
    '',
  ].join('\n\n')
}

const golden = (name: string) => join(import.meta.dirname, 'goldens', `${name}.md`)

const standing = () =>
  verdict({ violations: [finding({ state: 'standing' })], errors: [failure({ state: 'standing' })] })

const PAGES: Record<string, () => string> = {
  pass: () =>
    page(
      verdict({
        notSeen: [
          {
            source: 'OCIRepository/flux-system/kyverno',
            url: 'oci://registry.example/kyverno',
            reason: 'the content of an OCIRepository is not in git',
          },
        ],
      }),
    ),
  'fail-two-violations': () => page(twoViolations()),
  'fail-for-the-tenant': () => page(twoViolations(), { ...context, audience: ['ops-team'] }),
  'fail-of-another-tenant': () => page(twoViolations(), { ...context, audience: ['dev-team'] }),
  error: () => page(verdict({ result: 'error', errors: [failure()] })),
  'error-before-a-verdict': () =>
    page(new BailiwickError('merge-conflict', 'the branch conflicts with main', { fix: 'Resolve the conflict.' })),
  untouched: () => page(undefined),
  standing: () => page(standing()),
  'hostile-names': () => page(hostile()),
  onboarding: () =>
    page(verdict(), { ...context, repository: FLEET, changedPaths: new Set(['tenants/base/ops-team/sync.yaml']) }),
}

describe('check run and comment', () => {
  for (const [name, make] of Object.entries(PAGES)) {
    test(name, async () => {
      await expect(make()).toMatchFileSnapshot(golden(name))
    })
  }

  test('what is too long is cut, and says what is missing', async () => {
    const run = checkRunOf(overLong(), context)
    const comment = commentOf(overLong(), context)!
    expect(run.title).toBe('400 violations in ops-team (staging)')
    expect(run.annotations).toHaveLength(100)
    for (const text of [run.summary, comment]) {
      expect(text.length).toBeLessThanOrEqual(60_000)
      const shown = (text.match(/- What:/g) ?? []).length
      expect(shown).toBeGreaterThan(20)
      expect(text).toContain(`**Left out for length:** ${400 - shown} × violation of \`namespace-confinement\``)
    }
    await expect(`${comment.slice(0, 1500)}\n[...]\n${comment.slice(-700)}\n`).toMatchFileSnapshot(golden('over-long'))
  })

  test('only a passed verdict and an untouched fleet succeed', () => {
    expect(checkRunOf(verdict(), context).conclusion).toBe('success')
    expect(checkRunOf(undefined, context).conclusion).toBe('success')
    for (const outcome of [
      verdict({ result: 'fail' }),
      verdict({ result: 'error' }),
      new BailiwickError('internal', 'x'),
    ]) {
      expect(checkRunOf(outcome, context).conclusion).toBe('failure')
    }
  })
})

describe('annotations', () => {
  test('stand in the order of severity and only in this repository', () => {
    const elsewhere = finding({ origin: { repository: FLEET, file: 'a.yaml', line: 1, column: 1 } })
    const outcome = verdict({
      result: 'fail',
      violations: [...twoViolations().violations, elsewhere],
      warnings: [finding({ rule: 'w', severity: 'low' })],
      errors: [failure()],
    })
    const places = checkRunOf(outcome, context).annotations.map(a => [a.level, a.path, a.line])
    expect(places).toEqual([
      ['failure', 'kustomization.yaml', 4],
      ['failure', 'steal.yaml', 5],
      ['failure', 'base/secret.yaml', 7],
      ['warning', 'steal.yaml', 5],
    ])
    expect(checkRunOf(outcome, context).summary).toContain('`github.com/acme/fleet a.yaml:1`')
  })

  test('stand on the changed overlay when the origin is unchanged', () => {
    const changedPaths = new Set(['kustomization.yaml'])
    const [annotation] = checkRunOf(verdict({ result: 'fail', violations: [finding()] }), {
      ...context,
      changedPaths,
    }).annotations
    expect(annotation).toMatchObject({ path: 'kustomization.yaml', line: 6 })
    expect(annotation!.message).toContain('Written at steal.yaml:5')
  })

  test('are said once for several clusters', () => {
    const violations = [finding(), finding({ cluster: 'production', node: 'production/ops/ops-team' })]
    const { annotations, title } = checkRunOf(verdict({ result: 'fail', violations }), context)
    expect(annotations).toHaveLength(1)
    expect(annotations[0]!.title).toContain('(production, staging)')
    expect(title).toBe('1 violation in ops-team (production, staging)')
  })
})

describe('a tenant is shown only what concerns it', () => {
  test('no other tenant is named anywhere', () => {
    const said = page(twoViolations(), { ...context, audience: ['ops-team'] })
    expect(said).not.toContain('dev-team')
    expect(said).toContain('another tenant')
  })

  test("others' findings are counted only", () => {
    const run = checkRunOf(twoViolations(), { ...context, audience: ['dev-team'] })
    expect(run.title).toBe('2 violations elsewhere in the fleet')
    expect(run.conclusion).toBe('failure')
    expect(JSON.stringify(run)).not.toMatch(/ops|steal|token/)
  })

  test('an error of the fleet before a verdict tells no names', () => {
    const origin = { repository: FLEET, file: 'tenants/base/dev-team/sync.yaml', line: 3, column: 1 }
    const run = checkRunOf(new BailiwickError('yaml-syntax', 'dev-team is broken', { origin, fix: 'Ask dev-team.' }), {
      ...context,
      audience: ['ops-team'],
    })
    expect(JSON.stringify(run)).not.toContain('dev-team')
    expect(run.conclusion).toBe('failure')
  })

  test('an error without a place tells no names either', () => {
    const run = checkRunOf(new BailiwickError('graph-limits', 'dev-team is too large'), {
      ...context,
      audience: ['ops-team'],
    })
    expect(JSON.stringify(run)).not.toContain('dev-team')
  })
})

test('there is no comment when all is well', () => {
  expect(commentOf(verdict(), context)).toBeUndefined()
})

test('at most four lines of a comment are unfolded, and one of them is what is wrong', () => {
  const open = commentOf(twoViolations(), context)!.replace(/<details>[\s\S]*?<\/details>/g, '')
  expect(open.split('\n').filter(line => line.trim() !== '' && !line.startsWith('<!--'))).toHaveLength(4)
  expect(open).toContain('lies in namespace `apps`')
})
