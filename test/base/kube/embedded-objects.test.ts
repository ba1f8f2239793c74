import { expect, test } from 'vitest'
import { embeddedIn } from '../../../src/kube/capabilities/embedded-objects.ts'
import { idOf, type KubeObject } from '../../../src/kube/object.ts'
import { parseDocuments } from '../../../src/kube/yaml/parse-documents.ts'

const objectOf = (text: string): KubeObject => {
  const [root] = parseDocuments({ repository: '', path: 'x.yaml' }, Buffer.from(text))
  if (root?.type !== 'map') throw new TypeError('not an object')
  return { root, trail: [] }
}
const made = (text: string) => embeddedIn(objectOf(text)).objects.map(({ object }) => idOf(object))
const holder = (apiVersion: string, kind: string, spec: object) =>
  JSON.stringify({ apiVersion, kind, metadata: { name: 'x', namespace: 'apps' }, spec })

test('what writes a Secret says its name, and else has it itself', () => {
  const nameOf = (apiVersion: string, kind: string, spec: object) =>
    made(holder(apiVersion, kind, spec)).map(id => `${id.kind} ${id.namespace}/${id.name}`)
  expect(nameOf('external-secrets.io/v1beta1', 'ExternalSecret', {})).toEqual(['Secret apps/x'])
  expect(nameOf('external-secrets.io/v1', 'ExternalSecret', { target: { name: 'y' } })).toEqual(['Secret apps/y'])
  const renamed = { template: { metadata: { name: 'y' } } }
  expect(nameOf('bitnami.com/v1alpha1', 'SealedSecret', renamed)).toEqual(['Secret apps/x'])
  expect(nameOf('cert-manager.io/v1', 'Certificate', { secretName: 'y' })).toEqual(['Secret apps/y'])
  expect(nameOf('secrets.hashicorp.com/v1beta1', 'VaultStaticSecret', { destination: { name: 'y' } })).toEqual([
    'Secret apps/y',
  ])
  const connection = { writeConnectionSecretToRef: { name: 'y', namespace: 'ops' } }
  expect(nameOf('rds.example.org/v1', 'Instance', connection)).toEqual(['Secret ops/y'])
  const elsewhere = { managedSecret: { name: 'y', namespace: 'ops' } }
  expect(nameOf('secrets.doppler.com/v1alpha1', 'DopplerSecret', elsewhere)).toEqual(['Secret ops/y'])
  const several = { secretTemplates: [{ name: 'a' }, { name: 'b' }] }
  expect(nameOf('isindir.github.com/v1alpha3', 'SopsSecret', several)).toEqual(['Secret apps/a', 'Secret apps/b'])
  expect(nameOf('v1', 'ConfigMap', {})).toEqual([])
})

test('objects in objects are followed so far, and then that is said', () => {
  const nest = (depth: number): object =>
    depth === 0
      ? { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'inner' } }
      : {
          apiVersion: 'fluxcd.controlplane.io/v1',
          kind: 'ResourceSet',
          metadata: { name: `r${depth}`, namespace: 'apps' },
          spec: { resources: [nest(depth - 1)] },
        }
  const at = (depth: number) => embeddedIn(objectOf(JSON.stringify(nest(depth))))
  expect(at(4).objects.at(-1) && idOf(at(4).objects.at(-1)!.object).name).toBe('inner')
  expect(at(4).unevaluated).toEqual([])
  expect(at(5).unevaluated).toMatchObject([{ why: 'depth' }])
})

test('lists in lists end somewhere', () => {
  let list: object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'inner' } }
  for (let depth = 0; depth < 30; depth++) list = { apiVersion: 'v1', kind: 'List', items: [list] }
  const found = embeddedIn(
    objectOf(holder('capsule.clastix.io/v1beta2', 'TenantResource', { resources: [{ rawItems: [list] }] })),
  )
  expect(found.unevaluated).toMatchObject([{ why: 'depth' }])
})

test('an object keeps the lines of the text that it stands in', () => {
  const text =
    'apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: x, namespace: apps}\nspec:\n  resourcesTemplate: |\n    apiVersion: v1\n    kind: Secret\n'
  const [one] = embeddedIn(objectOf(text)).objects
  expect(one?.object.root.fields.get('kind')?.value.origin).toMatchObject({ line: 7, column: 11 })
})
