import { expect, test } from 'vitest'
import { buildFleet } from '../../src/fleet/graph/build-fleet.ts'
import { FleetSession } from '../../src/fleet/graph/fleet-session.ts'
import { type FleetInput, revisionSetOf } from '../../src/fleet/model/input.ts'
import type { RegistryRef } from '../../src/fleet/model/source-ref.ts'
import { evaluatedNode } from '../../src/verdict/evaluated-nodes.ts'
import { type Files, fleetOf, inputOf } from './fleet-of.ts'

const DIGEST = `sha256:${'a'.repeat(64)}`
const source = (spec: string, namespace = 'flux-system') => `apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: app, namespace: ${namespace}}
spec: {interval: 1h, ${spec}}
`
const kustomization = (namespace = 'flux-system', account = '') => `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: app, namespace: ${namespace}}
spec: {interval: 1h, path: ./deploy, prune: true, ${account}sourceRef: {kind: OCIRepository, name: app}}
`
const SYNC = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {url: 'https://github.com/acme/fleet', ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1h, path: ./clusters/prod, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
`
const fleet = (spec: string): Files => ({
  'clusters/prod/flux-system/gotk-sync.yaml': SYNC,
  'clusters/prod/app.yaml': `${source(spec)}---\n${kustomization()}`,
})
const content = (registry: RegistryRef, url = 'oci://ghcr.io/acme/app') => ({
  url,
  ref: { registry },
  commit: DIGEST,
  files: { 'deploy/web.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: default}\n' },
})

function built(files: Files, more: Partial<FleetInput> = {}, sources: ReturnType<typeof content>[] = []) {
  const result = buildFleet({ ...inputOf({ fleet: files, sources }), registries: ['ghcr.io'], ...more })
  const node = result.nodes.find(({ name }) => name === 'app')!
  return { wanted: result.wanted, source: node.source, objects: node.objects.length, error: node.error?.message }
}

test.each<[string, string, RegistryRef]>([
  ['no ref', 'url: oci://ghcr.io/acme/app', { tag: 'latest' }],
  ['a tag', 'url: oci://ghcr.io/acme/app, ref: {tag: v1.2.3}', { tag: 'v1.2.3' }],
  ['a digest', `url: oci://ghcr.io/acme/app, ref: {digest: '${DIGEST}'}`, { digest: DIGEST }],
  ['a digest beside a tag', `url: oci://ghcr.io/acme/app, ref: {tag: v1, digest: '${DIGEST}'}`, { digest: DIGEST }],
  [
    'a layer',
    'url: oci://ghcr.io/acme/app, layerSelector: {mediaType: application/x.tar+gzip, operation: extract}',
    { tag: 'latest', layer: 'application/x.tar+gzip' },
  ],
  ['a version range', "url: oci://ghcr.io/acme/app, ref: {tag: v1, semver: '>=1.0.0'}", { semver: '>=1.0.0' }],
  [
    'some tags of a version range',
    "url: oci://ghcr.io/acme/app, ref: {semver: '1.x', semverFilter: '.*-rc.*'}",
    { semver: '1.x', semverFilter: '.*-rc.*' },
  ],
  [
    'a digest beside a range',
    `url: oci://ghcr.io/acme/app, ref: {semver: 1.x, digest: '${DIGEST}'}`,
    { digest: DIGEST },
  ],
  ['no range', 'url: oci://ghcr.io/acme/app, ref: {semver: "", tag: v1}', { tag: 'v1' }],
  ['a filter without a range', "url: oci://ghcr.io/acme/app, ref: {semverFilter: '.*'}", { tag: 'latest' }],
  ['a copied layer', 'url: oci://ghcr.io/acme/app, layerSelector: {operation: copy}', { tag: 'latest', copied: true }],
])('an artifact of an allowed registry is asked for: %s', (_, spec, registry) => {
  const first = built(fleet(spec))
  expect(first.wanted).toEqual([{ url: 'oci://ghcr.io/acme/app', ref: { registry } }])
  const second = built(fleet(spec), {}, [content(registry)])
  expect(second.wanted).toEqual([])
  expect(second.objects).toBe(1)
  expect(second.source).toMatchObject({ commit: DIGEST, url: 'oci://ghcr.io/acme/app', lent: true })
})

test.each<[string, string, string]>([
  ['another host', 'url: oci://registry.acme.test/app', 'the content of an OCIRepository is not in git'],
  ['a host that ends like it', 'url: oci://evil-ghcr.io/app', 'the content of an OCIRepository is not in git'],
  ['a host with a port', 'url: oci://ghcr.io:5000/acme/app', 'the content of an OCIRepository is not in git'],
  ['a user in the address', 'url: oci://ghcr.io@evil.test/app', 'the content of an OCIRepository is not in git'],
  ['capitals', 'url: oci://GHCR.io/acme/app', 'the content of an OCIRepository is not in git'],
  ['dot segments', 'url: oci://ghcr.io/acme/../other/app', 'the content of an OCIRepository is not in git'],
  [
    'a tag in the address',
    'url: oci://ghcr.io/acme/app:v1',
    'spec.url has a tag, which Flux takes for a part of the name',
  ],
  [
    'a range that is none',
    'url: oci://ghcr.io/acme/app, ref: {semver: latest}',
    'spec.ref.semver is not a range of versions',
  ],
  [
    'a number as a range',
    'url: oci://ghcr.io/acme/app, ref: {semver: 1.0}',
    'spec.ref.semver is not a range of versions',
  ],
  [
    'a variable as a range',
    `url: oci://ghcr.io/acme/app, ref: {semver: "${'$'}{v}"}`,
    'spec.ref.semver is not a range',
  ],
  [
    'a filter that is no expression',
    "url: oci://ghcr.io/acme/app, ref: {semver: 1.x, semverFilter: '('}",
    'spec.ref.semverFilter: ',
  ],
  ['a bad digest', 'url: oci://ghcr.io/acme/app, ref: {digest: sha256:x}', 'spec.ref.digest is not a sha256 digest'],
  ['a bad tag', "url: oci://ghcr.io/acme/app, ref: {tag: '../../x'}", 'spec.ref.tag is not a tag'],
  [
    'another operation',
    'url: oci://ghcr.io/acme/app, layerSelector: {operation: run}',
    'spec.layerSelector.operation is neither extract nor copy',
  ],
])('what is not asked for is not visible, with the reason: %s', (_, spec, reason) => {
  const { wanted, source: seen } = built(fleet(spec))
  expect(wanted).toEqual([])
  expect(seen.opaque).toContain(reason)
})

test('of a copied layer nothing is left out, and of an extracted one what Flux packs', () => {
  const files = {
    'deploy/.sourceignore': '/web.yaml\n',
    'deploy/kustomization.yaml': 'resources: [web.yaml]\n',
    'deploy/web.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: default}\n',
  }
  const copy = 'url: oci://ghcr.io/acme/app, ignore: "*", layerSelector: {operation: copy}'
  const copied = built(fleet(copy), {}, [{ ...content({ tag: 'latest', copied: true }), files }])
  expect([copied.objects, copied.error]).toEqual([1, undefined])
  const extracted = built(fleet('url: oci://ghcr.io/acme/app'), {}, [{ ...content({ tag: 'latest' }), files }])
  expect(extracted.objects).toBe(0)
  expect(extracted.error).toContain('web.yaml')
})

test('without allowed registries nothing is asked for', () => {
  const { wanted, source: seen } = built(fleet('url: oci://ghcr.io/acme/app'), { registries: [] })
  expect(wanted).toEqual([])
  expect(seen.opaque).toContain('the content of an OCIRepository is not in git')
})

test('what Flux verifies and nobody verified here is evaluated, and says so', () => {
  const spec = 'url: oci://ghcr.io/acme/app, verify: {provider: cosign}'
  const { objects, source: seen } = built(fleet(spec), {}, [content({ tag: 'latest' })])
  expect(objects).toBe(1)
  expect(seen.verify).toBe('{"provider":"cosign"}')
})

test('the tag of a range and the revision of origin are part of the source; another tag is another revision set', () => {
  const semver = "url: oci://ghcr.io/acme/app, ref: {semver: '1.x'}"
  const read = (tag: string) => ({ ...content({ semver: '1.x' }), tag, originRevision: 'main@sha1:abc' })
  const input = (tag: string) => {
    const { files: _files, ...said } = read(tag)
    const from = inputOf({ fleet: fleet(semver), sources: [read(tag)] })
    return { ...from, sources: from.sources.map(one => ({ ...one, ...said })), registries: ['ghcr.io'] }
  }
  const nodeOf = (tag: string) => buildFleet(input(tag)).nodes.find(({ name }) => name === 'app')!
  expect(nodeOf('v1.9.0').source).toMatchObject({ commit: DIGEST, tag: 'v1.9.0', originRevision: 'main@sha1:abc' })
  expect(evaluatedNode(nodeOf('v1.9.0'), [], []).source).toMatchObject({
    revision: `v1.9.0@${DIGEST}`,
    originRevision: 'main@sha1:abc',
  })
  expect(revisionSetOf(input('1.9.1'))).not.toBe(revisionSetOf(input('v1.9.0')))
  const session = new FleetSession()
  const before = session.build(input('v1.9.0'))
  const after = session.build(input('1.9.1'))
  const sourceIn = (built: typeof before) => built.nodes.find(({ name }) => name === 'app')!.source
  expect([sourceIn(before).tag, sourceIn(after).tag]).toEqual(['v1.9.0', '1.9.1'])
})

const TENANT = {
  tenants: 'apiVersion: v1\nkind: Namespace\nmetadata: {name: apps, labels: {toolkit.fluxcd.io/tenant: dev-team}}\n',
}
const tenantFleet = (where: 'platform' | 'tenant'): Files => {
  const app = `${source('url: oci://ghcr.io/acme/app', 'apps')}---\n${kustomization('apps', 'serviceAccountName: dev-team, ')}`
  const own = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: dev-team, namespace: apps}
spec: {interval: 1h, path: ./tenants/dev-team, prune: true, serviceAccountName: dev-team, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}}
`
  return {
    'clusters/prod/flux-system/gotk-sync.yaml': SYNC,
    'clusters/prod/apps.yaml': `${TENANT.tenants}---\n${own}${where === 'platform' ? `---\n${app}` : ''}`,
    'tenants/dev-team/app.yaml': where === 'tenant' ? app : TENANT.tenants.replace('Namespace', 'ConfigMap'),
  }
}

test('the operator shows the registry his credentials only for what the platform declares, as it was before the change', () => {
  const anonymous = { registry: { tag: 'latest', anonymous: true } }
  const operator = { registry: { tag: 'latest' } }
  const refs = (head: Files, base?: Files) => {
    const access = base && {
      facts: [],
      base: buildFleet({ ...inputOf({ fleet: base }), registries: ['ghcr.io'], access: { facts: [] } }).access!,
    }
    const input = { ...inputOf({ fleet: head }), registries: ['ghcr.io'], access: access ?? { facts: [] } }
    return buildFleet(input)
      .wanted.filter(({ url }) => url.startsWith('oci://'))
      .map(({ ref }) => ref)
  }
  expect(refs(tenantFleet('platform'))).toEqual([operator])
  expect(refs(tenantFleet('tenant'))).toEqual([anonymous])
  expect(refs(tenantFleet('platform'), tenantFleet('platform'))).toEqual([operator])
  // new in the change: whoever proposes it must not see what is private
  expect(refs(tenantFleet('platform'), tenantFleet('tenant'))).toEqual([anonymous])
  expect(refs(tenantFleet('tenant'), tenantFleet('platform'))).toEqual([operator])
})

test('a registry does not stand in for git where a workflow says what the artifact holds', () => {
  expect(fleetOf({ fleet: fleet('url: oci://ghcr.io/acme/app') }).wanted).toEqual([])
})
