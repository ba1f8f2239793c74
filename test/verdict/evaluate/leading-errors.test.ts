import { expect, test } from 'vitest'
import { evaluateFleet } from '../../../src/verdict/evaluate-fleet.ts'
import { fleetOf } from '../../fleet/fleet-of.ts'
import { fleetFiles, miniFleet } from '../../fleet/mini-fleet.ts'

/** The path of dev-team's Kustomization comes from a patch; without it, what it builds is not valid. */
const fleet = (name: string) => ({
  'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml]\npatches: [{path: patch.yaml}]\n',
  'tenants/patch.yaml': `apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: ${name}, namespace: apps}\nspec: {path: ./deploy}\n`,
  'tenants/dev-team.yaml': fleetFiles['tenants/dev-team.yaml']!.replace('./deploy', './broken'),
})
const dev = { 'broken/kustomization.yaml': 'resources: [gone.yaml]\n' }
const errorsOf = (name: string, before?: string) => {
  const base = before === undefined ? undefined : fleetOf(miniFleet({ fleet: fleet(before), dev }))
  const head = fleetOf(miniFleet({ fleet: fleet(name), dev }))
  const { verdict, nodes } = evaluateFleet(head, { revisionSet: 'c', ...(base ? { base } : {}) })
  return { verdict, failing: nodes.filter(one => one.failures.length > 0).map(({ key }) => key) }
}

test('an error of a Kustomization that follows from one of who renders it is not listed, and still holds it back', () => {
  const { verdict, failing } = errorsOf('devteam', 'dev-team')
  expect(verdict.result).toBe('error')
  expect(verdict.errors.map(({ node }) => node)).toEqual(['staging/flux-system/tenants'])
  expect(failing.sort()).toEqual(['staging/apps/dev-team', 'staging/flux-system/tenants'])
})

test('an error of its own is listed', () => {
  const { verdict } = errorsOf('dev-team')
  expect(verdict.errors).toEqual([])
  const broken = fleetOf(miniFleet({ dev: { 'deploy/kustomization.yaml': 'resources: [gone.yaml]\n' } }))
  const own = evaluateFleet(broken, { revisionSet: 'c' }).verdict
  expect(own.errors.map(({ node }) => node)).toEqual(['staging/apps/dev-team'])
})
