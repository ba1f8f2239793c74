import { expect, test } from 'vitest'
import { verdictJson } from '../../src/report/json.ts'
import { terminalText } from '../../src/report/terminal.ts'
import { failure, finding, hostile, OPS, twoViolations, verdict } from './samples.ts'

test('the text says place, who, what and how to fix', async () => {
  await expect(terminalText(twoViolations(), OPS)).toMatchFileSnapshot('goldens/terminal.txt')
})

test('no value can write to the terminal', () => {
  const nasty = finding({ message: 'a\u001b[2Jb\rc', identity: '\u009b31m' })
  const text = terminalText({ ...hostile(), violations: [nasty, ...hostile().violations] }, OPS)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  expect(text.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/)
})

test('json has exactly the keys of the contract', () => {
  const json = verdictJson(
    verdict({ violations: [finding()], errors: [failure()], notSeen: [{ source: 's', url: 'u', reason: 'r' }] }),
  )
  expect(Object.keys(json)).toEqual([
    'result',
    'summary',
    'clusters',
    'tenants',
    'violations',
    'warnings',
    'errors',
    'notSeen',
  ])
  const [violation] = json.violations as Record<string, object>[]
  expect(Object.keys(violation!)).toEqual([
    'rule',
    'severity',
    'state',
    'cluster',
    'tenant',
    'identity',
    'object',
    'field',
    'origin',
    'via',
    'message',
    'fix',
    'fingerprint',
  ])
  expect(violation!.origin).toEqual({ repository: OPS, file: 'steal.yaml', line: 5, column: 14 })
  expect(json.errors).toEqual([
    { code: 'kustomize-unsupported', state: 'new', message: failure().message, origin: failure().origin },
  ])
})

test('what the message says of the cluster is not said twice', () => {
  const message = 'ConfigMap kube-system/x is not allowed. Kubernetes would say: configmaps is forbidden.'
  expect(terminalText(verdict({ violations: [finding()] }), OPS)).toContain('\n  cluster  ')
  expect(terminalText(verdict({ violations: [finding({ message })] }), OPS)).not.toContain('\n  cluster  ')
})
