import { describe, expect, test } from 'vitest'
import {
  evaluateProtection,
  type ProtectedBranch,
  type ProtectionLayer,
} from '../../../src/verdict/evaluate-protection.ts'

const CHECK = { name: 'bailiwick / tenancy', app: 7 }

const layer = (changes: Partial<ProtectionLayer> = {}): ProtectionLayer => ({
  ...{ kind: 'ruleset', name: 'main', of: 'Repository', checks: [{ context: CHECK.name, app: CHECK.app }] },
  ...{ strict: true, mergeQueue: false, pullRequest: true, forbidsForcePush: true, forbidsDeletion: true, bypass: [] },
  ...changes,
})

const branch = (layers: readonly ProtectionLayer[], changes: Partial<ProtectedBranch> = {}): ProtectedBranch => ({
  ...{ url: 'https://github.com/acme/fleet', branch: 'main', layers, hidden: false, evaluated: [], namesakes: [] },
  ...changes,
})

const evaluated = (...layers: ProtectionLayer[]) => evaluateProtection(branch(layers), CHECK)
const said = (...layers: ProtectionLayer[]) => evaluated(...layers).gaps.map(gap => `${gap.level}: ${gap.what}`)

test('a gate without a way around it is real, and nothing is said', () => {
  expect(evaluated(layer())).toEqual({ state: 'real', gaps: [] })
  expect(evaluated(layer({ strict: false, mergeQueue: true }))).toEqual({ state: 'real', gaps: [] })
})

describe('who may answer', () => {
  test('nobody is asked', () => {
    expect(evaluated()).toMatchObject({ state: 'open', gaps: [{ level: 'open' }] })
    expect(said(layer({ checks: [] }))).toEqual(['open: nothing requires `bailiwick / tenancy`'])
  })

  test('anybody may answer', () => {
    const anybody = layer({ checks: [{ context: CHECK.name, app: null }] })
    expect(evaluated(anybody).state).toBe('open')
    expect(said(anybody)[0]).toContain('from any source: anyone who can set a status can pass it')
  })

  test('another App is asked', () => {
    expect(said(layer({ checks: [{ context: CHECK.name, app: 8 }] }))[0]).toContain('from another App')
  })

  test.each(['Bailiwick / tenancy', 'bailiwick / tenancy ', 'bailiwick/tenancy'])('%s is another check', context => {
    expect(evaluated(layer({ checks: [{ context, app: CHECK.app }] })).state).toBe('open')
  })

  test('one layer that is bound is enough beside one that is not', () => {
    expect(evaluated(layer({ checks: [{ context: CHECK.name, app: null }] }), layer()).state).toBe('real')
  })

  test('other Apps that report the name, and rulesets that are only evaluated, are told where the gate is open', () => {
    const found = evaluateProtection(branch([], { evaluated: ['try`it'], namesakes: ['ci'] }), CHECK)
    expect(found.gaps.map(gap => gap.level)).toEqual(['open', 'note', 'open'])
    expect(found.gaps[1]?.what).toBe(
      "the ruleset `try'it` requires the check, but its enforcement status is Evaluate, which does not block",
    )
    expect(found.gaps[2]?.what).toContain('`ci`')
  })
})

describe('the name of another branch', () => {
  const STABLE = { name: 'bailiwick / tenancy (stable)', app: 7 }
  const requiring = (...names: string[]) => layer({ checks: names.map(context => ({ context, app: 7 })) })

  test.each([
    ['stable', STABLE, ['bailiwick / tenancy (stable)'], 'real', undefined],
    ['stable', STABLE, ['bailiwick / tenancy'], 'real', STABLE.name],
    ['stable', STABLE, ['bailiwick / tenancy (stable)', 'bailiwick / tenancy'], 'real', STABLE.name],
    ['stable', STABLE, ['bailiwick / tenancy (main)'], 'open', STABLE.name],
    ['main', CHECK, ['bailiwick / tenancy (main)'], 'real', undefined],
    ['main', CHECK, ['bailiwick / tenancy (stable)'], 'open', CHECK.name],
    ['main', CHECK, ['build'], 'open', undefined],
  ] as const)('%s, with the check %j: %j is %s, and asks for %s', (name, check, required, state, asks) => {
    const gate = evaluateProtection(branch([requiring(...required)], { branch: name }), check)
    expect([gate.state, gate.asks]).toEqual([state, asks])
    expect(gate.gaps.some(({ fix }) => fix === `Require \`${asks}\` instead.`)).toBe(asks !== undefined)
  })
})

describe('what GitHub does not show', () => {
  test('is unknown, never good', () => {
    expect(evaluateProtection(branch([], { hidden: true }), CHECK).state).toBe('unknown')
    const anybody = layer({ checks: [{ context: CHECK.name, app: null }] })
    expect(evaluateProtection(branch([anybody], { hidden: true }), CHECK).state).toBe('open')
  })

  test('a bypass list that is not shown is to be looked at', () => {
    expect(said(layer({ bypass: undefined }))).toEqual([
      'note: GitHub shows who can bypass the ruleset only to Apps with "Administration: write"',
    ])
    expect(said(layer({ bypass: undefined }), layer())).toEqual([])
  })

  test('whether commits may be pushed is a note where it is hidden', () => {
    const hidden = layer({
      strict: undefined,
      pullRequest: undefined,
      forbidsForcePush: undefined,
      forbidsDeletion: undefined,
    })
    expect(evaluated(hidden).state).toBe('real')
    expect(said(hidden).every(line => line.startsWith('note: GitHub does not show whether'))).toBe(true)
    expect(said(hidden, layer())).toEqual([])
  })
})

describe('ways around', () => {
  test.each<[keyof ProtectionLayer, string]>([
    ['strict', 'older base'],
    ['pullRequest', 'without a pull request'],
    ['forbidsForcePush', 'force pushes'],
    ['forbidsDeletion', 'deleted'],
  ])('%s', (field, words) => {
    const gate = evaluated(layer({ [field]: false }))
    expect(gate.state).toBe('weak')
    expect(gate.gaps).toHaveLength(1)
    expect(gate.gaps[0]?.what).toContain(words)
    expect(gate.gaps[0]?.fix).not.toBe('')
  })

  test('who may bypass every layer that holds', () => {
    const classic = layer({ kind: 'protection', name: '', bypass: ['every administrator of the repository'] })
    expect(said(classic)).toEqual(['weak: every administrator of the repository can bypass the branch protection'])
    expect(said(classic, layer())).toEqual([])
    const ruleset = layer({ of: 'Organization', name: 'all', bypass: ['the team number 3'] })
    expect(said(ruleset)).toEqual(['weak: the team number 3 can bypass the ruleset `all` of the organization'])
  })
})
