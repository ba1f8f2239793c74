import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { authorizerOf } from '../../../../src/kube/rbac/authorizer.ts'
import { kubernetesVersion } from '../../../../tools/envtest/assets.ts'
import { differences } from './apply-answers.ts'
import { FACTS } from './apply-facts.ts'
import { plainObject } from './plain-object.ts'
import { applyWorld } from './random-apply.ts'
import { RECORDED, type RecordedAnswers } from './recorded-answers.ts'

const recorded = JSON.parse(readFileSync(RECORDED, 'utf8')) as RecordedAnswers

describe('what a real API server answered to who applies an object', () => {
  test('is of the release that the other tests ask', () => {
    expect(recorded.version, 'npm run differential:rbac -- --cases 300 --per-world 15 --save').toBe(kubernetesVersion())
  })

  test.each(FACTS.map((fact, at) => ({ ...fact, at })))('$what', ({ at, rbac, refused, ...question }) => {
    const theirs = recorded.facts[at]!
    const [, , applied] = theirs
    expect(/ cannot (\w+) /.exec(applied)?.[1] ?? applied).toMatch(refused === '' ? /^$/ : refused)
    expect(differences(authorizerOf(rbac.map(plainObject)), question, theirs)).toEqual([])
  })

  test('is what we answer in random worlds', () => {
    const { seed, perWorld, worlds } = recorded
    const wrong = worlds.flatMap((answers, at) => {
      const { rbac, questions } = applyWorld(seed + at, perWorld)
      const authorizer = authorizerOf(rbac.map(plainObject))
      return answers.flatMap((answer, index) => differences(authorizer, questions[index]!, answer))
    })
    expect(wrong).toEqual([])
    const answers = worlds.flat()
    expect(answers.length).toBeGreaterThanOrEqual(300)
    const allowed = answers.filter(([, , applied]) => applied === '').length
    expect(allowed / answers.length).toBeGreaterThan(0.3)
    expect(allowed / answers.length).toBeLessThan(0.7)
  })
})
