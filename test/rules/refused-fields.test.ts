import { expect, test } from 'vitest'
import { evaluationOf } from '../fleet/fleet-of.ts'
import { fleetFiles, miniFleet, withResource } from '../fleet/mini-fleet.ts'

function refused(spec: string, dev = {}, violated: readonly string[] = []): readonly string[] {
  const file = fleetFiles['tenants/dev-team.yaml']!.replace('  path: ./deploy', `${spec}  path: ./deploy`)
  const { verdict, nodes } = evaluationOf(miniFleet({ fleet: { 'tenants/dev-team.yaml': file }, dev }))
  expect(verdict.violations.map(({ rule }) => rule)).toEqual(violated)
  return nodes.find(node => node.key === 'staging/apps/dev-team')!.refused
}

test.each([
  ['', []],
  ['  wait: true\n', []],
  ['  wait: false\n  force: false\n  healthChecks: []\n', []],
  ['  healthChecks: [{kind: Deployment, name: web, namespace: apps}]\n', []],
  ['  decryption: {provider: sops}\n', []],
  ['  kubeConfig: {secretRef: {name: x}}\n', []],
  ['  force: true\n  deletionPolicy: Orphan\n', []],
  ['  ignore: [{paths: [/spec/replicas]}]\n', []],
  ['  somethingNew: 1\n', ['spec.somethingNew']],
  ['  dependsOn: [{name: dev-team, readyExpr: "true"}]\n', []],
])('%s passes the evaluation and is refused at apply: %s', (spec, expected) => {
  expect(refused(spec)).toEqual(expected)
})

test('an object that is still encrypted is not applied', () => {
  const value = `ENC[AES256_GCM,data:aA==,iv:${Buffer.alloc(32).toString('base64')},tag:${Buffer.alloc(16).toString('base64')},type:str]`
  const secret = `apiVersion: v1\nkind: Secret\nmetadata: {name: x, namespace: apps}\nstringData: {a: "${value}"}\nsops: {mac: "${value}"}\n`
  expect(refused('', withResource(secret), ['sops-not-decrypted'])).toEqual([
    'SOPS encryption without spec.decryption.secretRef',
  ])
})
