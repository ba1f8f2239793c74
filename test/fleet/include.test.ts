import { expect, test } from 'vitest'
import { at } from '../../src/kube/node.ts'
import { type Files, fleetOf } from './fleet-of.ts'
import { DEV_URL, fleetFiles, miniFleet } from './mini-fleet.ts'

const SHARED_URL = 'https://github.com/acme/shared'
const SHARED = `---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: shared, namespace: apps}
spec: {interval: 1m, url: "${SHARED_URL}", ref: {branch: main}, ignore: "/secret\\n"}
`
const map = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: apps}\n`
const shared: Files = {
  'base/kustomization.yaml': 'resources: [a.yaml]\n',
  'base/a.yaml': map('shared'),
  'base/b.png': 'x',
  'secret/s.yaml': map('secret'),
}
const dev: Files = {
  'deploy/kustomization.yaml': 'resources: [own.yaml, ../lib]\n',
  'deploy/own.yaml': map('own'),
  'deploy-more/x.yaml': map('x'),
}

function nodeWith(
  fields: string,
  files: Files = dev,
  given: { more?: string; opaque?: boolean; absent?: boolean } = {},
) {
  const key = 'tenants/dev-team.yaml'
  const own = fleetFiles[key]!.replace('  ref:\n    branch: main', `  ref: {branch: main}\n  ${fields}`)
  expect(own).not.toBe(fleetFiles[key])
  const base = miniFleet({ fleet: { [key]: own + (given.more ?? SHARED) } })
  const sources = (base.sources ?? []).filter(source => source.url !== DEV_URL)
  const include = { url: SHARED_URL, ref: { branch: 'main' } }
  const fleet = fleetOf({
    ...base,
    sources: [
      ...sources,
      { url: DEV_URL, files },
      ...(given.opaque || given.absent ? [] : [{ ...include, files: shared }]),
    ],
    opaque: [...(base.opaque ?? []), ...(given.opaque ? [{ ...include, reason: 'no access' }] : [])],
  })
  return { fleet, node: fleet.nodes.find(node => node.key === 'staging/apps/dev-team')! }
}
const names = (node: ReturnType<typeof nodeWith>['node']) =>
  node.objects.map(object => String((at(object.root, ['metadata', 'name']) as { value: unknown }).value))

test('what is included is built, with its own ignore rules, and keeps its place', () => {
  const { node } = nodeWith('include: [{repository: {name: shared}, fromPath: base, toPath: lib}]')
  expect(node.error).toBeUndefined()
  expect(names(node)).toEqual(['own', 'shared'])
  expect(node.objects[1]!.root.origin).toMatchObject({ repository: SHARED_URL, file: 'base/a.yaml', line: 1 })
})

test('without toPath it lies below the name of the source; its ignored files are not there', () => {
  const files = { ...dev, 'deploy/kustomization.yaml': 'resources: [own.yaml, ../shared/base]\n' }
  expect(names(nodeWith('include: [{repository: {name: shared}}]', files).node)).toEqual(['own', 'shared'])
  const secret = { ...dev, 'deploy/kustomization.yaml': 'resources: [../shared/secret/s.yaml]\n' }
  expect(nodeWith('include: [{repository: {name: shared}}]', secret).node.error).toMatchObject({
    code: 'kustomize-missing',
  })
})

test.each([
  ['{repository: {name: shared}, fromPath: none, toPath: lib}', 'flux-invalid'],
  ['{repository: {name: shared}, toPath: .}', 'flux-invalid'],
  ['{repository: {name: shared}, toPath: ../..}', 'flux-invalid'],
  ['{repository: {name: shared}, fromPath: base, toPath: deploy}', 'flux-invalid'],
  ['{repository: {name: shared}, fromPath: base, toPath: deploy/own.yaml/x}', 'flux-invalid'],
  ['{repository: {name: shared}, toPath: .git/x}', 'flux-invalid'],
  ['{repository: {}}', 'flux-invalid'],
  ['{repository: {name: dev-team}}', 'flux-invalid'],
  ['{repository: {name: nobody}}', 'flux-invalid'],
])('include %s: %s', (include, code) => {
  expect(nodeWith(`include: [${include}]`).node.error).toMatchObject({ code })
})

test('sources that include each other never get content', () => {
  const more = SHARED.replace('interval: 1m', 'interval: 1m, include: [{repository: {name: dev-team}}]')
  const { node } = nodeWith('include: [{repository: {name: shared}, toPath: lib}]', dev, { more })
  expect(node.error).toMatchObject({ code: 'flux-invalid' })
})

test('an included source that nobody has read is asked for; one that nobody can read makes the whole opaque', () => {
  const include = 'include: [{repository: {name: shared}, fromPath: base, toPath: lib}]'
  expect(nodeWith(include, dev, { absent: true }).fleet.wanted).toEqual([{ url: SHARED_URL, ref: { branch: 'main' } }])
  const { node } = nodeWith(include, dev, { opaque: true })
  expect(node.source).toMatchObject({ url: DEV_URL, opaque: 'it includes GitRepository/apps/shared: no access' })
})

test('a sparse checkout holds what starts with its directories, and nothing else', () => {
  const files = { ...dev, 'deploy/kustomization.yaml': 'resources: [own.yaml, ../deploy-more/x.yaml]\n' }
  expect(names(nodeWith('sparseCheckout: [./deploy]', files).node)).toEqual(['own', 'x'])
  const lib = { ...files, 'lib/a.yaml': map('lib'), 'deploy/kustomization.yaml': 'resources: [../lib/a.yaml]\n' }
  expect(nodeWith('sparseCheckout: [deploy]', lib).node.error).toMatchObject({ code: 'kustomize-missing' })
  expect(nodeWith('sparseCheckout: [deploy/]').node.error).toMatchObject({ code: 'flux-invalid' })
  expect(nodeWith('sparseCheckout: [none]').node.error).toMatchObject({ code: 'flux-invalid' })
})

test('submodules are asked for only where there are some', () => {
  const files = { ...dev, 'deploy/kustomization.yaml': 'resources: [own.yaml]\n' }
  expect(names(nodeWith('recurseSubmodules: true', files).node)).toEqual(['own'])
})
