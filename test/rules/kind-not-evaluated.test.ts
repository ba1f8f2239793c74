import { expect, test } from 'vitest'
import { verdictJson } from '../../src/report/formats/formats.ts'
import { terminalText } from '../../src/report/formats/terminal.ts'
import { viewFor } from '../../src/report/text/audience.ts'
import { verdictSections } from '../../src/report/verdict-sections.ts'
import { evaluationOf } from '../fleet/fleet-of.ts'
import { DEV_URL, miniFleet, withResource } from '../fleet/mini-fleet.ts'

const installation = (name: string) =>
  `apiVersion: clickhouse.altinity.com/v1\nkind: ClickHouseInstallation\nmetadata: {name: ${name}, namespace: apps}\n`
const verdictOf = (content: string, fleet = {}) =>
  evaluationOf(miniFleet({ dev: withResource(content), fleet })).verdict

test('a kind that nobody has looked at is said once, with what the account can do, and decides nothing', () => {
  const verdict = verdictOf(`${installation('a')}---\n${installation('b')}`)
  expect([verdict.result, verdict.warnings, verdict.violations]).toEqual(['pass', [], []])
  expect(verdict.notEvaluated.map(({ message }) => message)).toEqual([
    '"clickhouse.altinity.com/ClickHouseInstallation": 2 objects are evaluated only by scope, namespace and pods, because no rule supports the kind. system:serviceaccount:apps:dev-team may create, update, patch, delete, get, list, watch them in namespace "apps".',
  ])
})

test('it stands in the JSON, on a terminal, and as one folded line of a comment', () => {
  const verdict = verdictOf(installation('a'))
  expect(verdictJson(verdict)).toMatchObject({
    notEvaluated: [
      { rule: 'kind-not-evaluated', tenant: 'dev-team', object: { kind: 'ClickHouseInstallation', name: 'a' } },
    ],
  })
  expect(terminalText(verdict, DEV_URL)).toContain('not evaluated: "clickhouse.altinity.com/ClickHouseInstallation"')
  const texts = verdictSections(verdict, DEV_URL).map(({ text }) => text)
  expect(texts.filter(text => text.startsWith('<details><summary>Not evaluated: what 1 kind'))).toHaveLength(1)
})

test('kinds of Kubernetes, of Flux and of the table are evaluated', () => {
  const verdict = verdictOf(
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: apps}\n---\napiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: a, namespace: apps}\n',
  )
  expect(verdict.notEvaluated).toEqual([])
  expect(Object.keys(verdictJson(verdict))).not.toContain('notEvaluated')
})

test('another tenant reads nothing of it', () => {
  const verdict = verdictOf(installation('a'))
  expect(viewFor(verdict, ['ops-team'], 'https://github.com/acme/ops-team').verdict.notEvaluated).toEqual([])
  expect(viewFor(verdict, ['dev-team'], DEV_URL).verdict.notEvaluated).toHaveLength(1)
})

test('a fleet may make it a violation', () => {
  const file = { '.github/bailiwick.yaml': 'severities: {kind-not-evaluated: high}\n' }
  const verdict = verdictOf(installation('a'), file)
  expect([verdict.result, verdict.violations.map(({ rule }) => rule), verdict.notEvaluated]).toEqual([
    'fail',
    ['kind-not-evaluated'],
    [],
  ])
})
