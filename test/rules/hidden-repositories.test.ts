import { expect, test } from 'vitest'
import { scopeVerdict } from '../../src/verdict/verdict-views.ts'
import { evaluationOf, said } from '../fleet/fleet-of.ts'
import { DEV_URL, fleetFiles, miniFleet, OPS_URL, withResource } from '../fleet/mini-fleet.ts'

// The platform names a file that cannot be read: whom that leads to cannot be seen.
const fleet = {
  ...fleetFiles,
  'tenants/kustomization.yaml': 'resources: [ops-team.yaml, dev-team.yaml]\n',
  'tenants/dev-team.yaml': `${fleetFiles['tenants/dev-team.yaml']}---\na: [\n`,
}
const before = miniFleet({ fleet })
const after = miniFleet({ fleet, dev: withResource('apiVersion: v1\nkind: Namespace\nmetadata:\n  name: evil\n') })

test('a change of a repository that an unreadable platform node names is not decided, however old the error is', () => {
  const evaluation = evaluationOf(after, { base: before, changed: DEV_URL })
  expect(evaluation.verdict.result).toBe('error')
  expect(said(evaluation)).toEqual([expect.stringMatching(/^error yaml-syntax tenants\/dev-team.yaml:/)])
  expect(scopeVerdict(evaluation, DEV_URL, { keepNew: true }).result).toBe('error')
})

test('a repository that it does not name has nothing to do with it', () => {
  const evaluation = evaluationOf(after, { base: before, changed: OPS_URL })
  expect(evaluation.verdict.result).toBe('pass')
  expect(scopeVerdict(evaluation, OPS_URL, { keepNew: true })).toMatchObject({ result: 'pass', errors: [] })
})

test('without a base it is told to that repository, and to no other', () => {
  const evaluation = evaluationOf(after)
  expect(scopeVerdict(evaluation, DEV_URL, { keepNew: false }).result).toBe('error')
  expect(scopeVerdict(evaluation, OPS_URL, { keepNew: false }).result).toBe('pass')
})

test("what a tenant's unreadable node names turns nobody's gate red", () => {
  const spoiled = (text: string) => ({
    'deploy/kustomization.yaml': `# ${text}\nresources: [web.yaml]\nvars: [{ name: A, objref: { apiVersion: v1, kind: Service, name: a } }]\n`,
    'deploy/web.yaml': '',
  })
  const given = miniFleet({ dev: spoiled(OPS_URL) })
  const evaluation = evaluationOf(given, { base: given, changed: OPS_URL })
  expect(evaluation.verdict).toMatchObject({ result: 'pass', errors: [{ state: 'standing' }] })
})

test('what a rule left out of a platform node decides, too, where nothing else follows the repository', () => {
  const unread = (from: string) =>
    fleetFiles[from]!.replace('name: apps\n', 'name: apps\n  annotations: {a: !!binary aGk=}\n')
  const given = (dev: Parameters<typeof miniFleet>[0] = {}) =>
    miniFleet({ ...dev, fleet: { ...fleetFiles, 'tenants/dev-team.yaml': unread('tenants/dev-team.yaml') } })
  const evaluation = evaluationOf(given({ dev: withResource('') }), { base: given(), changed: DEV_URL })
  expect(evaluation.verdict.result).toBe('fail')
  expect(scopeVerdict(evaluation, DEV_URL, { keepNew: true }).result).toBe('fail')
  // the other tenant's is followed, whatever else may lead there
  const named = {
    ...fleetFiles,
    'tenants/kustomization.yaml': `# ${OPS_URL}\n${fleetFiles['tenants/kustomization.yaml']}`,
  }
  const other = miniFleet({ fleet: { ...named, 'tenants/dev-team.yaml': unread('tenants/dev-team.yaml') } })
  expect(evaluationOf(other, { base: other, changed: OPS_URL }).verdict.result).toBe('pass')
})
