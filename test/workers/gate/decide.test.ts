import { describe, expect, test } from 'vitest'
import { BailiwickError } from '../../../src/base/errors.ts'
import { checkRunOf } from '../../../src/report/check-run.ts'
import { type Decision, decide, type HumanDecisions, NO_DECISIONS, type Outcome } from '../../../src/verdict/decide.ts'
import { FLEET, verdict } from '../../report/samples.ts'

const OUTCOMES: readonly (readonly [string, Outcome])[] = [
  ['unaffected', undefined],
  ['pass', verdict()],
  ['fail', verdict({ result: 'fail' })],
  ['error', verdict({ result: 'error' })],
  ['not evaluated', new BailiwickError('github-unavailable', 'GitHub does not answer')],
]
const APPROVAL = { rule: 'gate-config-change', message: 'the file changes', fix: 'Approve it.' }
const HOLDS: readonly HumanDecisions['hold'][] = [undefined, { by: 'will' }]
const OVERRIDES: readonly HumanDecisions['override'][] = [undefined, { by: 'ada', reason: 'the gate is wrong' }]
const APPROVALS: readonly HumanDecisions['missing'][] = [[], [APPROVAL], [APPROVAL, APPROVAL]]

/** Every revisionSet of what decides: which outcome, hold or not, override or not, how many approvals are missing. */
const COMBINATIONS = OUTCOMES.flatMap(([name, outcome]) =>
  HOLDS.flatMap(hold =>
    OVERRIDES.flatMap(override =>
      APPROVALS.map(missing => ({
        ...{ name, outcome },
        decisions: { ...NO_DECISIONS, ...(hold && { hold }), ...(override && { override }), missing },
      })),
    ),
  ),
)

/** By outcome: what the verdict alone decides, and how severe it is where something blocks. */
const TABLE: Readonly<Record<string, { alone: Decision['conclusion']; severity: Decision['severity'] }>> = {
  unaffected: { alone: 'success', severity: 1 },
  pass: { alone: 'success', severity: 1 },
  fail: { alone: 'failure', severity: 1 },
  error: { alone: 'failure', severity: 2 },
  'not evaluated': { alone: 'failure', severity: 3 },
}

/** The table in words: hold, override, verdict, approvals, in this order. */
function expected(name: string, { hold, override, missing }: HumanDecisions): Decision {
  const { alone, severity } = TABLE[name]!
  if (hold) return { conclusion: 'failure', by: 'hold', severity }
  if (override) return { conclusion: 'success', by: 'override', severity: 0 }
  if (alone === 'failure') return { conclusion: 'failure', by: 'verdict', severity }
  if (missing.length > 0) return { conclusion: 'failure', by: 'required-approval', severity }
  return { conclusion: 'success', by: 'verdict', severity: 0 }
}

describe('the decision of the gate', () => {
  test('is that of the table, for every revisionSet', () => {
    expect(COMBINATIONS).toHaveLength(60)
    for (const { name, outcome, decisions } of COMBINATIONS) {
      expect({ name, ...decide(outcome, decisions) }).toEqual({ name, ...expected(name, decisions) })
    }
  })

  test('is a success for exactly these', () => {
    const passing = COMBINATIONS.filter(one => decide(one.outcome, one.decisions).conclusion === 'success')
    const words = passing.map(({ name, decisions: { override, missing } }) =>
      [name, override ? 'override' : '', missing.length].join(' '),
    )
    const overridden = OUTCOMES.flatMap(([name]) => [0, 1, 2].map(number => `${name} override ${number}`))
    expect(words.sort()).toEqual([...overridden, 'unaffected  0', 'pass  0'].sort())
  })

  test('is what the check run concludes, whoever renders it', () => {
    for (const { outcome, decisions } of COMBINATIONS) {
      const context = {
        kind: 'pull-request',
        repository: FLEET,
        headSha: 'a'.repeat(40),
        decisions: decisions,
      } as const
      expect(checkRunOf(outcome, context).conclusion).toBe(decide(outcome, decisions).conclusion)
    }
  })
})
