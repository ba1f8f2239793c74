import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { plainText } from '../../../src/base/message.ts'
import { display, idOf, type KubeObject } from '../../../src/kube/object.ts'
import { type Binding, readBinding, readRole } from '../../../src/kube/rbac/binding.ts'
import { userOfAccount } from '../../../src/kube/rbac/policy-rule.ts'
import { serverWords } from '../../../src/rules/model/rule.ts'
import { plainObject } from '../../base/kube/rbac/plain-object.ts'
import { openFleet } from './ask-bailiwick.ts'
import { type Plain, questions, readWorld } from './world.ts'

const FOLDER = join(import.meta.dirname, '../../fixtures/capsule/answers')

interface Recorded {
  readonly answers: Readonly<Record<string, { readonly refused?: string; readonly tenant?: string }>>
  /** Roles and bindings. */
  readonly made: readonly Plain[]
}

/** What a real Capsule of each version answered on a real API server (record-answers.ts). */
const versions = readdirSync(FOLDER).map(name => name.replace(/\.json$/, ''))

/** Roles and bindings by name; accounts as Capsule names them, some as a User. */
const read = (objects: readonly KubeObject[]) =>
  new Map(objects.map(object => [display(idOf(object)), readRole(object) ?? boundBy(readBinding(object)!)]))

const boundBy = ({ roleRef, subjects }: Binding) => ({
  roleRef,
  subjects: subjects
    .map(({ kind, name, namespace }) => (namespace ? `User ${userOfAccount(namespace, name)}` : `${kind} ${name}`))
    .sort(),
})

describe.each(versions)('Capsule %s', version => {
  const { answers, made }: Recorded = JSON.parse(readFileSync(join(FOLDER, `${version}.json`), 'utf8'))
  const fleet = openFleet(readWorld(), version)

  test('makes the roles and bindings that are worked out', () => {
    expect(read(fleet.made())).toEqual(read(made.map(plainObject)))
  })

  const asked = questions().filter(({ from }) => Number(version.split('.')[1]) >= from)
  test.each(asked)('$name', question => {
    const { refused, tenant } = answers[question.name]!
    const ours = fleet.ask(question)
    const quoted = ours.findings.map(({ message }) => message).filter(text => text.includes('Capsule: '))
    if (refused === undefined) {
      expect(quoted).toEqual([])
      if (question.object.kind === 'Namespace' && !question.instead && !question.isUnlisted)
        expect(ours.tenant).toBe(tenant)
    } else if (question.isUnknown)
      expect(ours.findings.map(({ level, rule }) => `${level} ${rule}`)).toContain('warning capsule-denied')
    else if (question.instead) expect(ours.findings.map(({ rule }) => rule)).toContain(question.instead)
    else expect(quoted.join('\n')).toContain(`Capsule: ${plainText(serverWords(refused))}`)
  })
})
