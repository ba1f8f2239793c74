import { expect, test } from 'vitest'
import { at } from '../../src/kube/node.ts'
import { type Files, fleetOf } from './fleet-of.ts'
import { DEV_URL, fleetFiles, miniFleet } from './mini-fleet.ts'

const map = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: apps}\n`
const dev: Files = {
  'deploy/kustomization.yaml': 'resources: [own.yaml, ../lib]\n',
  'deploy/own.yaml': map('own'),
  'deploy-more/x.yaml': map('x'),
}

function nodeWith(fields: string, files: Files = dev) {
  const key = 'tenants/dev-team.yaml'
  const own = fleetFiles[key]!.replace('  ref:\n    branch: main', `  ref: {branch: main}\n  ${fields}`)
  expect(own).not.toBe(fleetFiles[key])
  const base = miniFleet({ fleet: { [key]: own } })
  const sources = (base.sources ?? []).filter(source => source.url !== DEV_URL)
  const fleet = fleetOf({ ...base, sources: [...sources, { url: DEV_URL, files }] })
  return { node: fleet.nodes.find(node => node.key === 'staging/apps/dev-team')! }
}
const names = (node: ReturnType<typeof nodeWith>['node']) =>
  node.objects.map(object => String((at(object.root, ['metadata', 'name']) as { value: unknown }).value))

test('a source that includes another is refused, and a wrong one; both show before any content is read', () => {
  const include = 'include: [{repository: {name: ops-team}, toPath: lib}]'
  expect(nodeWith(include).node.error).toMatchObject({ code: 'flux-unsupported' })
  expect(nodeWith('include: []').node.error).toMatchObject({ code: 'kustomize-missing' })
  for (const fields of ['include: {}', 'sparseCheckout: a']) {
    expect(nodeWith(fields).node.error, fields).toMatchObject({ code: 'flux-invalid' })
  }
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
