import { expect, test } from 'vitest'
import { buildFleet } from '../../../../src/fleet/graph/build-fleet.ts'
import { retainOf } from '../../../../src/fleet/model/input.ts'
import { evaluateFleet } from '../../../../src/verdict/evaluate-fleet.ts'
import { configMap, syncText } from '../../../fleet/clusters/sync-text.ts'
import { type Files, fleetOf, type Given, inputOf } from '../../../fleet/fleet-of.ts'
import { FLEET_URL, fleetFiles, miniFleet } from '../../../fleet/mini-fleet.ts'

const SYNC = 'clusters/staging/flux-system/gotk-sync.yaml'
const KUSTOMIZATION = 'clusters/staging/flux-system/kustomization.yaml'
const files = (branch: string): Files => ({
  ...fleetFiles,
  [SYNC]: fleetFiles[SYNC]!.replace('branch: main', `branch: ${branch}`),
})

/** The fleet whose cluster follows a branch; `there`: what that holds, undefined: it cannot be read. */
const given = (own: Files, branch: string, there?: Files): Given => {
  const { sources = [], ...rest } = miniFleet()
  const source = { url: FLEET_URL, ref: { branch } }
  return {
    ...rest,
    fleet: own,
    sources: there ? [...sources, { ...source, files: there }] : sources,
    opaque: there ? [] : [{ ...source, reason: 'no access' }],
  }
}
/** As the programs do it: what the fleet was before stays a fact. */
const verdictOf = (head: Given, base: Given) => {
  const before = fleetOf(base)
  const input = { ...inputOf(head), config: inputOf(base).fleet.tree, retain: retainOf(before) }
  return evaluateFleet(buildFleet(input), { base: before, revisionSet: '' }).verdict
}
const said = (head: Given, base: Given = miniFleet()) => {
  const { errors, violations, requiredApprovals } = verdictOf(head, base)
  return [
    ...[...errors, ...violations].filter(({ state }) => state === 'new').map(({ message }) => message),
    ...requiredApprovals.map(({ rule, path, message }) => `${rule} ${path}: ${message}`),
  ]
}
const follows = (seen: string, rule = 'source-opaque') =>
  `${rule} ${SYNC}: cluster staging: it would follow "${FLEET_URL}#prod", not "${FLEET_URL}#main" as before${seen}`
const UNSEEN = '. That is not visible, so nothing of it is evaluated: no access'

test('a cluster that follows a branch from now on that cannot be read is one entry, and an approval', () => {
  expect(said(given(files('prod'), 'prod'))).toEqual([follows(UNSEEN)])
  expect(verdictOf(given(files('prod'), 'prod'), miniFleet())).toMatchObject({
    result: 'pass',
    notSeen: expect.arrayContaining([expect.objectContaining({ url: FLEET_URL, reason: 'no access' })]),
    summary: expect.stringContaining('A fleet admin must approve the change: cluster staging: it would follow '),
  })
})

test('by a patch of the sync it is the same', () => {
  const patch = `  - patch: |\n      - {op: replace, path: /spec/ref/branch, value: prod}\n    target: {kind: GitRepository, name: flux-system}\n`
  const own = { ...fleetFiles, [KUSTOMIZATION]: fleetFiles[KUSTOMIZATION]! + patch }
  expect(said(given(own, 'prod'))).toEqual([follows(UNSEEN)])
})

test('a branch that can be read is evaluated as it is there', () => {
  const there = files('prod')
  expect(said(given(files('prod'), 'prod', there))).toEqual([follows('', 'source-ungated-ref')])
  const evil = {
    'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, x.yaml]\n',
    'tenants/x.yaml':
      'apiVersion: v1\nkind: Secret\nmetadata: {name: x, namespace: flux-system}\nstringData: {password: hunter2hunter2}\n',
  }
  expect(said(given(files('prod'), 'prod', { ...there, ...evil }))[0]).toContain(
    'Secret flux-system/x has a plain-text value',
  )
})

const more = {
  'hub/flux-system/gotk-sync.yaml': syncText({ path: './hub', url: FLEET_URL }),
  'hub/a.yaml': configMap('a'),
}

test('what stood so asks nobody', () => {
  const standing = given({ ...files('prod'), ...more }, 'prod')
  expect(said(standing, standing)).toEqual([])
  const seen = given(files('prod'), 'prod', files('prod'))
  expect(said(seen, seen)).toEqual([])
})

test('one cluster of several goes on by itself', () => {
  const base = { ...miniFleet(), fleet: { ...fleetFiles, ...more } }
  expect(said(given({ ...files('prod'), ...more }, 'prod'), base)).toEqual([follows(UNSEEN)])
})
