import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BailiwickError } from '../../../src/base/errors.ts'
import { findFindings } from '../../../src/surface/command/answer-text.ts'
import { overrideRecord, readOverrideRecord, readRecord } from '../../../src/surface/command/record.ts'
import { readWaiverRecord, type WaiverEntry, waiverRecord } from '../../../src/surface/command/waiver.ts'

const ENTRY: WaiverEntry = {
  ...{ rule: 'pod-security', cluster: 'staging', kind: 'apps/Deployment', namespace: 'apps', name: 'web' },
  violations: [{ fingerprint: 'a'.repeat(32), severity: 'high', field: '/spec/replicas' }],
  ...{ reason: 'It moves.', requester: 'dora', expires: '2026-12-31' },
}

describe('records of what people decided', () => {
  test('come back as they were written, whatever the reason', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), reason => {
        const record = { by: 'ada', reason, at: '2026-11-21T20:00:00Z', pull: 3, base: 'main' }
        const { text, title } = overrideRecord(record, 'a'.repeat(40))
        expect(readOverrideRecord(text)).toEqual(record)
        expect(text.split('```')).toHaveLength(3)
        expect(title.length).toBeLessThanOrEqual(250)
        const pull = { entries: [{ ...ENTRY, reason }], of: 'acme/dev-team#1', author: 'dora' }
        expect(readWaiverRecord(waiverRecord(pull).text)).toEqual(pull)
      }),
    )
    const approved = { entries: [ENTRY], of: 'acme/dev-team#1', author: 'dora', approver: 'max' }
    expect(readWaiverRecord(waiverRecord(approved).text)).toEqual(approved)
  })

  test.each([
    '',
    'text',
    '{"by":"ada","reason":"x","at":"y"}',
    '```json\n[]\n```',
    '```json\nnull\n```',
    '```json\n{"by":1,"reason":"x","at":"y"}\n```',
    '```json\n{"entries":[],"of":"x","author":"y"}\n```',
    '```json\n{"entries":[{"rule":"x"}],"of":"x","author":"y"}\n```',
    '```json\n{\n```',
  ])('%j is none', text => {
    expect(readOverrideRecord(text)).toBeUndefined()
    expect(readWaiverRecord(text)).toBeUndefined()
    expect(() => readRecord(text)).not.toThrow()
  })
})

describe('what a finding is called', () => {
  const of = (rule: string, fingerprint: string) => ({ rule, fingerprint: fingerprint.padEnd(32, '0') })
  const findings = [of('pod-security', 'abc1230'), of('pod-security', 'abc1231'), of('sa-required', 'def4560')]
  const isRule = (id: string) => ['pod-security', 'sa-required', 'facade'].includes(id)
  const find = (target: string) => findFindings(target, findings, isRule)

  test('the id of a rule, or the beginning of one fingerprint', () => {
    expect(find('pod-security')).toHaveLength(2)
    expect(find('facade')).toEqual([])
    expect(find('def456')).toEqual([findings[2]])
    expect(find('abc1231')).toEqual([findings[1]])
  })

  test.each([
    ['abc123', '2 findings here start with'],
    ['abc12', 'at least 6'],
    ['000000', 'no finding here starts with'],
    ['pod', 'unknown rule'],
    ['ABC1231', 'unknown rule'],
  ])('%s is refused', (target, said) => {
    expect(() => find(target)).toThrow(BailiwickError)
    expect(() => find(target)).toThrow(said)
  })
})
