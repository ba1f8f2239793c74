import { expect, test } from 'vitest'
import { readLockdown } from '../../src/fleet/bootstrap/lockdown.ts'
import type { Lockdown } from '../../src/fleet/model/fleet.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import { parseDocuments } from '../../src/kube/yaml/parse-documents.ts'

const objectsOf = (text: string): KubeObject[] =>
  parseDocuments({ repository: '', path: 'flux.yaml' }, Buffer.from(text)).flatMap(root =>
    root.type === 'map' ? [{ root, trail: [] }] : [],
  )
const deployment = (args: readonly string[], version = 'v2.9.4') => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: kustomize-controller
  labels: {app.kubernetes.io/version: ${version}}
spec: {template: {spec: {containers: [{name: manager, args: ${JSON.stringify(args)}}]}}}
`
const lockdownOf = (args: readonly string[], version?: string) =>
  withoutFlux(readLockdown(objectsOf(deployment(args, version))))
const instance = (spec: string) =>
  withoutFlux(
    readLockdown(
      objectsOf(`apiVersion: fluxcd.controlplane.io/v1
kind: FluxInstance
metadata: {name: flux, namespace: flux-system}
spec: ${spec}
`),
    ),
  )

function withoutFlux(lockdown: Lockdown | undefined): Lockdown | undefined {
  if (!lockdown) return undefined
  const { flux, ...rest } = lockdown
  expect(flux).toBeDefined()
  return rest
}

test('what the flags were read from is kept with its place', () => {
  const text = deployment(['--no-remote-bases', '--default-service-account', 'x'])
  expect(readLockdown(objectsOf(text))?.flux).toMatchObject({
    from: 'deployments',
    version: 'v2.9.4',
    controllers: [
      {
        name: 'kustomize-controller',
        origin: { file: 'flux.yaml', line: 4 },
        flags: [
          { name: 'no-remote-bases', value: 'true', origin: { line: 6 } },
          { name: 'default-service-account', value: 'x' },
        ],
      },
    ],
  })
})

test('flags are read as pflag reads them', () => {
  expect(lockdownOf(['--no-remote-bases', '--default-service-account', 'x'])).toEqual({
    noCrossNamespaceRefs: false,
    noRemoteBases: true,
    defaultServiceAccount: 'x',
  })
  const twice = ['--no-remote-bases=true', '--no-remote-bases=false', '--default-service-account=a']
  expect(lockdownOf([...twice, '--default-service-account=b'])).toMatchObject({
    noRemoteBases: false,
    defaultServiceAccount: 'b',
  })
  // a text takes the next argument, whatever it looks like
  expect(lockdownOf(['--default-service-account', '--no-remote-bases=true'])).toMatchObject({
    noRemoteBases: false,
    defaultServiceAccount: '--no-remote-bases=true',
  })
  expect(lockdownOf(['--', '--no-remote-bases'])).toMatchObject({ noRemoteBases: false })
})

test.each([
  [[], 'v2.9.4', undefined],
  [[], 'v2.8.3', false],
  [[], 'v0.31.1', false],
  [[], 'v2.10.0', undefined],
  [[], 'unknown', undefined],
  [['--feature-gates=StrictPostBuildSubstitutions=false'], 'v2.9.4', false],
  [['--feature-gates=Other=true,StrictPostBuildSubstitutions=true'], 'v2.7.0', undefined],
  [['--feature-gates=StrictPostBuildSubstitutions=true', '--feature-gates=Other=true'], 'v2.7.0', undefined],
])('%j of Flux %s: strict %s', (args, version, expected) => {
  expect(lockdownOf(args, version)?.strictSubstitution).toBe(expected)
})

test('a FluxInstance locks down by its profile and by its patches', () => {
  expect(instance('{cluster: {multitenant: true}}')).toEqual({
    noCrossNamespaceRefs: true,
    noRemoteBases: true,
    defaultServiceAccount: 'default',
    helmDefaultServiceAccount: 'default',
  })
  const named = '{cluster: {multitenant: true, tenantDefaultServiceAccount: flux}, distribution: {version: 2.8.x}}'
  expect(instance(named)).toMatchObject({ defaultServiceAccount: 'flux', strictSubstitution: false })
  expect(instance('{distribution: {version: 2.x}}')).toEqual({ noCrossNamespaceRefs: false, noRemoteBases: false })
  const operation =
    '[{"op": "add", "path": "/spec/template/spec/containers/0/args/-", "value": "--no-remote-bases=true"}]'
  const patched = `{kustomize: {patches: [{target: {kind: Deployment}, patch: '${operation}'}]}}`
  expect(instance(patched)).toEqual({ noCrossNamespaceRefs: false, noRemoteBases: true })
  expect(() => instance('{kustomize: {patches: x}}')).toThrow('not a list')
})

test.each([
  ['small', 7],
  ['medium', 7],
  ['large', 7],
])('flags that the size %s adds have their places before those of the profile', (size, first) => {
  const remove = (place: number) =>
    `{cluster: {size: ${size}, multitenant: true}, kustomize: {patches: [{target: {kind: Deployment, name: kustomize-controller}, patch: '[{"op": "remove", "path": "/spec/template/spec/containers/0/args/${place}"}]'}]}}`
  expect(instance(remove(first))).toMatchObject({ noCrossNamespaceRefs: false, noRemoteBases: true })
  expect(instance(remove(first + 1))).toMatchObject({ noCrossNamespaceRefs: true, noRemoteBases: false })
  const cache = `{cluster: {size: ${size}}, kustomize: {patches: [{target: {kind: Deployment, name: source-controller}, patch: '[{"op": "replace", "path": "/spec/template/spec/containers/0/args/7", "value": "--helm-cache-max-size=100"}]'}]}}`
  expect(instance(cache)).toEqual({ noCrossNamespaceRefs: false, noRemoteBases: false })
})

test('nothing of Flux is nothing said', () => {
  expect(readLockdown([])).toBeUndefined()
})
