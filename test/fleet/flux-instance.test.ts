import { expect, test } from 'vitest'
import { installedFlux } from '../../src/fleet/bootstrap/flux-instance.ts'
import type { MapNode } from '../../src/kube/node.ts'
import { at } from '../../src/kube/node.ts'
import { idOf } from '../../src/kube/object.ts'
import { parseDocuments } from '../../src/kube/yaml/parse-documents.ts'

const instance = (patch: string) => `apiVersion: fluxcd.controlplane.io/v1
kind: FluxInstance
metadata: {name: flux, namespace: flux-system}
spec:
  kustomize:
    patches:
      - target: {kind: Deployment, name: kustomize-controller}
        patch: |
          ${patch}
`

function installed(patch: string) {
  const file = { repository: '', path: 'flux.yaml' }
  const [root] = parseDocuments(file, Buffer.from(instance(patch)))
  const { objects } = installedFlux([{ root: root as MapNode, trail: [] }])!
  return objects.find(
    ({ root }) => at(root, ['metadata', 'name']) !== undefined && nameOf(root) === 'kustomize-controller',
  )
}

const nameOf = (root: MapNode) => {
  const name = at(root, ['metadata', 'name'])
  return name?.type === 'scalar' ? name.value : undefined
}

test.each([
  [
    'the volume for temporary files',
    '- {op: replace, path: /spec/template/spec/volumes/0, value: {name: temp, emptyDir: {medium: Memory}}}',
  ],
  ['the address of events', '- {op: remove, path: /spec/template/spec/containers/0/args/0}'],
  ['an environment', '- {op: add, path: /spec/template/spec/containers/0/env/-, value: {name: HTTPS_PROXY, value: x}}'],
  ['limits', '- {op: replace, path: /spec/template/spec/containers/0/resources/limits/memory, value: 2Gi}'],
  ['the class of priority', '- {op: remove, path: /spec/template/spec/priorityClassName}'],
  ['a pod annotation', '- {op: add, path: /spec/template/metadata/annotations/x, value: "y"}'],
])('patches of a FluxInstance find what Flux installs: %s', (_name, patch) => {
  expect(installed(patch)).toBeDefined()
})

test('a patch that finds nothing is refused', () => {
  expect(() => installed('- {op: remove, path: /spec/template/spec/hostNetwork}')).toThrow(/hostNetwork/)
})

test.each([
  ['', ['source-controller', 'kustomize-controller', 'helm-controller', 'notification-controller']],
  [
    'components: [source-controller, image-reflector-controller]',
    ['source-controller', 'kustomize-controller', 'helm-controller', 'image-reflector-controller'],
  ],
])('only the controllers that it lists are installed, and those that apply for tenants: %s', (components, names) => {
  const text = `apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux}\nspec: {${components}}\n`
  const [root] = parseDocuments({ repository: '', path: 'flux.yaml' }, Buffer.from(text))
  const { objects } = installedFlux([{ root: root as MapNode, trail: [] }])!
  expect(objects.filter(one => idOf(one).kind === 'Deployment').map(one => idOf(one).name)).toEqual(names)
})

const MANIFESTS = 'oci://ghcr.io/controlplaneio-fluxcd/flux-operator-manifests'

test.each([
  [`{artifact: '${MANIFESTS}:v0.41.1'}`, '2.7'],
  [`{version: 2.x, artifact: '${MANIFESTS}:v0.53.0@sha256:00'}`, '2.9'],
  [`{version: 2.3.x, artifact: '${MANIFESTS}:v0.53.0'}`, '2.3.x'],
  [`{version: 2.x, artifact: '${MANIFESTS}:latest'}`, '2.x'],
  [`{version: 2.x, artifact: '${MANIFESTS}:v0.99.0'}`, '2.x'],
  [`{artifact: 'oci://registry.example/other:v0.41.1'}`, undefined],
])('the version of Flux that an artifact of the operator has: %s', (distribution, version) => {
  const text = `apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux}\nspec: {distribution: ${distribution}}\n`
  const [root] = parseDocuments({ repository: '', path: 'flux.yaml' }, Buffer.from(text))
  expect(installedFlux([{ root: root as MapNode, trail: [] }])?.version).toBe(version)
})
