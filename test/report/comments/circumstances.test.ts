import { describe, expect, test } from 'vitest'
import { BailiwickError } from '../../../src/base/errors.ts'
import { checkRunOf } from '../../../src/report/check-run.ts'
import { COMMENT_MARKER, commentOf } from '../../../src/report/comment.ts'
import type { Outcome } from '../../../src/report/outcome.ts'
import { type HumanDecisions, NO_DECISIONS } from '../../../src/verdict/decide.ts'
import { FLEET, twoViolations, verdict } from '../samples.ts'

const DEMAND = {
  rule: 'gate-config-change',
  message: 'the file .github/bailiwick.yaml changes',
  fix: 'Have a fleet admin approve the pull request.',
}
const comment = (outcome: Outcome, decisions: Partial<HumanDecisions> = {}) =>
  commentOf(outcome, {
    kind: 'pull-request',
    repository: FLEET,
    headSha: 'a'.repeat(40),
    decisions: { ...NO_DECISIONS, ...decisions },
  })
/** The lines that are not folded. */
const open = (text: string | undefined) =>
  (text ?? '')
    .replace(/<details>[\s\S]*?\n<\/details>/g, '')
    .split('\n')
    .filter(line => line !== '' && line !== COMMENT_MARKER)

describe('what people decided', () => {
  test('a hold of what is clean is told by the check alone', () => {
    expect(comment(verdict(), { hold: { by: 'will' } })).toBeUndefined()
    expect(comment(undefined, { hold: { by: 'will' } })).toBeUndefined()
  })

  test('a hold of what has findings says how it ends', () => {
    const lines = open(comment(twoViolations(), { hold: { by: 'will' } }))
    expect(lines[0]).toBe('❌ **On hold by will**')
    expect(lines.at(-1)).toBe('Next: someone with write access runs `/bailiwick unhold`.')
  })

  test('what nobody agreed to says who may', () => {
    for (const outcome of [verdict(), undefined]) {
      const lines = open(comment(outcome, { missing: [DEMAND] }))
      expect(lines[0]).toMatch(/^❌ \*\*Approval required: /)
      expect(lines.at(-1)).toBe('Next: Have a fleet admin approve the pull request.')
    }
  })

  test('an override passes, with the findings below it', () => {
    const text = comment(twoViolations(), { override: { by: 'ada', reason: 'the gate is wrong' } })
    expect(open(text)[0]).toBe('✅ **Overridden by ada: the gate is wrong**')
    expect(text).toContain('violation <code>plaintext-secret</code>')
  })

  test('an error that the readers may not see sends them to a fleet admin', () => {
    const error = new BailiwickError('graph-limits', 'too much in acme/other', { fix: 'Make acme/other smaller.' })
    const text = comment(error)
    expect(open(text)).toEqual([
      '❔ **Could not be evaluated: the cause is in another repository**',
      'Next: ask a fleet admin. The cause is in a part of the fleet that is not visible to this repository.',
    ])
    expect(text).not.toContain('acme/other')
  })

  test('an error before a verdict says its fix, and how to try again', () => {
    const fix = 'Resolve the conflict and push.'
    expect(open(comment(new BailiwickError('merge-conflict', 'the branch conflicts with main', { fix })))).toContain(
      'Next: Resolve the conflict and push. `/bailiwick check` evaluates again without a push.',
    )

    const lines = open(comment(new BailiwickError('merge-conflict', 'the branch conflicts with main'), {}))
    expect(lines).toEqual([
      '❔ **Merge conflict: nothing was checked**',
      'Next: fix the error below and push. `/bailiwick check` evaluates again without a push.',
    ])
  })

  test.each([
    ['main', 'Merge conflict with main: nothing was checked'],
    [`release/${'x'.repeat(40)}`, 'Merge conflict: nothing was checked'],
  ])('a merge conflict with %s', (base, title) => {
    const context = { kind: 'pull-request', repository: FLEET, headSha: 'a'.repeat(40), base } as const
    expect(checkRunOf(new BailiwickError('merge-conflict', 'it conflicts'), context).title).toBe(title)
  })
})
