import { describe, expect, test } from 'vitest'
import { codeWord, type Message, message, part, plainText, untyped } from '../../src/base/message.ts'
import { identityPart, objectPart, quoted } from '../../src/fleet/facts/shown.ts'
import { narrowed } from '../../src/report/outcome.ts'
import { viewFor } from '../../src/report/text/audience.ts'
import { PrivateWords } from '../../src/report/text/private-words.ts'
import { evaluationOf } from '../fleet/fleet-of.ts'
import { FLEET_URL, miniFleet, OPS_URL, withResource } from '../fleet/mini-fleet.ts'
import { finding } from './samples.ts'

const object = (name: string) => `---
apiVersion: v1
kind: ConfigMap
metadata: {name: ${name}, namespace: ops}
`

/** What ops-team has: names that are words, as anybody may choose them. */
const { verdict, nodes } = evaluationOf(
  miniFleet({
    ops: { 'deploy/config.yaml': `${object('webshop')}${object('invoices')}${object('zq.prices')}` },
    dev: withResource('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine, namespace: apps}\n'),
  }),
)
const words = new PrivateWords(verdict, ['dev-team'], nodes)
const hidden = (said: Message) => plainText(words.hideIn(said))

describe('what only another tenant has is found by what it is, where its words tell nothing', () => {
  test.each<[string, Message, string]>([
    [
      'an object whose name is a word',
      message`${objectPart('ConfigMap', 'ops', 'webshop')} is applied twice`,
      "ConfigMap (another tenant's)/(another tenant's) is applied twice",
    ],
    ['a name alone', message`it reads ${part('object', 'invoices')} too`, "it reads (another tenant's) too"],
    ['a file', message`see ${part('path', 'deploy/webshop')}`, "see deploy/(another tenant's)"],
    [
      'a repository in another spelling',
      message`from ${part('repository', 'git@github.com:ACME/Ops-Team.git')}`,
      "from git@github.com:ACME/(another tenant's)",
    ],
    [
      'the same behind ssh',
      message`from ${quoted('repository', 'ssh://git@github.com/acme/OPS-TEAM')}`,
      `from "ssh://git@github.com/acme/(another tenant's)"`,
    ],
    ['a tenant in no sentence', message`${part('tenant', 'ops-team')}: no`, 'another tenant: no'],
    ['a tenant after its word', message`of tenant ${quoted('tenant', 'ops-team')}.`, 'of another tenant.'],
    [
      'an account',
      message`as ${identityPart({ user: 'system:serviceaccount:ops:webshop', impersonated: true })}`,
      "as system:serviceaccount:(another tenant's):(another tenant's)",
    ],
    ['a name that is cut', message`in ${quoted('path', `webshop/${'x'.repeat(200)}`)}`, `in "(another tenant's)"`],
    ['a value that is a word', message`set to ${part('value', 'webshop')}`, "set to (another tenant's)"],
  ])('%s', (_what, said, expected) => {
    expect(hidden(said)).toBe(expected)
    expect(JSON.stringify(words.hideIn(said))).not.toMatch(/webshop|invoices|ops-team/i)
  })
})

test('what it has itself, what everybody has and words of ours stay, whatever a tenant is called', () => {
  for (const said of [
    message`${objectPart('ConfigMap', 'apps', 'mine')} of tenant ${quoted('tenant', 'dev-team')}`,
    message`from ${part('repository', 'https://github.com/acme/dev-team')} and ${part('repository', FLEET_URL)}`,
    message`webshop invoices: words of ours, and ${codeWord('ops-team')} too`,
    message`as ${identityPart({ user: 'system:serviceaccount:apps:dev-team', impersonated: true })}`,
    message`tenant ${part('tenant', 'nobody-is-called-so')}, path ${part('path', 'deploy/config.yaml')}`,
    message`${part('object', 'kube-system')} and ${part('object', 'default')}`,
  ]) {
    expect(hidden(said)).toBe(plainText(said))
  }
})

test('what has no types is still found by its words', () => {
  expect(hidden(message`${untyped('ConfigMap "webshop" of tenant ops-team')} is here`)).toBe(
    `ConfigMap "(another tenant's)" of another tenant is here`,
  )
})

test('a finding is shown without them, and nothing of them is carried along', () => {
  const said = message`Object mine takes ${part('object', 'webshop')} from ${part('repository', OPS_URL)}`
  const typedFix = message`Ask ${part('tenant', 'ops-team')}.`
  const one = finding({
    tenant: 'dev-team',
    object: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'apps', name: 'mine' },
    origin: { repository: 'https://github.com/acme/dev-team', file: 'deploy/x.yaml', line: 1, column: 1 },
    via: [],
    rule: 'sample',
    identity: 'system:serviceaccount:apps:dev-team',
    node: 'staging/apps/dev-team',
    ...{ message: plainText(said), fix: plainText(typedFix), said, typedFix },
  })
  const view = viewFor({ ...verdict, violations: [one] }, ['dev-team'], 'https://github.com/acme/dev-team', nodes)
  expect(view.verdict.violations[0]).toMatchObject({
    message: "Object mine takes (another tenant's) from https://github.com/acme/(another tenant's)",
    fix: 'Ask another tenant.',
  })
  expect(JSON.stringify(view.verdict.violations)).not.toMatch(/webshop|ops-team/)
})

test('where fewer people can see a source, the fleet is not told its address or names either', () => {
  const said = message`It follows ${part('repository', 'https://github.com/Acme/Ops-Team.git')} with ${part('object', 'invoices')}`
  const one = finding({
    rule: 'sample',
    tenant: 'dev-team',
    object: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'apps', name: 'mine' },
    origin: { repository: FLEET_URL, file: 'x.yaml', line: 1, column: 1 },
    node: 'staging/apps/dev-team',
    ...{ message: plainText(said), fix: 'Remove it.', said },
  })
  const { verdict: shown } = narrowed({ verdict: { ...verdict, violations: [one] }, nodes }, new Set([OPS_URL]))
  expect(shown.violations[0]?.message).toBe(
    "It follows https://github.com/Acme/(another tenant's) with (another tenant's)",
  )
  expect(JSON.stringify(shown.violations)).not.toMatch(/invoices|Ops-Team/)
})
