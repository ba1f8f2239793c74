import { FleetIndex } from '../../../src/fleet/facts/fleet-index.ts'
import type { Json } from '../../../src/kube/node.ts'
import { recipe } from '../../attacks/worlds/recipe.ts'
import { binding, role } from '../../base/kube/rbac/plain-object.ts'
import { fleetOf } from '../fleet-of.ts'

const ANNOTATED =
  '  namespace: gas-system\n  annotations: {capsule.addon.fluxcd/enabled: "true"}\n---\napiVersion: capsule'

/**
 * What is different from Capsule's document: what the addon makes for gas is not in git, and the version is. `content`: what oil's
 * repository has besides.
 */
export function recipeIndex(
  version: string,
  change: (tenants: string) => string = text => text,
  content = '',
): FleetIndex {
  const [fleet, dev, ops] = recipe.repositories
  const documents = fleet!.files['tenants/gas.yaml']!.split('---\n').filter(
    one => !/kind: \w+(Binding|Role)\n/.test(one),
  )
  const gas = documents.join('---\n').replace('  namespace: gas-system\n---\napiVersion: capsule', ANNOTATED)
  const image = `apiVersion: apps/v1
kind: Deployment
metadata: {name: capsule, namespace: capsule-system}
spec: {template: {spec: {containers: [{name: manager, image: 'ghcr.io/projectcapsule/capsule:${version}'}]}}}
`
  return new FleetIndex(
    fleetOf({
      url: fleet!.url,
      fleet: {
        ...fleet!.files,
        'tenants/gas.yaml': gas,
        'tenants/oil.yaml': change(fleet!.files['tenants/oil.yaml']!),
        'capsule/capsule.yaml': image,
      },
      sources: [dev!, ops!].map(({ url, files }) => ({
        url,
        files: { ...files, 'deploy/web.yaml': `${files['deploy/web.yaml']}${url === dev!.url ? content : ''}` },
      })),
    }),
  )
}

const OWNER = ['admin', 'capsule-namespace-deleter', 'cluster-admin']
/** Names of RoleBindings from 0.13 on, as Go's hash/fnv gives them to Capsule's two functions. */
const HASHES: Readonly<Record<string, readonly string[]>> = {
  'oil v0.13.4': ['2172170991bacf77', 'df431e577a43a37', '2e0d40a22b22322a'],
  'oil v0.14.0': ['6a7991cd0cb87cb7', '193270fd5a73335f', '26e5c310a215e392'],
  'gas v0.13.4': ['2172170991bacf77', 'df431e577a43a37', '2e0d40a22b22322a'],
  'gas v0.14.0': ['66b1ef598dfccda2', 'e01c092438526d1a', 'b774a2afa3184f7'],
}

/** Roles and bindings that Capsule of a version and its addon make of that fleet, written by hand from their sources. */
export function capsuleMakes(version: string): Json[] {
  const self = 'gas-system-gitops-reconciler-impersonator'
  const account = (tenant: string) => `ServiceAccount ${tenant}-system/gitops-reconciler`
  const groups = ['capsule.clastix.io', 'system:serviceaccounts:oil-system', 'system:serviceaccounts:gas-system']
  const owners = (tenant: string, namespace: string) =>
    OWNER.map((name, at) => {
      const hash = HASHES[`${tenant} ${version}`]?.[at]
      const named = hash === undefined ? `capsule-${tenant}-${at}-${name}` : `capsule:managed:${hash}`
      return binding(namespace, named, `ClusterRole ${name}`, account(tenant))
    })
  const rule = (resource: string, verbs: string[]) => ({ apiGroups: [''], resources: [resource], verbs })
  const [provisioner, deleter] = ['capsule-namespace-provisioner', 'capsule-namespace-deleter']
  const labels = /^v0\.1[34]/.test(version) ? { 'projectcapsule.dev/created-by': 'rbac-controller' } : {}
  const made = (name: string) => ({ metadata: { name, labels } })
  const impersonate = {
    ...rule('users', ['impersonate']),
    resourceNames: ['system:serviceaccount:gas-system:gitops-reconciler'],
  }
  return [
    role(
      '',
      provisioner,
      [rule('namespaces', version === 'v0.1.0' ? ['create'] : ['create', 'patch'])],
      made(provisioner),
    ),
    role('', deleter, [rule('namespaces', ['delete'])], made(deleter)),
    binding('', provisioner, `ClusterRole ${provisioner}`, ...groups.map(name => `Group ${name}`)),
    ...owners('oil', 'oil-dev'),
    ...owners('gas', 'gas-dev'),
    ...owners('gas', 'gas-system'),
    binding('gas-system', 'gitops-reconciler', 'ClusterRole cluster-admin', account('gas')),
    role('', self, [impersonate]),
    binding('', self, `ClusterRole ${self}`, account('gas')),
  ]
}
