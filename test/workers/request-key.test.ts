import { expect, test } from 'vitest'
import { packSnapshot } from '../../src/git/tree.ts'
import { evaluate } from '../../workers/fleets/evaluate.ts'
import { type EvaluateRequest, requestKey } from '../../workers/fleets/protocol.ts'
import { DEV_URL, devFiles, FLEET_URL, fleetFiles, OPS_URL, opsFiles } from '../fleet/mini-fleet.ts'

const FOREIGN = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: kube-system}\n'
const WAIVER = `waivers:
  - rule: namespace-confinement
    object: {kind: ConfigMap, namespace: kube-system, name: x}
    violations: [{fingerprint: 7066ef43c4acb4d572a8715ab2826744}]
    reason: r
    approver: a
    expires: 2026-06-30
`
const snapshotOf = (files: Readonly<Record<string, string>>) =>
  packSnapshot(Object.entries(files).map(([path, content]) => ({ path, content })))
const source = (url: string, files: Readonly<Record<string, string>>) => ({
  url,
  ref: { branch: 'main' },
  commit: 'a'.repeat(40),
  tree: snapshotOf(files),
})

const request = (today: string): EvaluateRequest => ({
  type: 'evaluate',
  today,
  head: {
    fleet: {
      url: FLEET_URL,
      branch: 'main',
      commit: 'f'.repeat(40),
      tree: snapshotOf({ ...fleetFiles, '.github/bailiwick.yaml': WAIVER }),
    },
    sources: [
      source(DEV_URL, { ...devFiles, 'deploy/kustomization.yaml': 'resources: [x.yaml]\n', 'deploy/x.yaml': FOREIGN }),
      source(OPS_URL, opsFiles),
    ],
    opaque: [],
    facts: [],
    disabledRules: [],
    registries: [],
  },
})

test('an answer is remembered for a day, on which a waiver holds or does not', () => {
  expect(requestKey(request('2026-06-30'))).toBe(requestKey(request('2026-06-30')))
  expect(requestKey(request('2026-07-01'))).not.toBe(requestKey(request('2026-06-30')))
  const stateOn = (today: string) => {
    const answer = evaluate(request(today))
    return answer.type === 'evaluated' ? answer.evaluation.verdict.violations.map(one => one.state) : answer
  }
  expect(stateOn('2026-06-30')).toEqual(['waived'])
  expect(stateOn('2026-07-01')).toEqual(['new'])
})
